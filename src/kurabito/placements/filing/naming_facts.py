"""What a file was named by, kept with its placement: so that another naming, or another title, can name it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from kurabito.placements.naming.sidecars import TrackFlag, TrackTag
from kurabito.placements.plans.model import FileClass, PlannedFile, ReleaseFacts, Work, WorkKind
from kurabito.placements.plans.paths import SplitPath

_WORK: Final = ("title", "season", "label", "year", "part", "series_id")
_RELEASE: Final = ("group", "resolution", "source", "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBy:
    """What a file was named by."""

    file_class: FileClass
    work: Work
    release: ReleaseFacts
    original: str
    """Its own name, without extension; of an extra the one that it has in the library."""
    tag: TrackTag | None = None
    is_numbered: bool = False
    """A person said season and number as the library uses them."""
    is_other_season: bool = False
    """A person said another season of the show than the series was."""


def named_by(
    file: PlannedFile, *, video: PlannedFile | None, is_numbered: bool, is_other_season: bool = False
) -> str | None:
    """What a planned file is named by, to be stored; a track by its video. None for what has no work."""
    leading = video or file
    work = leading.work
    if work is None:
        return None
    values: dict[str, Any] = {
        "class": file.file_class.value,
        "kind": work.kind.value,
        "episodes": list(work.episodes),
        "original": SplitPath.of(_named_after(leading)).stem,
        **{name: getattr(work, name) for name in _WORK},
        **{name: getattr(leading.release, name) for name in _RELEASE},
    }
    if file.tag is not None:
        values |= {"languages": file.tag.languages, "flags": file.tag.flags, "track": file.tag.title}
    if is_numbered:
        values["is_numbered"] = True
    if is_other_season:
        values["is_other_season"] = True
    return json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


def _named_after(video: PlannedFile) -> str:
    """The path whose name counts. That of an extra may say the folder it is from, so that it is told from one of the same name."""
    return (video.target or video.path) if video.file_class is FileClass.EXTRA else video.path


def read_named_by(stored: str) -> NamedBy:
    """The same, as it was stored."""
    values: dict[str, Any] = json.loads(stored)
    told = values.get
    work = Work(
        kind=WorkKind(values["kind"]), episodes=tuple(values["episodes"]), title=told("title"), season=told("season"),
        label=told("label"), year=told("year"), part=told("part"), series_id=told("series_id"),
    )  # fmt: skip
    has_tag = "languages" in values
    return NamedBy(
        file_class=FileClass(values["class"]),
        work=work,
        release=_release(told("group"), told("resolution"), told("source"), told("version", 1)),
        original=values["original"],
        tag=TrackTag(tuple(values["languages"]), tuple(map(TrackFlag, values["flags"])), values.get("track"))
        if has_tag
        else None,
        is_numbered=bool(values.get("is_numbered")),
        is_other_season=bool(values.get("is_other_season")),
    )


@lru_cache(maxsize=1024)
def _release(group: str | None, resolution: int | None, source: str | None, version: int) -> ReleaseFacts:
    """The same for all files of a batch; a library has thousands of them."""
    return ReleaseFacts(group=group, resolution=resolution, source=source, version=version)
