"""Sessions of the page, and the one-time links that begin one without a password."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.access.scopes import Principal, Scope
from kurabito.access.tokens import digest, new_token
from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.queries import Query

SESSION_COOKIE: Final = "kurabito_session"
"""The cookie that carries a session's token."""
LIFETIME: Final = 30 * 86_400
"""Seconds that a session lasts after it was last used."""
_LINK_LIFETIME: Final = 86_400
_PROLONG_EVERY: Final = 3600 * SECOND
_SQL: Final = Queries("kurabito.access", "access.sql")
_SHOWN: Final = 16
_ID: Final = re.compile("[0-9a-f]{16}")
_KEEPER: Final = Principal("keeper", frozenset({Scope.READ, Scope.WRITE}))


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A browser that is logged in, as its owner sees it."""

    id: str
    """The beginning of what is stored of its token: enough to name it, and of no use to log in."""
    created_at: datetime
    seen_at: datetime
    """To the hour."""


class Sessions:
    """Who is logged in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> str:
        """Begin a session; the token that its cookie carries."""
        return await self._hand_out(_SQL.open_session, LIFETIME, before=_SQL.forget_expired)

    async def holder(self, token: str) -> Principal | None:
        """Who has this session; None when it is over or never was."""
        hashed = digest(token)

        def look(conn: Connection) -> tuple[int | None, int]:
            return conn.value(_SQL.session, {"token_hash": hashed}), conn.now()

        seen_at, now = await self._database.read(look)
        if seen_at is None:
            return None
        if seen_at < now - _PROLONG_EVERY:
            values = {"token_hash": hashed, "lifetime": LIFETIME * SECOND}
            await self._database.write(lambda conn: conn.run(_SQL.prolong_session, values))
        return _KEEPER

    async def close(self, token: str) -> None:
        """End a session."""
        await self._database.write(lambda conn: conn.run(_SQL.close_session, {"token_hash": digest(token)}))

    async def all(self) -> list[OpenSession]:
        """Every session that is open, the one that was used last first."""
        rows = await self._database.read(lambda conn: conn.all(_SQL.sessions))
        return [OpenSession(_id_of(hashed), to_datetime(created), to_datetime(seen)) for hashed, created, seen in rows]

    async def end(self, session_id: str) -> None:
        """End the session of this id; one that is over already is none."""
        if _ID.fullmatch(session_id):
            await self._database.write(lambda conn: conn.run(_SQL.end_session, {"id": session_id}))

    async def end_others(self, token: str) -> int:
        """End every session but this one; says how many."""
        values = {"token_hash": digest(token)}
        return await self._database.write(lambda conn: conn.run(_SQL.close_other_sessions, values))

    async def forget_expired(self) -> int:
        """Delete sessions and links that are over; says how many."""
        return await self._database.write(
            lambda conn: conn.run(_SQL.forget_expired) + conn.run(_SQL.forget_expired_links)
        )

    async def new_link(self) -> str:
        """A token that begins one session, once, within a day."""
        return await self._hand_out(_SQL.add_link, _LINK_LIFETIME, before=_SQL.forget_expired_links)

    async def redeem(self, link: str) -> str | None:
        """Begin a session with a link's token; None when it was used, is too old or never was."""
        values = {"token_hash": digest(link)}
        # Strangers may ask for as many links as they like, and must not keep the writer busy with them.
        if await self._database.read(lambda conn: conn.one(_SQL.link, values)) is None:
            return None
        # Deleted and not marked: of two who come at once only one finds it.
        used = await self._database.write(lambda conn: conn.run(_SQL.redeem_link, values))
        return await self.open() if used else None

    async def _hand_out(self, add: Query, lifetime: int, *, before: Query) -> str:
        """A new token, stored as its digest for so many seconds; what expired is deleted first."""
        token = new_token()
        values = {"token_hash": digest(token), "lifetime": lifetime * SECOND}

        def store(conn: Connection) -> None:
            conn.run(before)
            conn.run(add, values)

        await self._database.write(store)
        return token


def session_id(token: str) -> str:
    """The id of the session that has this token."""
    return _id_of(digest(token))


def _id_of(hashed: str) -> str:
    return hashed[:_SHOWN]
