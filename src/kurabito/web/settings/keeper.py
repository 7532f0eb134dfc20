"""What only the keeper may do, logged in on the page: passwords, sessions, and backups, which have every secret in them."""

from __future__ import annotations

from starlette.requests import Request

from kurabito.access.errors import ScopeMissing
from kurabito.web.pages import principal_of


def keeper_only(request: Request) -> None:
    """Raises ScopeMissing for a program with a key, whatever its scopes: it must not become its keeper."""
    principal = principal_of(request)
    if principal is None or principal.key_id is not None:
        raise ScopeMissing("only a person who is logged in on the page may do this, not a key")
