"""The scopes of keys and sessions: what a caller may do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kurabito.errors import InvalidInput


class Scope(StrEnum):
    """A right that a key carries."""

    READ = "read"
    """Look at everything but secrets."""
    WRITE = "write"
    """Change things, and work for the queue; reading is included."""
    MODULE = "module"
    """Speak for a registered service, and nothing else."""


_INCLUDED: Final = {Scope.WRITE: frozenset({Scope.READ})}


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request."""

    name: str
    scopes: frozenset[Scope]
    key_id: str | None = None
    """The key that was shown; None for the page's session."""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or any(scope in _INCLUDED.get(own, ()) for own in self.scopes)


def scopes_of(names: Iterable[str], *, field: str = "scopes") -> frozenset[Scope]:
    """The scopes of these names; at least one is needed."""
    given = list(names)
    known = ", ".join(Scope)
    if not given:
        raise InvalidInput(field, f"must name at least one of {known}")
    for name in given:
        if name not in {scope.value for scope in Scope}:
            raise InvalidInput(field, f"{name!r} is none of {known}")
    return frozenset(Scope(name) for name in given)
