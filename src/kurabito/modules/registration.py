"""What a program asks of the services: register, change, remove."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, Protocol

from kurabito.db import Connection, Database
from kurabito.errors import InvalidInput
from kurabito.modules import identities, services
from kurabito.modules.download_types import DownloadType
from kurabito.modules.errors import ModuleConflict
from kurabito.modules.identities import Caller
from kurabito.modules.path_maps import PathMap, check_path_maps
from kurabito.modules.service_client import ServiceCalls
from kurabito.modules.services import Registration, Service
from kurabito.reasons import InputReason, refused
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after

PRIORITIES: Final = (-1000, 1000)
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*", re.IGNORECASE)
_PATH: Final = re.compile(r"/(?!/)[!-~]{0,500}")
_NOT_IN_PATH: Final = re.compile(r"[?#@\\]")


class RegistrationListener(Protocol):
    """Hears of services that register."""

    def on_registered(self, conn: Connection, service: Service) -> None:
        """A service registered, for the first time or again: in the transaction that stores it."""
        ...


class Services:
    """The services of one database. `hosts` are those that its keeper allows beside where a module calls from."""

    def __init__(
        self,
        database: Database,
        calls: ServiceCalls,
        listener: RegistrationListener | None = None,
        *,
        hosts: Iterable[str] = (),
    ) -> None:
        self._database = database
        self._calls = calls
        self._listener = listener
        self._allowed = identities.allowed_hosts(hosts)

    async def register(self, registration: Registration, caller: Caller | None = None) -> Service:
        """Take a service in, or take in what is new about it. Without a caller it is a part of this process.

        Raises InvalidInput, HostNotAllowed, KeyOfAnotherModule or ModuleConflict.
        """
        _check(registration)
        if caller is not None:
            identities.check_name(registration)
            identities.check_host(registration.host, caller, self._allowed)
        while True:
            known = await self._database.read(
                lambda conn: services.named(conn, registration.service_type, registration.service_name)
            )
            # Asked before the transaction: a host that is slow must not keep others from writing.
            if known is not None and _is_another(known, registration) and await self._calls.answers(known):
                raise ModuleConflict(
                    f"another {registration.service_type} is called {registration.service_name!r} and answers at "
                    f"{known.url('')}; stop that one, or give this one another name"
                )
            seen = None if known is None else known.registration.instance_id
            stored = await self._database.write(
                partial(self._store, registration=registration, seen=seen, caller=caller)
            )
            if stored is not None:
                return stored

    async def of_key(self, key_id: str) -> Service | None:
        """The service that a key speaks for, if it registered one."""

        def look(conn: Connection) -> Service | None:
            own = identities.of_key(conn, key_id)
            return None if own is None else services.named(conn, *own)

        return await self._database.read(look)

    async def get(self, module_id: int) -> Service:
        """The service; raises ModuleNotFound."""
        return await self._database.read(lambda conn: services.find(conn, module_id))

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[Service]:
        """Services in the order in which they first came."""
        after = id_after(cursor, services.BIGGEST_MODULE_ID)
        found = await self._database.read(lambda conn: services.page(conn, after, limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def able_to(self, download_type: DownloadType) -> list[Service]:
        """The downloaders that can take this and are switched on, the one to ask first at the front."""
        return await self._database.read(lambda conn: services.able(conn, download_type))

    async def change(
        self,
        module_id: int,
        *,
        priority: int | None = None,
        is_enabled: bool | None = None,
        tidies: bool | None = None,
        path_maps: Sequence[PathMap] | None = None,
    ) -> Service:
        """What the user decides stays, also when the service registers again; raises ModuleNotFound or InvalidInput."""
        if priority is not None and not PRIORITIES[0] <= priority <= PRIORITIES[1]:
            least, most = PRIORITIES
            problem = f"must be from {least} to {most}, got {priority}"
            raise InvalidInput("priority", problem, refused(InputReason.NUMBER, least=least, most=most))
        check_path_maps(path_maps or ())
        return await self._database.write(
            lambda conn: services.change(
                conn, module_id, priority=priority, is_enabled=is_enabled, tidies=tidies, maps=path_maps
            )
        )

    async def remove(self, module_id: int) -> None:
        """Forget a service. One that lives comes back when it registers again."""
        await self._database.write(lambda conn: services.remove(conn, module_id))

    def _store(
        self, conn: Connection, registration: Registration, seen: str | None, caller: Caller | None
    ) -> Service | None:
        stored = services.register(conn, registration, seen)
        if stored is not None and caller is not None:
            # After the row is ours: of two keys that come at once, the second one finds the first.
            identities.claim(conn, caller, registration)
        if stored is not None and self._listener is not None:
            self._listener.on_registered(conn, stored)
        return stored


def _is_another(known: Service, registration: Registration) -> bool:
    """Whether this is a second process, and not the first one after a restart."""
    old = known.registration
    # At the same address only the process that registers now can answer.
    same_address = (old.host, old.port) == (registration.host, registration.port)
    return old.instance_id != registration.instance_id and not same_address


def _check(registration: Registration) -> None:
    check_host(registration.host)
    if not 1 <= registration.port <= 65_535:
        raise InvalidInput("port", f"must be from 1 to 65535, got {registration.port}")
    for field in ("service_name", "instance_id", "token"):
        text = getattr(registration, field)
        if not text.strip() or len(text) > 200 or not text.isprintable():
            raise InvalidInput(field, "must be a text of 1 to 200 characters that can be seen")
    if not registration.token.isascii():
        # It is sent as a header.
        raise InvalidInput("token", "must be of ASCII characters")
    for field in ("fetch_endpoint", "download_endpoint", "sync_endpoint"):
        path = getattr(registration.capabilities, field)
        if path is not None and (not _PATH.fullmatch(path) or _NOT_IN_PATH.search(path)):
            raise InvalidInput(field, f"must be a path on the service itself, like /fetch, got {path!r}")


def check_host(host: str) -> None:
    """Raises InvalidInput unless a service can be at this host."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if not _NAME.fullmatch(host) or len(host) > 253:
            raise InvalidInput("host", f"must be a host name or an address, got {host!r}") from None
