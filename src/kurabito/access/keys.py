"""API keys: shown once when they are made, hashed at rest, revocable."""

from __future__ import annotations

import hmac
import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.access.errors import KeyNotFound
from kurabito.access.scopes import Principal, Scope, scopes_of
from kurabito.access.tokens import digest, new_token
from kurabito.clock import SECOND, from_datetime, optional_datetime, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused

SETTINGS_KEY: Final = "settings"
"""What the key of the settings has in the place of an id."""
_PREFIX: Final = "kura"
_LONGEST_NAME: Final = 100
_NAME: Final = refused(InputReason.TEXT, most=_LONGEST_NAME)
_NOTE_USE_EVERY: Final = 60 * SECOND
_ID: Final = re.compile("[0-9a-f]{8}")
_MADE: Final = re.compile(rf"{_PREFIX}_[0-9a-f]{{8}}_[\w-]{{43}}", re.ASCII)
_SHORTEST: Final = 20
_FEWEST_CHARACTERS: Final = 8
_CONTROL: Final = frozenset({"Cc", "Cs"})
_SQL: Final = Queries("kurabito.access", "access.sql")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as its owner sees it later: everything but the secret."""

    id: str
    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key in the moment it is made."""

    key: ApiKey
    secret: str
    """Send it as X-Api-Key. It is not stored and cannot be shown again."""


def is_guessable(key: str) -> bool:
    """Whether a key that a person chose is so short or so uniform that trying keys may find it."""
    return len(key) < _SHORTEST or len(set(key)) < _FEWEST_CHARACTERS


class Keys:
    """The keys of programs. `fixed` is one from the settings, accepted as it is."""

    def __init__(self, database: Database, *, fixed: str | None = None) -> None:
        self._database = database
        self._fixed = fixed

    async def create(self, name: str, scopes: Iterable[str]) -> NewKey:
        """Make a key with a name that its owner will recognise."""
        check_name(name)
        wanted = scopes_of(scopes)
        key_id, token = secrets.token_hex(4), new_token()
        secret = f"{_PREFIX}_{key_id}_{token}"
        values = {
            "id": key_id,
            "name": name.strip(),
            "scopes": ",".join(sorted(wanted)),
            "secret_hash": digest(secret),
        }

        def store(conn: Connection) -> ApiKey:
            conn.run(_SQL.add_key, values)
            row = conn.one(_SQL.key, {"id": key_id})
            assert row is not None
            return _key_of(row)

        return NewKey(await self._database.write(store), secret)

    async def all(self) -> list[ApiKey]:
        """Every key, the newest first, revoked ones included."""
        return [_key_of(row) for row in await self._database.read(lambda conn: conn.all(_SQL.keys))]

    async def revoke(self, key_id: str) -> ApiKey:
        """Have the key refused from now on."""

        def work(conn: Connection) -> Row | None:
            conn.run(_SQL.revoke_key, {"id": key_id})
            return conn.one(_SQL.key, {"id": key_id})

        # PostgreSQL cannot even be asked about some texts.
        row = await self._database.write(work) if _ID.fullmatch(key_id) else None
        if row is None:
            raise KeyNotFound(f"no key has the id {key_id!r}; `kurabito key list` shows them")
        return _key_of(row)

    async def holder(self, secret: str, *, may_guess: bool = True) -> Principal | None:
        """The holder of this secret; None when it is not valid. Unless one `may_guess`, a key that can be guessed is not taken."""
        hashed = digest(secret)
        fixed = self._fixed if may_guess or not is_guessable(self._fixed or "") else None
        if fixed is not None and hmac.compare_digest(hashed, digest(fixed)):
            return Principal("KURABITO_API_KEY", frozenset(Scope), SETTINGS_KEY)
        if not _MADE.fullmatch(secret):
            # Not made by us, so the database need not be asked. Nothing happens between one guess and the next.
            return None

        def look(conn: Connection) -> tuple[ApiKey, bool] | None:
            row = conn.one(_SQL.key_with_secret, {"secret_hash": hashed})
            if row is None:
                return None
            key = _key_of(row)
            return key, is_use_to_note(key.last_used_at, conn.now())

        found = await self._database.read(look)
        if found is None:
            return None
        key, stale = found
        if stale:
            await self._database.write(lambda conn: conn.run(_SQL.note_use, {"id": key.id}))
        return Principal(key.name, key.scopes, key.id)


def is_use_to_note(last_used_at: datetime | None, now: int) -> bool:
    """Whether the use of a secret is written down: to the minute, so that reading does not write each time."""
    return last_used_at is None or from_datetime(last_used_at) < now - _NOTE_USE_EVERY


def check_name(name: str) -> None:
    """Raises InvalidInput unless a secret may have this name."""
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise InvalidInput("name", f"must have 1 to {_LONGEST_NAME} characters", _NAME)
    if any(unicodedata.category(char) in _CONTROL for char in name):
        raise InvalidInput("name", "must not have control characters or halves of characters", _NAME)


def _key_of(row: Row) -> ApiKey:
    key_id, name, scopes, created_at, last_used_at, revoked_at = row
    return ApiKey(
        key_id,
        name,
        frozenset(Scope(scope) for scope in scopes.split(",")),
        to_datetime(created_at),
        optional_datetime(last_used_at),
        optional_datetime(revoked_at),
    )
