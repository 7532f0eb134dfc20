"""Libraries: their folders and their settings."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.library.errors import LibraryConflict, LibraryNotFound
from kurabito.protocol.enums import HashAlgorithm, HashPolicy, LibraryIntake, LibraryUpgrades
from kurabito.protocol.leased.placements import PlacementMode
from kurabito.reasons import InputReason, refused

_LIBRARY: Final = ColumnList(
    "id, name, root_path, scan_interval, next_scan_at, watched, algorithm, hash_policy, ignored, created_at, updated_at, "
    "last_scanned_at, removing_since, accepts, placement_modes, upgrades, writes_nfo, writes_posters"
)
_SQL: Final = Queries("kurabito.library", "libraries.sql", library=_LIBRARY)

FILING_MODES: Final = frozenset({PlacementMode.LINK, PlacementMode.REFLINK, PlacementMode.COPY})
"""How downloads may come into a library. The others are for what is in it already, or is not seeded any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySettings:
    """The settings of a library that a user may change."""

    name: str
    scan_interval: timedelta | None = None
    """None: it is scanned on request only."""
    watched: bool = False
    algorithm: HashAlgorithm = HashAlgorithm.BLAKE3
    hash_policy: HashPolicy = HashPolicy.CANDIDATES
    ignored: tuple[str, ...] = ()
    """Patterns of names that a scan passes by."""
    accepts: LibraryIntake = LibraryIntake.ANY
    """What is filed into it."""
    placement_modes: tuple[PlacementMode, ...] = (PlacementMode.LINK, PlacementMode.COPY)
    """How downloads come into it, the best first."""
    upgrades: LibraryUpgrades = LibraryUpgrades.SAME_GROUP
    """Which better releases take the place of files that were filed into it."""
    writes_nfo: bool = False
    writes_posters: bool = False
    """NFO files, and posters, are written beside what was filed into it."""


@dataclass(frozen=True, slots=True)
class Library:
    """A folder whose files Kurabito knows."""

    id: int
    path: Path
    settings: LibrarySettings
    next_scan_at: datetime | None
    created_at: datetime
    updated_at: datetime
    last_scanned_at: datetime | None
    removing_since: datetime | None = None
    """Since when it is being removed: no work is begun in it any more."""


def add(conn: Connection, path: Path, settings: LibrarySettings) -> Library:
    """Store a library whose path was looked at; raises LibraryConflict when its name or folder is another's."""
    for other in everything(conn):
        if overlap(path, other.path):
            raise LibraryConflict(
                f"{path} and the folder of the library {other.settings.name!r}, {other.path}, lie one in the other; "
                + _advice(other),
                field="path",
                reason=refused(InputReason.PATH_TAKEN, path=str(path), other=str(other.path)),
            )
    _refuse_taken(conn, settings.name)
    try:
        library_id = conn.value(_SQL.insert, {"root_path": str(path), **_stored(settings)})
    except UniqueConflict:
        raise _taken(settings.name) from None
    return find(conn, library_id)


def find(conn: Connection, library_id: int) -> Library:
    """The library; raises LibraryNotFound."""
    row = conn.one(_SQL.get, {"id": library_id})
    if row is None:
        raise LibraryNotFound(f"no library has the id {library_id}")
    return _library(row)


def everything(conn: Connection) -> list[Library]:
    """Every library."""
    return [_library(row) for row in conn.all(_SQL.all)]


def watched(conn: Connection) -> list[Library]:
    """The libraries whose files are watched."""
    return [_library(row) for row in conn.all(_SQL.watched)]


def page(conn: Connection, after: int, limit: int) -> list[Library]:
    """Libraries in the order in which they were made."""
    return [_library(row) for row in conn.all(_SQL.page, {"after": after, "limit": limit})]


def change(conn: Connection, library_id: int, changes: dict[str, Any]) -> Library:
    """Change settings of a library; the others stay."""
    library = find_staying(conn, library_id)
    settings = replace(library.settings, **changes)
    if settings.name != library.settings.name:
        _refuse_taken(conn, settings.name)
    conn.run(_SQL.update, {"id": library_id, **_stored(settings)})
    return find(conn, library_id)


def note_scan(conn: Connection, library_id: int) -> None:
    """Record that a scan of the library was completed."""
    conn.run(_SQL.note_scan, {"id": library_id})


def find_staying(conn: Connection, library_id: int) -> Library:
    """The library; raises LibraryNotFound, and LibraryConflict when it is being removed."""
    library = find(conn, library_id)
    if library.removing_since is not None:
        raise LibraryConflict(
            f"the library {library.settings.name!r} is being removed, so nothing is begun in it any more"
        )
    return library


def is_leaving(conn: Connection, library_id: int) -> bool:
    """Whether a library is being removed."""
    return conn.one(_SQL.leaving, {"id": library_id}) is not None


def extent(conn: Connection, library_id: int) -> tuple[int, int]:
    """How many files and bytes the last scan saw."""
    files, size = conn.one(_SQL.extent, {"id": library_id}) or (0, 0)
    return files, size


def has_files_to_hash(conn: Connection, library_id: int) -> bool:
    """Whether a hash would find something to read now."""
    return conn.one(_SQL.work_left, {"id": library_id}) is not None


def with_files_to_hash(conn: Connection) -> list[int]:
    """The libraries, scanned once to their end, in which a hash would find something to read now.

    A file that changed since it was last seen does not count: before a scan has seen it again it cannot be hashed.
    """
    return [library_id for (library_id,) in conn.all(_SQL.with_work)]


def is_scan_due(conn: Connection) -> bool:
    """Whether the interval of some library is over."""
    return conn.one(_SQL.due) is not None


def take_due(conn: Connection) -> list[int]:
    """The libraries whose interval is over; each is given to one caller only, and its next interval begins."""
    return [library_id for (library_id,) in conn.all(_SQL.take_due)]


def overlap(one: Path, other: Path) -> bool:
    """Whether one folder is the other, or lies in it."""
    return one.is_relative_to(other) or other.is_relative_to(one)


def _advice(other: Library) -> str:
    if other.removing_since is not None:
        return "that one is being removed; wait until it is gone"
    return "a file belongs to one library"


def _refuse_taken(conn: Connection, name: str) -> None:
    if conn.one(_SQL.named, {"name": name}) is not None:
        raise _taken(name)


def _taken(name: str) -> LibraryConflict:
    problem = f"another library is called {name!r}; choose another name"
    return LibraryConflict(problem, field="name", reason=refused(InputReason.NAME_TAKEN))


def _stored(settings: LibrarySettings) -> dict[str, Any]:
    interval = settings.scan_interval
    return {
        "name": settings.name,
        "scan_interval": None if interval is None else round(interval.total_seconds() * SECOND),
        "algorithm": settings.algorithm.value,
        "hash_policy": settings.hash_policy.value,
        "ignored": json.dumps(settings.ignored, ensure_ascii=False),
        "accepts": settings.accepts.value,
        "placement_modes": json.dumps([mode.value for mode in settings.placement_modes]),
        "upgrades": settings.upgrades.value,
        **{name: int(getattr(settings, name)) for name in ("watched", "writes_nfo", "writes_posters")},
    }


def _library(row: Row) -> Library:
    root = _LIBRARY.row(row)
    settings = LibrarySettings(
        name=root.name,
        scan_interval=None if root.scan_interval is None else timedelta(microseconds=root.scan_interval),
        watched=bool(root.watched),
        algorithm=HashAlgorithm(root.algorithm),
        hash_policy=HashPolicy(root.hash_policy),
        ignored=tuple(json.loads(root.ignored)),
        accepts=LibraryIntake(root.accepts),
        placement_modes=tuple(PlacementMode(mode) for mode in json.loads(root.placement_modes)),
        upgrades=LibraryUpgrades(root.upgrades),
        writes_nfo=bool(root.writes_nfo),
        writes_posters=bool(root.writes_posters),
    )
    return Library(
        root.id,
        Path(root.root_path),
        settings,
        optional_datetime(root.next_scan_at),
        to_datetime(root.created_at),
        to_datetime(root.updated_at),
        optional_datetime(root.last_scanned_at),
        optional_datetime(root.removing_since),
    )
