"""What was found out about folders, as the database keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from kurabito.catalog.errors import MatchNotFound
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.model import FolderMatch, MatchCandidate, MatchedBy, MatchReason, MatchState
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.metadata.records import Details, RecordKind, TmdbKind

_MATCH: Final = ColumnList(
    "id, library_id, folder, reading, metadata_id, series_id, matched_by, is_ignored, reasons, candidates, asked_at, created_at, "
    "updated_at"
)
# No record is about a folder of several seasons; it needs none once the names of its videos have said which each of them is.
# Everything below a folder sorts behind its slash and before the character after that.
_IS_TOLD: Final = """reading LIKE '%"has_several_seasons": true%'
  AND NOT EXISTS (SELECT 1 FROM unadopted_files AS left_over
                  WHERE left_over.library_id = folder_matches.library_id AND (left_over.folder = folder_matches.folder
                      OR left_over.folder >= folder_matches.folder || '/' AND left_over.folder < folder_matches.folder || '0'))
  AND EXISTS (SELECT 1 FROM library_files AS file JOIN episode_files AS had ON had.file_id = file.id
              WHERE file.library_id = folder_matches.library_id AND file.relative_path >= folder_matches.folder || '/'
                  AND file.relative_path < folder_matches.folder || '0')"""
_SQL: Final = Queries("kurabito.catalog.matching", "matches.sql", match=_MATCH, is_told=_IS_TOLD)


class NewFolder(NamedTuple):
    """A folder that was not matched yet."""

    folder: str
    reading: FolderReading
    file_id: int
    """A file by which it is known again when it was renamed."""


@dataclass(frozen=True, slots=True)
class MatchDecision:
    """What a folder is about, or may be."""

    metadata_id: int | None = None
    series_id: int | None = None
    reasons: tuple[MatchReason, ...] = ()
    candidates: tuple[MatchCandidate, ...] = ()


def page(
    conn: Connection, state: MatchState, *, after: int, limit: int, library_id: int | None = None
) -> list[FolderMatch]:
    """Folders in one state, in the order in which they were found."""
    values = {"after": after, "limit": limit, "library_id": library_id}
    return [_match(row) for row in conn.all(getattr(_SQL, f"page_{state}"), values)]


def find(conn: Connection, match_id: int) -> FolderMatch:
    """One folder; raises MatchNotFound."""
    row = conn.one(_SQL.get, {"id": match_id})
    if row is None:
        raise MatchNotFound(f"no folder that was matched has the id {match_id}; it may be gone since the last scan")
    return _match(row)


def count_open(conn: Connection) -> int:
    """How many folders wait for their keeper to choose a match."""
    return int(conn.value(_SQL.count_open))


def count_left(conn: Connection, job_id: str) -> int:
    """How many of the folders that a scan added are open."""
    return int(conn.value(_SQL.count_left, {"job_id": job_id}))


def folders_of(conn: Connection, metadata_ids: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    """The folders that are about each record: library and path."""
    rows = json.dumps([{"id": one} for one in metadata_ids])
    found: dict[int, list[tuple[int, str]]] = {}
    for metadata_id, library_id, folder in conn.all(_SQL.of_records, {"rows": rows}):
        found.setdefault(metadata_id, []).append((library_id, folder))
    return found


def choose(conn: Connection, match_id: int, metadata_id: int | None) -> None:
    """Write down what the keeper chose: this record, or none at all."""
    values = {
        "id": match_id,
        "metadata_id": metadata_id,
        "matched_by": MatchedBy.KEEPER,
        "is_ignored": int(metadata_id is None),
    }
    conn.run(_SQL.choose, values)


def reopen(conn: Connection, match_id: int) -> None:
    """Take back what the keeper chose."""
    values = {"id": match_id, "metadata_id": None, "matched_by": None, "is_ignored": 0}
    conn.run(_SQL.choose, values)


def known(conn: Connection, library_id: int, folders: Iterable[str]) -> set[str]:
    """Those of some folders that were looked at before."""
    rows = json.dumps([{"folder": folder} for folder in folders])
    found = conn.all(_SQL.known, {"library_id": library_id, "rows": rows})
    return {folder for (folder,) in found}


def add(
    conn: Connection, library_id: int, job_id: str, found: Sequence[tuple[NewFolder, MatchDecision]], by: MatchedBy
) -> None:
    """Store folders and what they are about."""
    rows = [
        {
            "folder": new.folder,
            "reading": json.dumps(new.reading.as_stored(), ensure_ascii=False),
            "file_id": new.file_id,
            **_stored(decision, by),
        }
        for new, decision in found
    ]
    values = {"library_id": library_id, "job_id": job_id, "rows": json.dumps(rows, ensure_ascii=False)}
    conn.run(_SQL.add, values)


def settle(
    conn: Connection, match_id: int, decision: MatchDecision, by: MatchedBy, *, asked_at: int | None = None
) -> bool:
    """Write down what was found later; false when the keeper was quicker."""
    values = {"id": match_id, **_stored(decision, by), "asked_at": asked_at}
    return bool(conn.run(_SQL.settle, values))


def unasked(conn: Connection, *, after: int, limit: int, cool_down: int) -> list[FolderMatch]:
    """Open folders that were not looked up online within the cool-down."""
    values = {"after": after, "limit": limit, "cool_down": cool_down}
    return [_match(row) for row in conn.all(_SQL.unasked, values)]


def ask_again(conn: Connection) -> None:
    """Have open folders looked for online however lately that was done."""
    conn.run(_SQL.ask_again)


def follow_renames(conn: Connection, library_id: int) -> None:
    """Let what is known of a folder follow it to its new name."""
    for match_id, folder, path in conn.all(_SQL.moved, {"library_id": library_id}):
        if (now := path.rpartition("/")[0]) not in ("", folder):
            conn.run(_SQL.move, {"id": match_id, "folder": now})


def forget_gone(conn: Connection, library_id: int) -> None:
    """Forget folders that no longer hold anything."""
    conn.run(_SQL.forget_gone, {"library_id": library_id})


@dataclass(frozen=True, slots=True)
class MatchLook:
    """How far the folders of a library were looked at, and what happened since."""

    session_before: int
    """The last scan whose folders were looked at."""
    session_id: int
    """The last scan that there was."""
    file_id: int
    moved: bool
    removed: bool


def look(conn: Connection, library_id: int) -> MatchLook:
    """What is new in a library since its folders were last looked at."""
    before, file_id = conn.one(_SQL.look, {"library_id": library_id}) or (0, 0)
    since = conn.one(_SQL.scans_since, {"library_id": library_id, "session_id": before})
    assert since is not None
    newest, moved, removed = since
    return MatchLook(before, max(newest, before), file_id, bool(moved), bool(removed))


def note_look(conn: Connection, library_id: int, session_id: int, file_id: int) -> None:
    """Say how far the folders of a library were looked at."""
    conn.run(_SQL.note_look, {"library_id": library_id, "session_id": session_id, "file_id": file_id})


def files_after(conn: Connection, library_id: int, after: int, limit: int) -> list[tuple[int, str]]:
    """The next files of a library in the order in which they came: id and path."""
    values = {"library_id": library_id, "after": after, "limit": limit}
    return [(file_id, path) for file_id, path in conn.all(_SQL.files_after, values)]


def _stored(decision: MatchDecision, by: MatchedBy) -> dict[str, Any]:
    return {
        "metadata_id": decision.metadata_id,
        "series_id": decision.series_id,
        "matched_by": None if decision.metadata_id is None else by,
        "reasons": json.dumps(decision.reasons),
        "candidates": json.dumps([_candidate_as_stored(one) for one in decision.candidates], ensure_ascii=False),
    }


def _candidate_as_stored(candidate: MatchCandidate) -> dict[str, Any]:
    details = {name: value for name, value in asdict(candidate.details).items() if value is not None}
    return {**asdict(candidate), "details": details | {"air_date": _day(candidate.details.air_date)}}


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _candidate(found: dict[str, Any]) -> MatchCandidate:
    stored = found["details"]
    day, world = stored.get("air_date"), stored.get("tmdb_kind")
    details = Details(
        **{
            **stored,
            "kind": RecordKind(stored["kind"]),
            "air_date": None if day is None else date.fromisoformat(day),
            "tmdb_kind": None if world is None else TmdbKind(world),
        }
    )
    return MatchCandidate(found["key"], details, tuple(map(MatchReason, found["reasons"])), found["metadata_id"])


def _match(values: Row) -> FolderMatch:
    row = _MATCH.row(values)
    matched_by = None if row.matched_by is None or row.metadata_id is None else MatchedBy(row.matched_by)
    return FolderMatch(
        row.id,
        row.library_id,
        row.folder,
        FolderReading.from_stored(json.loads(row.reading)),
        _state(row.metadata_id, matched_by, bool(row.is_ignored)),
        row.metadata_id,
        row.series_id,
        matched_by,
        tuple(map(MatchReason, json.loads(row.reasons))),
        tuple(map(_candidate, json.loads(row.candidates))),
        optional_datetime(row.asked_at),
        to_datetime(row.created_at),
        to_datetime(row.updated_at),
    )


def _state(metadata_id: int | None, by: MatchedBy | None, ignored: bool) -> MatchState:
    if ignored:
        return MatchState.IGNORED
    if metadata_id is None:
        return MatchState.OPEN
    return MatchState.CHOSEN if by is MatchedBy.KEEPER else MatchState.MATCHED
