"""What was adopted and what was not, as the database keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.matching.clues import is_video
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.downloads.store import restate_moved
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.adoption.reasons import AnyReason, read_stored
from kurabito.placements.adoption.units import FolderLook, LibraryVideo

_UNADOPTED: Final = ColumnList(
    "unadopted.file_id, unadopted.library_id, library.name AS library, file.relative_path, file.size_bytes, unadopted.reason"
)
_SQL: Final = Queries("kurabito.placements.adoption", "store.sql", unadopted=_UNADOPTED)
_FILES_AT_ONCE: Final = 20_000


class GivenBy(StrEnum):
    """By what an episode has a file."""

    PLACEMENT = "placement"
    NAME = "name"
    """Its name and its folder say it."""
    KEEPER = "keeper"
    """A person said it, and nothing else changes that."""


@dataclass(frozen=True, slots=True)
class UnadoptedFile:
    """A video that no episode has, and why."""

    file_id: int
    library_id: int
    library: str
    path: str
    size_bytes: int
    reason: AnyReason


def due(conn: Connection) -> list[int]:
    """The libraries in which a scan or a match brought something new."""
    return [library_id for (library_id,) in conn.all(_SQL.due)]


def looks(conn: Connection, library_id: int) -> list[FolderLook]:
    """What matching found out about the folders of a library."""
    return [
        FolderLook(
            folder,
            metadata_id,
            bool(ignored),
            bool(json.loads(reading).get("has_several_seasons")),
            is_unknown=not json.loads(candidates),
        )
        for folder, metadata_id, ignored, reading, candidates in conn.all(_SQL.looks, {"library_id": library_id})
    ]


def videos(conn: Connection, library_id: int) -> list[LibraryVideo]:
    """The videos of a library, by their paths."""
    found: list[LibraryVideo] = []
    after = ""
    while rows := conn.all(_SQL.files, {"library_id": library_id, "after": after, "limit": _FILES_AT_ONCE}):
        files = [LibraryVideo(*row) for row in rows]
        found += [file for file in files if is_video(file.path)]
        after = files[-1].path
    return found


def fingerprints(conn: Connection, library_id: int) -> dict[str, str]:
    """The folders all of whose videos were episodes, each as it was then."""
    return dict(conn.all(_SQL.adopted, {"library_id": library_id}))


def give(conn: Connection, findings: Iterable[tuple[int, Sequence[HadEpisode]]], given_by: GivenBy) -> None:
    """Have files be those of these episodes, and of no others. What a person said, or was placed, stays as it is."""
    found = dict(findings)
    if given_by is GivenBy.NAME and found:
        for (file_id,) in conn.all(_SQL.fixed, _ids(found)):
            del found[file_id]
    if not found:
        return
    lost = {episode_id for (episode_id,) in conn.all(_SQL.forget, _ids(found))}
    rows = [
        {"file_id": file_id, "series_id": one.series_id, "kind": one.kind, "number": one.number}
        for file_id, episodes in found.items()
        for one in episodes
    ]
    if rows:
        given = {"rows": json.dumps(rows), "given_by": given_by.value}
        conn.run(_SQL.add_episodes, given)
        conn.run(_SQL.add_files, given)
        conn.run(_SQL.are_had, given)
    restate_moved(conn, lost)


def note_folder(
    conn: Connection, library_id: int, folder: str, records: Sequence[int], fingerprint: str | None
) -> None:
    """Remember a folder all of whose videos are episodes; with no fingerprint, forget it."""
    if fingerprint is None:
        conn.run(_SQL.forget_folders, {"library_id": library_id, "rows": json.dumps([{"folder": folder}])})
        return
    values = {"library_id": library_id, "folder": folder, "records": json.dumps(records), "fingerprint": fingerprint}
    conn.run(_SQL.note_folder, values)


def note_library(
    conn: Connection, library_id: int, adopted_at: int, unadopted: Iterable[tuple[LibraryVideo, AnyReason]]
) -> None:
    """Note what of a library is not had, and as of when."""
    rows = [
        {"file_id": video.id, "folder": video.path.rpartition("/")[0], "reason": reason.stored()}
        for video, reason in unadopted
    ]
    conn.run(_SQL.clear_unadopted, {"library_id": library_id})
    if rows:
        conn.run(_SQL.add_unadopted, {"library_id": library_id, "rows": json.dumps(rows, ensure_ascii=False)})
    conn.run(_SQL.note_library, {"library_id": library_id, "adopted_at": adopted_at})


def unadopted(conn: Connection, *, after: int, limit: int, library_id: int | None) -> list[UnadoptedFile]:
    """Videos that no episode has, in the order in which they were found."""
    rows = conn.all(_SQL.unadopted, {"after": after, "limit": limit, "library_id": library_id})
    return [
        UnadoptedFile(
            row.file_id,
            row.library_id,
            row.library,
            row.relative_path,
            row.size_bytes,
            read_stored(json.loads(row.reason)),
        )
        for row in map(_UNADOPTED.row, rows)
    ]


def count_unadopted(conn: Connection, most: int) -> int:
    """How many there are, up to so many."""
    return int(conn.value(_SQL.count_unadopted, {"most": most}))


def _ids(found: Iterable[int]) -> dict[str, Any]:
    return {"rows": json.dumps(list(found))}
