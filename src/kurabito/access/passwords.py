"""The password of the page: one user, one password, from a file or hashed in the database."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Final

from kurabito.access.reasons import SecurityReason
from kurabito.access.tokens import digest
from kurabito.db import Connection, Database, Queries
from kurabito.errors import ConfigError, InvalidInput
from kurabito.reasons import Reason

KEEPER: Final = "keeper"
"""The one user there is."""

_SHORTEST: Final = 8
_LONGEST: Final = 1000
# About 50 ms and 32 MiB for each guess.
_COST: Final = (2**15, 8, 1)
_SQL: Final = Queries("kurabito.access", "access.sql")


class Passwords:
    """Sets and checks the password. A file from the settings goes before what the database has."""

    def __init__(self, database: Database, *, file: Path | None = None) -> None:
        self._database = database
        self._file = file

    async def is_set(self) -> bool:
        """Whether one can log in by password at all."""
        return await asyncio.to_thread(self._from_file) is not None or await self._stored() is not None

    @property
    def is_locked(self) -> bool:
        """Whether a file from the settings has it, so that it cannot be changed here."""
        return self._file is not None

    async def set(self, password: str) -> None:
        """Replace the password; every session and link ends with the old one."""
        check_password(password)
        hashed = await asyncio.to_thread(hash_password, password)

        def store(conn: Connection) -> None:
            conn.run(_SQL.set_password, {"user_name": KEEPER, "hash": hashed})
            conn.run(_SQL.close_sessions)
            conn.run(_SQL.close_links)

        await self._database.write(store)

    async def fits(self, password: str) -> bool:
        """Whether this is the password. It takes as long when there is none."""
        wanted = await asyncio.to_thread(self._from_file)
        if wanted is not None:
            return hmac.compare_digest(digest(wanted), digest(password))
        stored = await self._stored()
        fits = await asyncio.to_thread(verify_password, password, stored or _NOBODYS)
        return fits and stored is not None

    async def _stored(self) -> str | None:
        stored: str | None = await self._database.read(lambda conn: conn.value(_SQL.password, {"user_name": KEEPER}))
        return stored

    def _from_file(self) -> str | None:
        if self._file is None:
            return None
        try:
            password = self._file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise ConfigError(f"the password file {self._file} cannot be read: {problem}") from None
        if not password:
            raise ConfigError(f"the password file {self._file} is empty: write a password into it")
        return password


def check_password(password: str) -> None:
    """Refuse what is too short to be safe or too long to be a password."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        problem = f"must have {_SHORTEST} to {_LONGEST} characters"
        raise InvalidInput("password", problem, Reason(SecurityReason.TOO_SHORT))


def hash_password(password: str) -> str:
    """The password as it is stored: scrypt with its cost and a salt."""
    salt = secrets.token_bytes(16)
    parts = (*_COST, _text(salt), _text(_scrypt(password, salt, *_COST)))
    return "$".join(["scrypt", *map(str, parts)])


def verify_password(password: str, stored: str) -> bool:
    """Whether the password is the stored one."""
    kind, n, r, p, salt, hashed = stored.split("$")
    if kind != "scrypt":
        raise AssertionError(f"a stored password is hashed with {kind}")
    found = _scrypt(password, base64.b64decode(salt), int(n), int(r), int(p))
    return hmac.compare_digest(found, base64.b64decode(hashed))


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=256 * n * r)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Checked when there is no password, so that an answer's time does not tell whether there is one.
_NOBODYS: Final = "$".join(["scrypt", *map(str, _COST), _text(bytes(16)), _text(bytes(64))])
