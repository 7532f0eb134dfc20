"""A module is its name, its type and its key: no key speaks for two, and no other key takes one over.

the first registration binds the key ─► later ones, and results, are taken from that key only ─► revoking sets it free
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.http.addresses import is_local_name, literal, normal, unmapped
from kurabito.http.errors import HostNotAllowed
from kurabito.http.guard import Trusted
from kurabito.modules.errors import KeyOfAnotherModule
from kurabito.modules.services import Registration, ServiceType

RESERVED: Final = "built-in"
"""What the downloader and the fetcher inside Kurabito are called."""
_HOW_TO_ALLOW: Final = "if that is meant, add it to KURABITO_ALLOW_PRIVATE_HOSTS and start Kurabito again"
_SQL: Final = Queries("kurabito.modules", "identities.sql")


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request that speaks for a module."""

    address: str
    """Where the request came from."""
    key_id: str | None
    """None for the key of the settings, which is its owner's own and may speak for any module."""
    key_name: str = ""


class ModuleIdentity(NamedTuple):
    """The module that a key speaks for."""

    service_type: ServiceType
    service_name: str


def is_reserved(name: str) -> bool:
    """Whether only Kurabito itself may have this name, however it is spelt."""
    return unicodedata.normalize("NFKC", name).strip().casefold() == RESERVED


def check_name(registration: Registration) -> None:
    """Raises InvalidInput for the name of what is inside Kurabito."""
    if is_reserved(registration.service_name):
        raise InvalidInput("service_name", f"{RESERVED} is the name of what is inside Kurabito; choose another")


def check_host(host: str, caller: Caller, allowed: Trusted) -> None:
    """Raises HostNotAllowed for a host that is neither where the module calls from nor allowed by the settings.

    The core sends requests there, with what the module chose: without this, a key could have it call any machine.
    """
    host = normal(host)
    if allowed.has_host(host):
        return
    address, origin = literal(host), literal(caller.address)
    if address is None:
        if host == "localhost" and origin is not None and origin.is_loopback:
            return
        kind = "a name of a local network" if is_local_name(host) else "a name, which may lead anywhere"
        raise HostNotAllowed(
            f"the core does not call {host}: it is {kind}; {_HOW_TO_ALLOW}, or register by address", host
        )
    address = unmapped(address)
    if address.is_link_local:
        raise HostNotAllowed(f"the core does not call {host}: it is a link-local address; {_HOW_TO_ALLOW}", host)
    if origin is None or (address != unmapped(origin) and not (address.is_loopback and unmapped(origin).is_loopback)):
        raise HostNotAllowed(
            f"the core does not call {host}: the module registers from {caller.address or 'an unknown address'}, and that is "
            f"another one; {_HOW_TO_ALLOW}",
            host,
        )


def claim(conn: Connection, caller: Caller, registration: Registration) -> None:
    """Bind a key to the module that it registers; raises KeyOfAnotherModule."""
    if caller.key_id is None:
        return
    wanted = ModuleIdentity(registration.service_type, registration.service_name)
    own = of_key(conn, caller.key_id)
    if own is not None and own != wanted:
        raise KeyOfAnotherModule(
            f"the key {caller.key_name!r} belongs to the {own.service_type} {own.service_name!r} and registers no other module; "
            f"make one for this: kurabito key create {wanted.service_name} --scope module"
        )
    module = {"service_type": wanted.service_type.value, "service_name": wanted.service_name}
    if (other := conn.one(_SQL.other_key, {**module, "key_id": caller.key_id})) is not None:
        key_id, name = other
        raise KeyOfAnotherModule(
            f"the {wanted.service_type} {wanted.service_name!r} belongs to another key, {name!r}; register with that one, or "
            f"give it up first: kurabito key revoke {key_id}"
        )
    if own is None:
        conn.run(_SQL.bind, {**module, "key_id": caller.key_id})


def of_key(conn: Connection, key_id: str) -> ModuleIdentity | None:
    """The module that a key speaks for; None for one that has registered none."""
    rows = conn.all(_SQL.of_key, {"key_id": key_id})
    return next((ModuleIdentity(ServiceType(service_type), name) for service_type, name in rows), None)


def allowed_hosts(entries: Iterable[str]) -> Trusted:
    """The hosts at which modules may be, as the settings name them."""
    return Trusted.parse(entries)
