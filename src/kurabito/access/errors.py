"""The errors of keys, sessions and permissions."""

from __future__ import annotations

import math

from kurabito.errors import KurabitoError, NotFound


class AccessError(KurabitoError):
    """Something about keys, passwords or sessions could not be done."""

    code = "access"


class KeyNotFound(AccessError, NotFound):
    """No API key has that id."""

    code = "key_not_found"


class SharedAddressNotFound(AccessError, NotFound):
    """No shared address has that id or token."""

    code = "shared_address_not_found"


class NotAuthenticated(AccessError):
    """The caller has neither a session nor a valid key."""

    code = "not_authenticated"


class GuessedTooOften(AccessError):
    """Too many wrong keys came from one address."""

    code = "guessed_too_often"

    def __init__(self, seconds: float) -> None:
        self.seconds = math.ceil(seconds)
        super().__init__(
            f"too many wrong keys came from this address: try again in {self.seconds} s, with one that is good"
        )


class ScopeMissing(AccessError):
    """The caller is known, and may not do this."""

    code = "scope_missing"
