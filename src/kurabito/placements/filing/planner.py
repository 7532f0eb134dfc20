"""From the files of a download to placements and questions.

Everything is read and decided first. It is stored in one transaction, which also notes that it was: a crash leaves all of it
to be done, or nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.placements.filing import destination as destinations
from kurabito.placements.filing.answers import answers_of
from kurabito.placements.filing.destination import Destination, find_destination, top_folder_of
from kurabito.placements.filing.library_plan import plan_into
from kurabito.placements.filing.naming_facts import named_by
from kurabito.placements.filing.show_facts import read_download
from kurabito.placements.plans import ListedFile, PlannedFile, refuse_programs
from kurabito.placements.plans.model import FileAction, FileClass, Work, WorkKind
from kurabito.reasons import Reason
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.placements.filing", "planner.sql")
_LABEL: Final = re.compile(r"(OVA|OAD|SP|Special|S00E)?\s*(\d+(?:\.\d+)?)", re.IGNORECASE)
_LABELLED: Final = {
    "ova": ReleaseKind.OVA,
    "oad": ReleaseKind.OVA,
    "sp": ReleaseKind.SPECIAL,
    "special": ReleaseKind.SPECIAL,
    "s00e": ReleaseKind.SPECIAL,
    "": ReleaseKind.TV,
}

_MOST_SHOWN: Final = 200
_MOST_FILES: Final = 1_000_000

EpisodeKey = tuple[str, float]
"""The kind and the number of an episode of a series."""


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A file of a download, as a data plane saw it."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Inspected:
    """A download whose files are known, and not planned yet."""

    id: int
    download_id: int | None
    """None for files that a person imports."""
    folder: str
    files: tuple[InspectedFile, ...]


@dataclass(frozen=True, slots=True)
class FilingQuestion:
    """What a person has to say: about one file, or with no path about all."""

    reason: Reason[Any]
    path: str | None = None
    candidates: tuple[Work, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingDecision:
    """What becomes of the files of one download."""

    inspected: Inspected
    series_id: int | None = None
    destination: Destination | None = None
    filed: tuple[PlannedFile, ...] = ()
    questions: tuple[FilingQuestion, ...] = ()
    left: tuple[PlannedFile, ...] = ()
    """Files that stay where they are, each with the reason."""
    numbered: frozenset[str] = frozenset()
    """The paths of files whose numbers a person said as the library uses them."""
    unsafe: tuple[str, ...] = ()
    """The programs among the files: nothing of such a download is used."""


def unplanned(conn: Connection) -> list[int]:
    """The inspections that are done and not decided about yet."""
    return [found for (found,) in conn.all(_SQL.unplanned)]


def read_inspected(conn: Connection, inspection_id: int) -> Inspected | None:
    """The files that an inspection found; None when something was decided about them already."""
    row = conn.one(_SQL.inspection, {"id": inspection_id})
    if row is None:
        return None
    download_id, folder = row
    return Inspected(inspection_id, download_id, folder, _files(conn, inspection_id))


def left_files(conn: Connection, inspection_id: int) -> tuple[PlannedFile, ...]:
    """The files of a download that stay where they are, and why: as it would be decided now."""
    decision = _decide_now(conn, inspection_id, _MOST_SHOWN)
    return () if decision is None else decision.left


def targets_now(conn: Connection, inspection_id: int) -> dict[str, str]:
    """The names that the files of a download get in their library, by their paths: as it is decided now, with the folder for it."""
    decision = _decide_now(conn, inspection_id, _MOST_FILES)
    if decision is None or decision.destination is None or decision.series_id is None:
        return {}
    _remember(conn, decision, decision.destination, decision.series_id)
    return {file.path: file.target for file in decision.filed if file.target is not None}


def _decide_now(conn: Connection, inspection_id: int, most: int) -> FilingDecision | None:
    row = conn.one(_SQL.inspected, {"id": inspection_id, "most": most})
    if row is None:
        return None
    download_id, folder = row
    return decide(conn, Inspected(inspection_id, download_id, folder, _files(conn, inspection_id)))


def _files(conn: Connection, inspection_id: int) -> tuple[InspectedFile, ...]:
    return tuple(InspectedFile(*file) for file in conn.all(_SQL.files, {"id": inspection_id}))


def decide(conn: Connection, inspected: Inspected) -> FilingDecision:
    """What becomes of the files; nothing is stored."""
    download = None if inspected.download_id is None else read_download(conn, inspected.download_id)
    if download is None:
        return FilingDecision(inspected=inspected)
    series = download.series
    listed = [ListedFile(file.path, file.size) for file in inspected.files]
    # Programs are not kept until someone says which library the videos beside them belong to.
    if (refused := refuse_programs(listed)) is not None:
        return FilingDecision(
            inspected=inspected,
            series_id=series.id,
            left=refused.of(FileAction.LEAVE),
            unsafe=tuple(file.path for file in refused.of(FileAction.REFUSE)),
        )
    answers = answers_of(conn, inspected.id)
    destination = find_destination(conn, series.id, series.metadata_id, series.kind.value, answers.library_id)
    if isinstance(destination, Reason):
        return FilingDecision(inspected=inspected, series_id=series.id, questions=(FilingQuestion(destination),))
    said = {path: one.said(series.id, series.title, series.season) for path, one in answers.of_files.items()}
    planned = plan_into(conn, download, destination, listed, said)
    if isinstance(planned, Reason):
        return FilingDecision(inspected=inspected, series_id=series.id, questions=(FilingQuestion(planned),))
    plan = planned.plan
    return FilingDecision(
        inspected=inspected,
        series_id=series.id,
        destination=planned.destination,
        filed=planned.filed,
        questions=tuple(FilingQuestion(file.reason, file.path, file.candidates) for file in plan.of(FileAction.ASK)),
        left=plan.of(FileAction.LEAVE),
        numbered=frozenset(path for path, one in said.items() if one.is_numbered),
    )


def store(conn: Connection, decision: FilingDecision, *, reserve: int) -> bool:
    """Make the placements and questions of a decision; false when another did so meanwhile.

    What was placed or asked by an earlier plan of the same files stays; a question that is none any more is closed.
    """
    if not conn.run(_SQL.note_planned, {"id": decision.inspected.id}):
        return False
    _ask(conn, decision)
    if decision.destination is not None and decision.series_id is not None and decision.filed:
        _place(conn, decision, decision.destination, decision.series_id, reserve)
    conn.notify()
    return True


def _ask(conn: Connection, decision: FilingDecision) -> None:
    known = {path: found for found, path in conn.all(_SQL.open_questions, {"id": decision.inspected.id})}
    for question in decision.questions:
        values = {
            "inspection_id": decision.inspected.id,
            "path": question.path,
            "reason": question.reason.stored(),
            "candidates": json.dumps([_candidate(work) for work in question.candidates], ensure_ascii=False),
        }
        if (found := known.pop(question.path, None)) is None:
            conn.run(_SQL.ask, values)
        else:
            conn.run(_SQL.ask_again, {**values, "question_id": found})
    for found in known.values():
        conn.run(_SQL.close_question, {"question_id": found})


def episode_keys(work: Work) -> list[EpisodeKey]:
    """The episodes that a file has, as the catalog counts them.

    >>> episode_keys(Work(kind=WorkKind.SPECIAL, label="OVA 2"))
    [('ova', 2.0)]
    """
    match work.kind:
        case WorkKind.EPISODE:
            return [(ReleaseKind.TV.value, float(number)) for number in work.episodes]
        case WorkKind.FILM:
            return [(ReleaseKind.MOVIE.value, 1.0)]
        case WorkKind.SPECIAL:
            found = _LABEL.fullmatch(work.label or "")
            return [] if found is None else [(_LABELLED[(found[1] or "").lower()].value, float(found[2]))]


def _place(conn: Connection, decision: FilingDecision, destination: Destination, series_id: int, reserve: int) -> None:
    library = destination.library
    mtimes = {file.path: file.mtime_ns for file in decision.inspected.files}
    videos = {file.path: file for file in decision.filed}
    placed = {path for (path,) in conn.all(_SQL.placed, {"id": decision.inspected.id})}
    for file in decision.filed:
        if file.path in placed:
            listed = {"path": file.path, "size": file.size, "mtime_ns": mtimes[file.path]}
            conn.run(_SQL.changed, {"id": decision.inspected.id, **listed})
            continue
        video = videos.get(file.video or "")
        is_numbered = (video or file).path in decision.numbered
        is_other_season = not is_numbered and _is_of_other_season(conn, (video or file).work)
        values = {
            "download_id": decision.inspected.download_id,
            "inspection_id": decision.inspected.id,
            "library_id": library.id,
            "mode": library.modes[0].value,
            "fallbacks": json.dumps([mode.value for mode in library.modes[1:]]),
            "source_root": decision.inspected.folder,
            "source_path": file.path,
            "size": file.size,
            "mtime_ns": mtimes[file.path],
            "target": file.target,
            "reserve": reserve,
            "named_by": named_by(file, video=video, is_numbered=is_numbered, is_other_season=is_other_season),
            **_replaced(conn, library.id, file, video),
        }
        placement_id = conn.value(_SQL.place, values)
        is_known = file.work is not None and file.work.series_id is not None and not is_other_season
        if file.file_class is FileClass.VIDEO and file.work is not None and is_known:
            _note_episodes(conn, placement_id, file.work)
    _remember(conn, decision, destination, series_id)


def _remember(conn: Connection, decision: FilingDecision, destination: Destination, series_id: int) -> None:
    """Have the series lie in the folder that these files go into."""
    if folder := destination.folder or top_folder_of(file.target for file in decision.filed):
        destinations.remember(conn, series_id, destination.library.id, folder)


def _replaced(conn: Connection, library_id: int, file: PlannedFile, video: PlannedFile | None) -> dict[str, Any]:
    """The file whose place a better one takes; a track takes that of the same name, if its video takes a place."""
    path = file.target if video is not None and video.replaces is not None else file.replaces
    row = None if path is None else conn.one(_SQL.ours, {"library_id": library_id, "path": path})
    return replaced_file(path, row)


def replaced_file(path: str | None, row: Row | None) -> dict[str, Any]:
    """The columns of a placement that say whose place it takes: the file at a path, by its size and mtime, or none's."""
    if path is None or row is None:
        return {"replaces": None, "replaces_size": None, "replaces_mtime_ns": None, "trash_id": None}
    size, mtime_ns = row
    return {"replaces": path, "replaces_size": size, "replaces_mtime_ns": mtime_ns, "trash_id": uuid4().hex}


def _is_of_other_season(conn: Connection, work: Work | None) -> bool:
    """Whether a person said a season that no series is: the file has its name, and no episode of the series has the file."""
    if work is None or work.kind is not WorkKind.EPISODE or None in (work.series_id, work.season):
        return False
    return bool(conn.value(_SQL.season, {"id": work.series_id}) != work.season)


def _note_episodes(conn: Connection, placement_id: int, work: Work) -> None:
    for kind, number in episode_keys(work):
        values = {"series_id": work.series_id, "kind": kind, "number": number}
        conn.run(_SQL.add_episode, values)
        conn.run(_SQL.has_episode, {**values, "placement_id": placement_id})


def _candidate(work: Work) -> dict[str, Any]:
    return {
        "kind": work.kind.value,
        "title": work.title,
        "season": work.season,
        "episodes": list(work.episodes),
        "label": work.label,
        "year": work.year,
        "part": work.part,
    }
