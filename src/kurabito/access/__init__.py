"""Access: API keys for programs, a password and one-time links for the page, and limits on attempts.

And addresses that are shared with calendars and feed readers, which open nothing else.

passwords.py        the password of the page: one user, one password, from a file or hashed in the database
scopes.py           the scopes of keys and sessions: what a caller may do
sessions.py         sessions of the page, and the one-time links that begin one without a password
shared_addresses.py addresses that are shared with calendars and feed readers: a token in the path is all that one needs
tokens.py           secrets that we make ourselves: long enough that guessing is hopeless
reasons.py          why a password was refused
"""

from kurabito.access.keys import ApiKey, Keys, NewKey, is_guessable
from kurabito.access.limits import LoginLimit
from kurabito.access.passwords import Passwords
from kurabito.access.scopes import Principal, Scope
from kurabito.access.sessions import SESSION_COOKIE, Sessions
from kurabito.access.shared_addresses import NewSharedAddress, SharedAddress, SharedAddresses

__all__ = [
    "SESSION_COOKIE",
    "ApiKey",
    "Keys",
    "LoginLimit",
    "NewKey",
    "NewSharedAddress",
    "Passwords",
    "Principal",
    "Scope",
    "Sessions",
    "SharedAddress",
    "SharedAddresses",
    "is_guessable",
]
