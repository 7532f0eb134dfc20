"""Which episodes the files of a unit have, as far as their names say it without doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.catalog.series import Series
from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.franchises import franchise_of
from kurabito.placements.adoption.cours import CoursOfShow, EntryEpisode
from kurabito.placements.adoption.reasons import AdoptionReason, AnyReason, because
from kurabito.placements.adoption.units import LibraryVideo
from kurabito.placements.filing.destination import AcceptingLibrary, Destination
from kurabito.placements.filing.planner import episode_keys
from kurabito.placements.filing.show_facts import DownloadFacts, read_context
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.plans import ListedFile, PlanContext, PlannedFile, ShowContext, plan_files
from kurabito.placements.plans.model import FileAction, FileClass, Work, WorkKind
from kurabito.placements.plans.reasons import PlanReason
from kurabito.protocol.enums import LibraryIntake
from kurabito.titles import ReleaseKind

_BOTH_HAVE_IT: Final = frozenset((PlanReason.TWO_FILES, PlanReason.OLDER_VERSION, PlanReason.SAME_NAME))
"""Of two files for one episode a download files one. In a library both are there, and the episode has them."""


@dataclass(frozen=True, slots=True)
class HadEpisode:
    """An episode that a file has: of a series, or of an entry that has none yet."""

    series_id: int | None
    kind: str
    number: float
    bgm_id: int | None = None


@dataclass(frozen=True, slots=True)
class VideoFinding:
    """What a video is: episodes, or why that is not known."""

    file_id: int
    episodes: tuple[HadEpisode, ...] = ()
    reason: AnyReason | None = None


def read_unit(
    conn: Connection, library_id: int, folder: str, videos: Sequence[LibraryVideo], series: Sequence[Series]
) -> list[VideoFinding]:
    """What the videos of a show's folder are. Extras are nothing, and are left out."""
    context, cours = _context(conn, library_id, folder, series)
    # What lies beside the folder keeps the last of its own folders: `OVA/01.mkv`.
    inner = {_inner(video.path, folder): video for video in videos}
    plan = plan_files([ListedFile(path, video.size) for path, video in inner.items()], context)
    works = {file.path: work for file in plan.files if (work := _work(file)) is not None}
    labels = Counter((work.series_id, work.label) for work in works.values())
    found: list[VideoFinding] = []
    for file in plan.files:
        if file.file_class is not FileClass.VIDEO:
            continue
        video, work = inner[file.path], works.get(file.path)
        if work is None:
            found.append(VideoFinding(video.id, reason=file.reason))
            continue
        episodes = _episodes(work, cours, is_only=labels[work.series_id, work.label] == 1)
        reason = None if episodes else because(AdoptionReason.UNNUMBERED_SPECIAL, label=work.label)
        found.append(VideoFinding(video.id, episodes, reason))
    return found


def _inner(path: str, folder: str) -> str:
    if not folder or path.startswith(f"{folder}/"):
        return path.removeprefix(f"{folder}/")
    return path.removeprefix(f"{folder.rpartition('/')[0]}/")


def _work(file: PlannedFile) -> Work | None:
    """The work of a video of a series; also where another file has it too."""
    if file.file_class is not FileClass.VIDEO:
        return None
    if file.action is FileAction.FILE or file.reason.code is PlanReason.OLDER_VERSION:
        work = file.work
    elif file.reason.code in _BOTH_HAVE_IT:
        work = file.work or next(iter(file.candidates), None)
    else:
        work = None
    return work if work is not None and work.series_id is not None else None


def _episodes(work: Work, cours: dict[int, CoursOfShow], *, is_only: bool) -> tuple[HadEpisode, ...]:
    keys = episode_keys(work)
    if not keys and work.kind is WorkKind.SPECIAL and is_only:
        # The only one of its name is the first.
        word = (work.label or "").lower()
        keys = [((ReleaseKind.OVA if word in ("ova", "oad") else ReleaseKind.SPECIAL).value, 1.0)]
    own = cours.get(work.series_id or 0)
    return tuple(_placed(work, kind, number, own) for kind, number in keys)


def _placed(work: Work, kind: str, number: float, own: CoursOfShow | None) -> HadEpisode:
    other: EntryEpisode | None = own.find(number) if own is not None and kind == ReleaseKind.TV else None
    if other is None:
        return HadEpisode(work.series_id, kind, number)
    return HadEpisode(None, kind, float(other.number), other.bgm_id)


def _context(
    conn: Connection, library_id: int, folder: str, series: Sequence[Series]
) -> tuple[PlanContext, dict[int, CoursOfShow]]:
    """What is known of the shows of a folder."""
    destination = Destination(library=AcceptingLibrary(library_id, "", LibraryIntake.ANY, ()), folder=folder or None)
    name = folder.rpartition("/")[2]
    shows: list[ShowContext] = []
    cours: dict[int, CoursOfShow] = {}
    for one in sorted(series, key=lambda one: (one.season, one.id)):
        show = read_context(conn, DownloadFacts(one, name, ()), destination).shows[0]
        # Which file it is does not depend on what else is there.
        show = replace(show, had={})
        if (own := _cours(conn, one)) is not None:
            cours[one.id] = own
            show = own.widen(show)
        shows.append(show)
    # Nothing is renamed: the names that a plan makes have to be possible, and are used for nothing.
    naming = replace(PRESETS[Preset.AS_RELEASED], numbering=NumberingScheme.ENTRY)
    return PlanContext(shows=tuple(shows), release_title=name or None, naming=naming), cours


def _cours(conn: Connection, series: Series) -> CoursOfShow | None:
    if series.metadata_id is None:
        return None
    details = records.find(conn, series.metadata_id).details
    franchise = franchise_of(conn, details)
    return CoursOfShow.of(franchise, None if franchise is None else franchise.entry(details))
