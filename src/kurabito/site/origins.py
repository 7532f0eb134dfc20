"""Which pages may send us requests: our own."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from kurabito.site.errors import ForeignOrigin

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OURS: Final = frozenset({"same-origin", "none"})
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


# Why there is no token in our forms. A forged request is one that a browser sends for another site's page, with our
# cookie. SameSite=Strict keeps the cookie out of every request that begins at another site. That leaves pages of the same
# site that are not ours (another port of this machine, another name of the domain) and old browsers; both send Origin with
# whatever changes something, and no page can alter or omit it. A program that is no browser can write any header, but has no
# cookie of another user to abuse.
def refuse_foreign(method: str, headers: Headers, host: str) -> None:
    """Refuse what a page of another site sends, if it changes something or is a stream that stays open."""
    if method in _SAFE and "text/event-stream" not in headers.get("accept", ""):
        return
    if headers.get("sec-fetch-site", "none") not in _OURS:
        raise ForeignOrigin("a page of another site sent this request; only pages of Kurabito itself may")
    origin = headers.get("origin")
    if origin is not None and not _is_at(origin, host):
        raise ForeignOrigin(
            f"a page of {origin} sent this request to {host}; if both are Kurabito, its proxy has to pass on the Host "
            "header as it is"
        )


def _is_at(origin: str, host: str) -> bool:
    """Whether an origin is the host; the scheme is left to SameSite, as a proxy may hide it from us."""
    try:
        scheme, name = urlsplit(origin)[:2]
    except ValueError:
        return False
    port = _DEFAULT_PORTS.get(scheme, "")
    return bool(name) and name.lower().removesuffix(port) == host.lower().removesuffix(port)
