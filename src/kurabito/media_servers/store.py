"""Media servers, and the folders that they are to hear of, as they are stored. No other module writes their tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kurabito.clock import SECOND, to_datetime
from kurabito.contact import ContactStatus
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.media_servers.errors import MediaServerConflict, MediaServerNotFound
from kurabito.media_servers.model import (
    MediaServerKind,
    MediaServerSettings,
    StoredMediaServer,
    address_of,
    check,
)
from kurabito.modules.path_maps import PathMap
from kurabito.reasons import InputReason, refused

_SERVER: Final = ColumnList(
    "id, kind, name, url, token, path_maps, is_enabled, failures, error_code, error_message, last_success_at, "
    "last_failure_at, created_at, updated_at"
)
_SQL: Final = Queries("kurabito.media_servers", "store.sql", server=_SERVER)
_LONGEST_MESSAGE: Final = 1_000
_ORPHANED: Final = 3_600 * SECOND
"""A notice that waits for so long has no task any more: its keeper cancelled it."""


class FolderNotice(NamedTuple):
    """A folder that a server is to hear of."""

    folder: str
    noted_at: int


def add(conn: Connection, settings: MediaServerSettings) -> StoredMediaServer:
    """Store a server; raises InvalidInput or MediaServerConflict."""
    check(settings)
    _check_name(conn, settings.name)
    return find(conn, conn.value(_SQL.add, _stored(settings)))


def everything(conn: Connection) -> list[StoredMediaServer]:
    """Every server, in the order in which they were added. There are few."""
    return [_server(row) for row in conn.all(_SQL.everything)]


def find(conn: Connection, server_id: int) -> StoredMediaServer:
    """The server; raises MediaServerNotFound."""
    for server in everything(conn):
        if server.id == server_id:
            return server
    raise MediaServerNotFound(f"no media server has the id {server_id}")


def change(conn: Connection, server_id: int, changes: dict[str, Any]) -> StoredMediaServer:
    """Change a server; what is not named stays. A token belongs to its address: another one has to be given it again."""
    old = find(conn, server_id).settings
    if "url" in changes and address_of(changes["url"]) != old.url:
        changes = {"token": None} | changes
    new = replace(old, **changes)
    check(new)
    _check_name(conn, new.name, server_id)
    conn.run(_SQL.change, {"id": server_id} | _stored(new))
    if not new.is_enabled:
        conn.run(_SQL.forget_notices, {"id": server_id})
    return find(conn, server_id)


def remove(conn: Connection, server_id: int) -> None:
    """Forget a server; raises MediaServerNotFound."""
    find(conn, server_id)
    conn.run(_SQL.remove, {"id": server_id})


def note_success(conn: Connection, server_id: int) -> None:
    """Write down that a server heard us."""
    conn.run(_SQL.note_success, {"id": server_id})


def note_failure(conn: Connection, server_id: int, code: str, message: str) -> None:
    """Write down that it did not, and why."""
    values = {"id": server_id, "error_code": code, "error_message": message[:_LONGEST_MESSAGE]}
    conn.run(_SQL.note_failure, values)


def changed_folders(conn: Connection, placement_ids: Sequence[int]) -> set[str]:
    """The folders that placements brought a file into, or took one out of, as the core sees them."""
    found = set()
    for root, target, source, is_inside in conn.all(_SQL.placed, {"ids": list(placement_ids)}):
        found.add(f"{root}/{target.rpartition('/')[0]}".rstrip("/"))
        if is_inside:
            found.add(f"{root}/{source.rpartition('/')[0]}".rstrip("/"))
    return found


def enabled(conn: Connection) -> list[int]:
    """The servers that are on."""
    return [found for (found,) in conn.all(_SQL.enabled)]


def note_folders(conn: Connection, server_id: int, folders: Iterable[str]) -> bool:
    """Have a server hear of folders; whether no task is under way that would tell them."""
    # One after the other: a task that ends at this moment would not see what is noted here.
    conn.run(_SQL.hold, {"id": server_id})
    is_alone = conn.one(_SQL.recent, {"id": server_id, "orphaned": _ORPHANED}) is None
    for folder in sorted(folders):
        conn.run(_SQL.note_folder, {"id": server_id, "folder": folder})
    return is_alone


def notices(conn: Connection, server_id: int, limit: int) -> list[FolderNotice]:
    """What a server is to hear of, the oldest first."""
    return [FolderNotice(*row) for row in conn.all(_SQL.notices, {"id": server_id, "limit": limit})]


def forget(conn: Connection, server_id: int, told: Iterable[FolderNotice]) -> bool:
    """Forget what a server heard, unless the folder changed again since; whether something is left."""
    conn.run(_SQL.hold, {"id": server_id})
    for notice in told:
        conn.run(_SQL.forget_notice, {"id": server_id, **notice._asdict()})
    return conn.one(_SQL.notices, {"id": server_id, "limit": 1}) is not None


def forget_all(conn: Connection, server_id: int) -> None:
    """Give up what a server was to hear of."""
    conn.run(_SQL.forget_notices, {"id": server_id})


def _check_name(conn: Connection, name: str, own: int | None = None) -> None:
    if conn.value(_SQL.by_name, {"name": name}) not in (None, own):
        problem = "another media server has this name already; choose another"
        raise MediaServerConflict(problem, field="name", reason=refused(InputReason.NAME_TAKEN))


def _stored(settings: MediaServerSettings) -> dict[str, Any]:
    return {
        "kind": settings.kind.value,
        "name": settings.name,
        "url": address_of(settings.url),
        "token": settings.token,
        "path_maps": json.dumps(settings.path_maps, ensure_ascii=False),
        "is_enabled": int(settings.is_enabled),
    }


def _server(row: Row) -> StoredMediaServer:
    of = _SERVER.row(row)
    return StoredMediaServer(
        id=of.id,
        settings=MediaServerSettings(
            kind=MediaServerKind(of.kind),
            name=of.name,
            url=of.url,
            token=of.token,
            path_maps=tuple(PathMap(*one) for one in json.loads(of.path_maps)),
            is_enabled=bool(of.is_enabled),
        ),
        status=ContactStatus.read(of),
        created_at=to_datetime(of.created_at),
        updated_at=to_datetime(of.updated_at),
    )
