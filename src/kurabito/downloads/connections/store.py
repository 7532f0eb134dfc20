"""The rows of connections."""

from __future__ import annotations

import secrets
import uuid
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.connections.model import ConnectionReason, ConnectionSettings, DownloaderConnection
from kurabito.errors import InvalidInput
from kurabito.reasons import Reason

_CONNECTION: Final = ColumnList("id, name, client, url, username, password, instance_id, token")
_SQL: Final = Queries("kurabito.downloads.connections", "store.sql", connection=_CONNECTION)


def everything(conn: Connection) -> list[DownloaderConnection]:
    """Every connection, in the order in which they were added."""
    return [_of(row) for row in conn.all(_SQL.everything)]


def of_instance(conn: Connection, instance_id: str) -> DownloaderConnection | None:
    """The connection that a service is."""
    row = conn.one(_SQL.of_instance, {"instance_id": instance_id})
    return None if row is None else _of(row)


def add(conn: Connection, settings: ConnectionSettings) -> DownloaderConnection:
    """Store a new connection; raises InvalidInput if its name is taken."""
    if conn.one(_SQL.named, {"name": settings.name}) is not None:
        raise InvalidInput("name", "another connection has this name", Reason(ConnectionReason.NAME_TAKEN))
    instance_id = uuid.uuid4().hex
    who = {"name": settings.name, "instance_id": instance_id, "token": secrets.token_urlsafe(32)}
    conn.run(_SQL.add, who | _values(settings))
    stored = of_instance(conn, instance_id)
    assert stored is not None
    return stored


def change(conn: Connection, instance_id: str, settings: ConnectionSettings) -> None:
    """Store how the client is reached now; the name stays."""
    conn.run(_SQL.change, {"instance_id": instance_id} | _values(settings))


def remove(conn: Connection, instance_id: str) -> bool:
    """Forget a connection; whether there was one."""
    return bool(conn.run(_SQL.remove, {"instance_id": instance_id}))


def _values(settings: ConnectionSettings) -> dict[str, str]:
    return {
        "client": settings.client.value,
        "url": settings.url,
        "username": settings.username,
        "password": settings.password,
    }


def _of(values: Row) -> DownloaderConnection:
    row = _CONNECTION.row(values)
    settings = ConnectionSettings(row.name, ClientName(row.client), row.url, row.username, row.password)
    return DownloaderConnection(row.id, settings, row.instance_id, row.token)
