"""Which names we answer to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

from kurabito.settings.values import is_address
from kurabito.site.errors import UnknownHost

# Whatever else stands in it would get into the addresses that we write.
_WITH_PORT: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]/@]*))(?::[0-9]{0,5})?")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Hosts:
    """The names in Host that are ours.

    A page of another site can let its own name lead to our address, and then talk to us as if we were that site. Its Host
    header gives it away.
    """

    def __init__(self, listens_on: str, others: Iterable[str] = ()) -> None:
        self._names = _LOOPBACK | {_name(listens_on)} | {_name(name) for name in others}
        self._any_address = _is_everywhere(listens_on)

    def check(self, host: str) -> None:
        """Refuse a Host header, with or without a port, that does not name us."""
        name = _name(host)
        # Listening everywhere, each address of this machine is ours. Only a name can be made to lead here by others.
        if name in self._names or (self._any_address and is_address(name)):
            return
        raise UnknownHost(f"this is not {host!r}: to reach Kurabito by that name, add it to KURABITO_ALLOWED_HOSTS")


def _name(host: str) -> str:
    """The name or address in `name:port`, `[::1]:port` or either without a port; a whole text that is none of these."""
    found = _WITH_PORT.fullmatch(host)
    return (host if found is None else found[1] or found[2] or "").lower()


def _is_everywhere(host: str) -> bool:
    return is_address(host) and ipaddress.ip_address(host).is_unspecified
