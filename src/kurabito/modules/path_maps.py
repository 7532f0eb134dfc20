"""The same folder has one path for the core and another for a service on another machine, or in a container."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple

from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused

_MOST: Final = 50
_LONGEST: Final = 1_000
_SQL: Final = Queries("kurabito.modules", "path_maps.sql")


class PathMap(NamedTuple):
    """The same folder as the core and as a downloader see it."""

    core: str
    downloader: str


def path_maps(conn: Connection, module_id: int) -> tuple[PathMap, ...]:
    """The path maps of a service."""
    return tuple(PathMap(*row) for row in conn.all(_SQL.of_module, {"module_id": module_id}))


def all_path_maps(conn: Connection) -> dict[int, tuple[PathMap, ...]]:
    """The path maps of all services, by service."""
    found: dict[int, tuple[PathMap, ...]] = {}
    for module_id, *one in conn.all(_SQL.everything):
        found[module_id] = (*found.get(module_id, ()), PathMap(*one))
    return found


def set_path_maps(conn: Connection, module_id: int, maps: Sequence[PathMap]) -> None:
    """Put these in the place of those that a service had."""
    conn.run(_SQL.drop_of_module, {"module_id": module_id})
    for one in maps:
        conn.run(_SQL.add, {"module_id": module_id, **one._asdict()})


def check_path_maps(maps: Sequence[PathMap]) -> None:
    """Raises InvalidInput for what cannot be a map."""
    if len(maps) > _MOST:
        problem = f"must be at most {_MOST}, got {len(maps)}"
        raise InvalidInput("path_maps", problem, refused(InputReason.TOO_MANY, most=_MOST))
    for one in maps:
        _check(one.core, PurePosixPath(one.core))
        is_windows = PureWindowsPath(one.downloader).drive
        _check(one.downloader, (PureWindowsPath if is_windows else PurePosixPath)(one.downloader))
    if len({PurePosixPath(one.core) for one in maps}) < len(maps):
        raise InvalidInput("path_maps", "must name each folder of the core once", refused(InputReason.PATH_MAP_TWICE))


def mapped(folder: PurePath, maps: Sequence[PathMap]) -> str:
    """A folder of the core, as a service sees it.

    >>> mapped(PurePosixPath("/data/downloads/7"), [PathMap("/data", "/mnt/nas")])
    '/mnt/nas/downloads/7'
    """
    # The longest prefix knows best.
    for core, downloader in sorted(maps, key=lambda one: -len(one.core)):
        if folder.is_relative_to(core):
            return str(PurePosixPath(downloader) / folder.relative_to(core).as_posix())
    return str(folder)


def as_core_sees(folder: str, maps: Sequence[PathMap]) -> PurePosixPath:
    """A folder of a service, as the core sees it.

    >>> as_core_sees("/mnt/nas/downloads/7", [PathMap("/data", "/mnt/nas")])
    PurePosixPath('/data/downloads/7')
    """
    # The longest prefix knows best.
    for core, downloader in sorted(maps, key=lambda one: -len(one.downloader)):
        kind = PureWindowsPath if PureWindowsPath(downloader).drive else PurePosixPath
        if kind(folder).is_relative_to(downloader):
            return PurePosixPath(core) / kind(folder).relative_to(downloader).as_posix()
    return PurePosixPath(folder)


def _check(text: str, path: PurePath) -> None:
    if not path.is_absolute() or ".." in path.parts or not text.isprintable() or len(text) > _LONGEST:
        problem = f"must be of whole paths without `..`, like /srv/downloads, got {text[:100]!r}"
        raise InvalidInput("path_maps", problem, refused(InputReason.PATH_NOT_WHOLE, path=text[:100]))
