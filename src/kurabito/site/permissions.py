"""What a request needs in order to pass: its path and method decide, so a new route is closed until it is named here."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers

from kurabito.access import Scope

_HEALTH: Final = "/health"
_LOGIN: Final = "/login"
_STATIC: Final = "/static/"
_ICON: Final = "/favicon.ico"
_SHARED: Final = "/shared/"
_MODULES: Final = frozenset({"/services/register", "/fetcher-results", "/raw-fetcher-results"})
_READING: Final = frozenset({"GET", "HEAD"})


def needed(method: str, path: str) -> Scope | None:
    """The scope that this request takes; None for a public route."""
    if path == _LOGIN or not greets(path):
        return None
    if path in _MODULES:
        return Scope.MODULE
    return Scope.READ if method in _READING else Scope.WRITE


def greets(path: str) -> bool:
    """Whether it matters who asks. Where it does not, the database is left alone: health has to tell when that is gone.

    Of a shared address the token in its path is all that counts.
    """
    return path != _HEALTH and not is_static(path) and not is_shared(path)


def is_shared(path: str) -> bool:
    """Whether this is below a shared address, whose path is a secret."""
    return path.startswith(_SHARED)


def is_static(path: str) -> bool:
    """Whether this is a file that came with the program: the same for every user, so caches may keep it."""
    return path.startswith(_STATIC) or path == _ICON


def is_page(method: str, path: str, headers: Headers) -> bool:
    """Whether a person waits for a page, and can be sent to another one."""
    return method in _READING and not path.startswith("/api/") and "text/html" in headers.get("accept", "")
