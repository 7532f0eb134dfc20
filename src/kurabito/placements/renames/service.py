"""Renames of a library: what a naming would change, applied as placements, and undone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.library import libraries
from kurabito.placements.errors import PlacementConflict, PlacementNotFound
from kurabito.placements.library_naming import naming_of
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.renames import Rename, plan_renames
from kurabito.placements.renames.named_files import NamedFile, filed_files, known_paths, named_files
from kurabito.placements.renames.order import in_order_with_tracks

_SQL: Final = Queries("kurabito.placements.renames", "renames.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamePreview:
    """What a naming would change in a library, in the order in which it is done."""

    renames: tuple[Rename, ...]
    unchanged: int
    unknown: tuple[tuple[str, str], ...]
    """Files that keep their names because a fact is not known: the path and the token."""
    taken: tuple[str, ...]
    """Files that keep their names because another file has the new one, or would get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """Renames that were applied together."""

    id: int
    undoes_id: int | None
    undone_by: int | None
    created_at: datetime
    files: int
    renamed: int
    failed: int


class Renames:
    """The renames of the libraries of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def preview(self, library_id: int, naming: NamingSettings | None = None) -> RenamePreview:
        """What would be renamed, by another naming or by the library's own; raises LibraryNotFound or InvalidTemplate."""
        if naming is not None:
            naming.check()
        return (await self._database.read(lambda conn: plan(conn, library_id, naming)))[0]

    async def apply(self, library_id: int) -> Renaming | None:
        """Rename what the library's naming says; None when there is nothing to rename.

        Raises LibraryNotFound, or PlacementConflict while earlier renames are under way.
        """
        preview, files = await self._database.read(lambda conn: plan(conn, library_id, None))

        def write(conn: Connection) -> Renaming | None:
            if not preview.renames:
                return None
            chosen = [(one.path, one.target, files[one.path]) for one in preview.renames]
            return _begin(conn, library_id, [_row(*one) for one in chosen])

        return await self._database.write(write)

    async def undo(self, renaming_id: int) -> Renaming:
        """Give the files their names back; raises PlacementNotFound, or PlacementConflict when that was done or is under way."""

        def write(conn: Connection) -> Renaming:
            row = conn.one(_SQL.find, {"id": renaming_id})
            if row is None:
                raise PlacementNotFound(f"no renaming has the id {renaming_id}")
            library_id, undone_by = row
            if undone_by is not None:
                raise PlacementConflict(f"renaming {renaming_id} was undone already, by renaming {undone_by}")
            found = conn.all(_SQL.renamed, {"id": renaming_id})
            _refuse_moved_on(conn, renaming_id, library_id, len(found))
            conn.run(_SQL.give_up, {"id": renaming_id})
            rows = [
                _row(path, before, NamedFile(path, size, mtime_ns, stored))
                for path, before, size, mtime_ns, stored in found
            ]
            return _begin(conn, library_id, rows, undoes_id=renaming_id)

        return await self._database.write(write)

    async def past(self, library_id: int, *, limit: int = 10) -> list[Renaming]:
        """The renames of a library, the last first."""
        values = {"library_id": library_id, "limit": limit}
        return await self._database.read(lambda conn: [_renaming(row) for row in conn.all(_SQL.page, values)])


def plan(
    conn: Connection, library_id: int, naming: NamingSettings | None
) -> tuple[RenamePreview, dict[str, NamedFile]]:
    """What a naming, or the library's own, would change; and the files that have a name from us, by their paths."""
    libraries.find(conn, library_id)
    chosen = naming or naming_of(conn, library_id)
    files, paths = named_files(conn, library_id), known_paths(conn, library_id)
    filed = list(filed_files(conn, library_id, chosen, files, paths))
    named = plan_renames(filed, chosen, (path for path in paths if path not in files))
    tracks = {file.path for file in filed if file.tag is not None}
    staying = [path for path, _ in named.unknown] + [*named.twins]
    ordered, taken, beside = in_order_with_tracks(named.renames, paths, tracks, staying)
    preview = RenamePreview(
        renames=tuple(ordered),
        unchanged=named.unchanged + len(beside),
        unknown=named.unknown,
        taken=(*named.twins, *taken),
    )
    return preview, files


def _row(path: str, target: str, file: NamedFile) -> dict[str, Any]:
    return {"path": path, "target": target, "size": file.size, "mtime_ns": file.mtime_ns, "named_by": file.named_by}


def _begin(
    conn: Connection, library_id: int, rows: Sequence[dict[str, Any]], *, undoes_id: int | None = None
) -> Renaming:
    if conn.one(_SQL.under_way, {"library_id": library_id}):
        raise PlacementConflict(f"files of library {library_id} are being renamed; wait until that is done")
    made = conn.value(_SQL.begin, {"library_id": library_id, "undoes_id": undoes_id})
    numbered = [{**row, "position": position} for position, row in enumerate(rows)]
    conn.run(_SQL.rename, {"rows": json.dumps(numbered), "library_id": library_id, "renaming_id": made})
    _move_places(conn, library_id, rows)
    conn.notify()
    return next(_renaming(row) for row in conn.all(_SQL.page, {"library_id": library_id, "limit": 1}))


def _refuse_moved_on(conn: Connection, renaming_id: int, library_id: int, found: int) -> None:
    """Raises PlacementConflict where the names that a renaming gave were changed since: it could be undone only once."""
    values = {"id": renaming_id, "library_id": library_id}
    if found < int(conn.value(_SQL.count_renamed, values)):
        later = conn.value(_SQL.later, values)
        if later is not None:
            raise PlacementConflict(f"files of renaming {renaming_id} were renamed again; undo renaming {later} first")
    if not found and not conn.one(_SQL.is_waiting, values):
        raise PlacementConflict(f"no file has the name any more that renaming {renaming_id} gave it")


def _move_places(conn: Connection, library_id: int, rows: Sequence[dict[str, Any]]) -> None:
    """The folder that a series was given once is from now on the one that all of its files go into."""
    folders: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        series_id = json.loads(row["named_by"]).get("series_id")
        if series_id is not None:
            folders[series_id].add(row["target"].rpartition("/")[0].partition("/")[0])
    for series_id, found in folders.items():
        if len(found) == 1 and (folder := found.pop()):
            conn.run(_SQL.move_place, {"library_id": library_id, "series_id": series_id, "folder": folder})


def _renaming(row: Sequence[Any]) -> Renaming:
    found, undoes_id, undone_by, created_at, files, renamed, failed = row
    return Renaming(
        id=found,
        undoes_id=undoes_id,
        undone_by=undone_by,
        created_at=to_datetime(created_at),
        files=int(files),
        renamed=int(renamed or 0),
        failed=int(failed or 0),
    )
