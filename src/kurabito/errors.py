"""The trunk of the tree of errors: what Kurabito raises on purpose.

Each package has its branch in its own `errors.py`; `docs/reference/errors.md` draws the whole tree. What is here is known to
packages that do not know each other.

Each message says what happened, to what, and what to do. `code` is stable and is what an interface translates. How HTTP calls
an error is for `kurabito.site.errors` to say.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kurabito.reasons import Reason


class KurabitoError(Exception):
    """The root of every error that Kurabito raises on purpose."""

    code: ClassVar[str] = "error"


class InvalidInput(KurabitoError, ValueError):
    """A value was refused before anything was written; the message names the field."""

    code = "invalid_input"

    def __init__(self, field: str, problem: str, reason: Reason[Any] | None = None) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
        self.reason = reason
        """The problem for the page, which says it in the reader's language; what no form can send has none."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, str, Reason[Any] | None]]:
        return type(self), (self.field, self.problem, self.reason)


class PayloadTooLarge(InvalidInput):
    """A payload or a result is larger than the queue stores, or a request larger than is read."""

    code = "payload_too_large"


class NotFound(KurabitoError, LookupError):
    """Nothing has that id, key or name."""

    code = "not_found"


class StateConflict(KurabitoError):
    """The present state does not allow it; nothing was changed. Where a value is in the way, `field` names it."""

    code = "conflict"

    def __init__(self, problem: str, *, field: str | None = None, reason: Reason[Any] | None = None) -> None:
        super().__init__(problem if field is None else f"{field}: {problem}")
        self.field = field
        self.problem = problem
        self.reason = reason


class LeaseLost(StateConflict):
    """The worker's lease was taken over or ended, so its write changed nothing."""

    code = "lease_lost"


class ConfigError(KurabitoError):
    """A setting has a value that cannot be used."""

    code = "config"


class MissingExtra(ConfigError):
    """What was asked for needs packages that were not installed."""

    code = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed; run: pip install 'kurabito[{extra}]'")


class DatabaseError(KurabitoError):
    """The database could not do what was asked."""

    code = "database"


class DatabaseUnavailable(DatabaseError):
    """The database cannot be opened or reached."""

    code = "database_unavailable"
