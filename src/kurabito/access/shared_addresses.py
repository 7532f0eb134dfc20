"""Addresses that are shared with calendars and feed readers: a token in the path is all that one needs, and it opens little."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.access.errors import SharedAddressNotFound
from kurabito.access.keys import check_name, is_use_to_note
from kurabito.access.tokens import digest, new_token
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList

CALENDAR_PATH: Final = "/shared/{token}/calendar.ics"
ARRIVALS_PATH: Final = "/shared/{token}/arrivals.rss"
_ID: Final = re.compile("[0-9a-f]{8}")
_TOKEN: Final = re.compile(r"[\w-]{43}", re.ASCII)
_COLUMNS: Final = ColumnList("id, name, created_at, renewed_at, last_used_at, revoked_at")
_SQL: Final = Queries("kurabito.access", "shared_addresses.sql", address=_COLUMNS)


@dataclass(frozen=True, slots=True)
class SharedAddress:
    """An address as its owner sees it later: everything but the token."""

    id: str
    name: str
    created_at: datetime
    renewed_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewSharedAddress:
    """An address in the moment it is made or renewed."""

    address: SharedAddress
    token: str
    """It stands in the path. It is not stored and cannot be shown again."""

    @property
    def calendar_path(self) -> str:
        """Where the calendar is, below the address of the site."""
        return CALENDAR_PATH.format(token=self.token)

    @property
    def arrivals_path(self) -> str:
        """Where the feed of what arrived is."""
        return ARRIVALS_PATH.format(token=self.token)


class SharedAddresses:
    """The shared addresses of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str) -> NewSharedAddress:
        """Make an address with a name that its owner will recognise."""
        check_name(name)
        address_id, token = secrets.token_hex(4), new_token()
        values = {"id": address_id, "name": name.strip(), "token_hash": digest(token)}

        def store(conn: Connection) -> SharedAddress:
            conn.run(_SQL.add, values)
            return _find(conn, address_id)

        return NewSharedAddress(await self._database.write(store), token)

    async def all(self) -> list[SharedAddress]:
        """Every address, the newest first, revoked ones included."""
        return [_address(row) for row in await self._database.read(lambda conn: conn.all(_SQL.addresses))]

    async def renew(self, address_id: str) -> NewSharedAddress:
        """Give it a new token; the old one is refused from now on. A revoked address is good again then."""
        token = new_token()

        def write(conn: Connection) -> SharedAddress:
            _find(conn, address_id)
            conn.run(_SQL.renew, {"id": address_id, "token_hash": digest(token)})
            return _find(conn, address_id)

        return NewSharedAddress(await self._database.write(write), token)

    async def revoke(self, address_id: str) -> SharedAddress:
        """Have it refused from now on."""

        def write(conn: Connection) -> SharedAddress:
            _find(conn, address_id)
            conn.run(_SQL.revoke, {"id": address_id})
            return _find(conn, address_id)

        return await self._database.write(write)

    async def holder(self, token: str) -> SharedAddress | None:
        """The address with this token; None when it is not good."""
        if not _TOKEN.fullmatch(token):
            return None

        row, now = await self._database.read(
            lambda conn: (conn.one(_SQL.with_token, {"token_hash": digest(token)}), conn.now())
        )
        if row is None:
            return None
        address = _address(row)
        if is_use_to_note(address.last_used_at, now):
            await self._database.write(lambda conn: conn.run(_SQL.note_use, {"id": address.id}))
        return address


def _find(conn: Connection, address_id: str) -> SharedAddress:
    # PostgreSQL cannot even be asked about some texts.
    row = conn.one(_SQL.one, {"id": address_id}) if _ID.fullmatch(address_id) else None
    if row is None:
        raise SharedAddressNotFound(
            f"no shared address has the id {address_id!r}; `kurabito address list` shows those there are"
        )
    return _address(row)


def _address(row: Row) -> SharedAddress:
    of = _COLUMNS.row(row)
    moments = (of.renewed_at, of.last_used_at, of.revoked_at)
    return SharedAddress(of.id, of.name, to_datetime(of.created_at), *(optional_datetime(one) for one in moments))
