"""What is known of the services that registered themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.modules.download_types import DownloadType
from kurabito.modules.errors import ModuleNotFound
from kurabito.modules.path_maps import PathMap, path_maps, set_path_maps

_SERVICE: Final = ColumnList(
    "module_id, service_type, service_name, host, port, instance_id, token, fetch_endpoint, download_endpoint, "
    "sync_endpoint, priority, is_enabled, tidies, registered_at, last_seen_at, unreachable_since"
)
_SQL: Final = Queries("kurabito.modules", "services.sql", service=_SERVICE)
USUAL_PRIORITY: Final = 50
BIGGEST_MODULE_ID: Final = 2**31 - 1


class ServiceType(StrEnum):
    """What a service does for us."""

    FETCHER = "fetcher"
    DOWNLOADER = "downloader"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a service can do, and below which path."""

    fetch_endpoint: str | None = None
    download_endpoint: str | None = None
    sync_endpoint: str | None = None
    supported_download_types: tuple[DownloadType, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What a service says of itself."""

    service_type: ServiceType
    service_name: str
    host: str
    port: int
    instance_id: str
    """Another one means another process with the same name."""
    token: str = field(repr=False)
    """What we have to show when we call it."""
    capabilities: Capabilities = Capabilities()
    priority: int = USUAL_PRIORITY
    """Its place among others until its user decides."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service that registered itself, and what its user decided about it."""

    id: int
    registration: Registration
    priority: int
    """The larger is asked first."""
    is_enabled: bool
    registered_at: datetime
    last_seen_at: datetime
    path_maps: tuple[PathMap, ...] = ()
    """Where it sees folders of the core."""
    tidies: bool = False
    """It forgets what is filed once it is done seeding that, and the names of those files go."""
    unreachable_since: datetime | None = None
    """Since when it does not answer; None while it does."""

    def url(self, path: str) -> str:
        """Where a path of this service is."""
        host = self.registration.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.registration.port}{path}"


def register(conn: Connection, registration: Registration, seen: str | None) -> Service | None:
    """Store what a service says, in place of the instance that was seen; None when there is another by now."""
    capabilities = registration.capabilities
    values = {
        "service_type": registration.service_type.value,
        "service_name": registration.service_name,
        "host": registration.host,
        "port": registration.port,
        "instance_id": registration.instance_id,
        "token": registration.token,
        "fetch_endpoint": capabilities.fetch_endpoint,
        "download_endpoint": capabilities.download_endpoint,
        "sync_endpoint": capabilities.sync_endpoint,
        "priority": registration.priority,
        "seen": seen,
    }
    module_id: int | None = conn.value(_SQL.register, values)
    if module_id is None:
        return None
    conn.run(_SQL.drop_capabilities, {"module_id": module_id})
    # Whatever a fetcher or a viewer says of itself: nothing is offered to it.
    takes = capabilities.supported_download_types if registration.service_type is ServiceType.DOWNLOADER else ()
    for download_type in dict.fromkeys(takes):
        conn.run(_SQL.add_capability, {"module_id": module_id, "download_type": download_type.value})
    return find(conn, module_id)


def find(conn: Connection, module_id: int) -> Service:
    """The service; raises ModuleNotFound."""
    row = conn.one(_SQL.get, {"module_id": module_id})
    if row is None:
        raise ModuleNotFound(f"no service has the id {module_id}")
    return _service(conn, row)


def named(conn: Connection, service_type: ServiceType, service_name: str) -> Service | None:
    """The service of that name, if there is one."""
    row = conn.one(_SQL.named, {"service_type": service_type.value, "service_name": service_name})
    return None if row is None else _service(conn, row)


def page(conn: Connection, after: int, limit: int) -> list[Service]:
    """Services in the order in which they first came."""
    return [_service(conn, row) for row in conn.all(_SQL.page, {"after": after, "limit": limit})]


def able(conn: Connection, download_type: DownloadType) -> list[Service]:
    """The downloaders that can take this and are switched on, the one to ask first at the front."""
    return [_service(conn, row) for row in conn.all(_SQL.able, {"download_type": download_type.value})]


def change(
    conn: Connection,
    module_id: int,
    *,
    priority: int | None,
    is_enabled: bool | None,
    tidies: bool | None = None,
    maps: Sequence[PathMap] | None = None,
) -> Service:
    """Store what the user decides; what is None stays."""
    find(conn, module_id)
    if priority is not None:
        conn.run(_SQL.set_priority, {"module_id": module_id, "priority": priority})
    if is_enabled is not None:
        conn.run(_SQL.set_enabled, {"module_id": module_id, "is_enabled": int(is_enabled)})
    if tidies is not None:
        conn.run(_SQL.set_tidies, {"module_id": module_id, "tidies": int(tidies)})
    if maps is not None:
        set_path_maps(conn, module_id, maps)
    return find(conn, module_id)


def remove(conn: Connection, module_id: int) -> None:
    """Forget a service; raises ModuleNotFound. One that lives comes back when it registers again."""
    find(conn, module_id)
    conn.run(_SQL.remove, {"module_id": module_id})


def _service(conn: Connection, row: Row) -> Service:
    module = _SERVICE.row(row)
    types = tuple(DownloadType(one) for (one,) in conn.all(_SQL.capabilities, {"module_id": module.module_id}))
    registration = Registration(
        service_type=ServiceType(module.service_type),
        service_name=module.service_name,
        host=module.host,
        port=module.port,
        instance_id=module.instance_id,
        token=module.token,
        capabilities=Capabilities(
            fetch_endpoint=module.fetch_endpoint,
            download_endpoint=module.download_endpoint,
            sync_endpoint=module.sync_endpoint,
            supported_download_types=types,
        ),
        priority=module.priority,
    )
    return Service(
        module.module_id,
        registration,
        module.priority,
        bool(module.is_enabled),
        to_datetime(module.registered_at),
        to_datetime(module.last_seen_at),
        path_maps(conn, module.module_id),
        bool(module.tidies),
        optional_datetime(module.unreachable_since),
    )
