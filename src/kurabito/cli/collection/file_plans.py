"""What `kurabito import --dry-run` does: lists files, plans them and shows the plan."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from kurabito.cli.display import safe
from kurabito.dataplane.files.walk import Walk, path_of, size_of
from kurabito.downloads.clients.torrent_files import read_torrent
from kurabito.errors import InvalidInput
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.plans import FilePlan, ListedFile, PlanContext, PlannedFile, ShowContext, plan_files
from kurabito.placements.plans.folders import read_folder
from kurabito.placements.plans.model import FileAction, Work

_DONE: Final = 0
_UNREAD: Final = 3
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MARKS: Final = {FileAction.FILE: "->", FileAction.ASK: "? ", FileAction.LEAVE: "  ", FileAction.REFUSE: "!!"}


class ImportRequest(NamedTuple):
    """How the files are to be named, and what is known of them."""

    preset: str
    title: str | None
    season: int

    def context(self) -> PlanContext:
        """Without a record the names are all there is to number by."""
        naming = replace(PRESETS[Preset(self.preset)], numbering=NumberingScheme.ENTRY)
        if self.title is None:
            return PlanContext(naming=naming)
        show = ShowContext(names=(self.title,), season=self.season)
        return PlanContext(shows=(replace(show, numbers=replace(show.numbers, season=self.season)),), naming=naming)


def run(paths: Sequence[Path], wanted: ImportRequest, *, as_json: bool) -> int:
    """Plan each path on its own and show the plans; the exit code."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = _DONE
    for path in paths:
        try:
            files = list_files(path)
        except (OSError, InvalidInput) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem.problem
            sys.stderr.write(f"not read: {safe(str(path))}: {reason}\n")
            code = _UNREAD
            continue
        plan = plan_files(files, wanted.context())
        if as_json:
            sys.stdout.write(json.dumps(plan_as_json(path, plan), ensure_ascii=False) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in _lines(plan))
    return code


def list_files(path: Path) -> list[ListedFile]:
    """The files below a folder, the one file, or those that a torrent would bring; links are not followed.

    The folder's own name is part of the paths.
    """
    real = path.resolve(strict=True)
    if real.suffix.lower() == ".torrent" and real.is_file():
        return [ListedFile(name, size) for name, size in read_torrent(real.read_bytes()).files]
    if not real.is_dir():
        return [ListedFile(real.name, real.stat().st_size)]
    root = os.open(real, _FOLDER)
    try:
        walk = Walk(root)
        found = [ListedFile(path_of(entry), size_of(entry)) for batch in walk.batches() for entry in batch]
    finally:
        os.close(root)
    for name, problem in walk.problems:
        sys.stderr.write(f"not looked at: {safe(name)}: {problem.strerror}\n")
    # A folder that has nothing but a show's folder is where that lies, not what it is called.
    tops = {file.path.partition("/")[0] for file in found}
    if len(tops) == 1 and all("/" in file.path for file in found) and read_folder(min(tops)).title:
        return found
    return [ListedFile(f"{real.name}/{file.path}", file.size) for file in found]


def plan_as_json(path: Path, plan: FilePlan) -> dict[str, Any]:
    """A plan as plain values."""
    return {
        "path": str(path),
        "refused": plan.refused.as_facts() if plan.refused else None,
        "files": [_file_as_json(file) for file in plan.files],
    }


def _file_as_json(file: PlannedFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "size": file.size,
        "class": file.file_class.value,
        "action": file.action.value,
        "reason": file.reason.as_facts(),
        "target": file.target,
        **(_work_as_json(file.work) if file.work else {}),
        "release": asdict(file.release),
        "video": file.video,
        "languages": list(file.tag.languages) if file.tag else [],
        "flags": [flag.value for flag in file.tag.flags] if file.tag else [],
        "candidates": [_work_as_json(work) for work in file.candidates],
    }


def _work_as_json(work: Work) -> dict[str, Any]:
    facts = asdict(work)
    del facts["series_id"]
    return {**facts, "kind": work.kind.value, "episodes": list(work.episodes)}


def _lines(plan: FilePlan) -> Iterator[str]:
    """The plan as a person reads it: what is filed by its new name, then why the rest is not."""
    from kurabito.api.reasons import in_english

    if plan.refused is not None:
        yield safe(f"refused: {in_english(plan.refused)}")
    for file in plan.files:
        yield safe(f"{_MARKS[file.action]} {file.path}")
        if file.target is not None:
            yield safe(f"     {file.target}")
        elif file.action is not FileAction.FILE:
            yield safe(f"     {file.action.value}: {in_english(file.reason)}")
        for work in file.candidates:
            yield safe(f"     or: {_shown(work)}")
    counts = {action: len(plan.of(action)) for action in FileAction}
    yield ", ".join(f"{action.value} {count:,}" for action, count in counts.items() if count)


def _shown(work: Work) -> str:
    if work.label:
        return f"{work.title} {work.label}"
    numbers = "-".join(f"E{number:02g}" for number in dict.fromkeys(work.episodes[:1] + work.episodes[-1:]))
    return f"{work.title} S{work.season:02}{numbers}" if numbers else f"{work.title}"
