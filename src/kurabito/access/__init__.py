"""Access: API keys for programs, a password and one-time links for the page, and limits on attempts."""

from kurabito.access.keys import ApiKey, Keys, NewKey, is_guessable
from kurabito.access.limits import LoginLimit
from kurabito.access.passwords import Passwords
from kurabito.access.scopes import Principal, Scope
from kurabito.access.sessions import SESSION_COOKIE, Sessions

__all__ = [
    "SESSION_COOKIE",
    "ApiKey",
    "Keys",
    "LoginLimit",
    "NewKey",
    "Passwords",
    "Principal",
    "Scope",
    "Sessions",
    "is_guessable",
]
