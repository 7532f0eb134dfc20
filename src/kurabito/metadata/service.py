"""Metadata records for the API and the pages: read, search and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kurabito.db import Connection, Database
from kurabito.errors import InvalidInput
from kurabito.metadata import records
from kurabito.metadata.lookup import look_up
from kurabito.metadata.records import Details, Metadata, RecordKind
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after


class MetadataService:
    """The metadata records of one database."""

    def __init__(self, database: Database, tmdb: TmdbClient) -> None:
        self._database = database
        self._tmdb = tmdb

    @property
    def asks_tmdb(self) -> bool:
        """Whether there is a key, so that TMDB can be asked."""
        return self._tmdb.is_on

    async def create(self, details: Details) -> Metadata:
        """Keep a record; raises InvalidInput or MetadataConflict, naming the field."""
        _check(details)
        return await self._database.write(lambda conn: records.add(conn, details))

    async def get(self, metadata_id: int) -> Metadata:
        """The record; raises MetadataNotFound."""
        return await self._database.read(lambda conn: records.find(conn, metadata_id))

    async def several(self, ids: Iterable[int]) -> dict[int, Metadata]:
        """Some records by their ids; those that are gone are left out."""
        return await self._database.read(lambda conn: records.several(conn, ids))

    async def search(
        self, *, contains: str | None = None, year: int | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Metadata]:
        """Records in the order in which they were made; only those with a text in a title, or of one year."""
        after = id_after(cursor)

        def look(conn: Connection) -> Page[Metadata]:
            found = records.page(conn, after=after, limit=limit + 1, contains=contains, year=year)
            return Page.cut(found, limit, lambda last: str(last.id))

        return await self._database.read(look)

    async def change(self, metadata_id: int, changes: Mapping[str, Any]) -> Metadata:
        """Change fields of `Details`; what is not named stays."""

        def work(conn: Connection) -> Metadata:
            changed = records.change(conn, metadata_id, changes)
            _check(changed.details)
            return changed

        return await self._database.write(work)

    async def delete(self, metadata_id: int) -> None:
        """Forget a record; raises MetadataNotFound."""
        await self._database.write(lambda conn: records.forget(conn, metadata_id))

    async def find_tmdb_id(self, title_japanese: str, year: int | None, kind: RecordKind = RecordKind.TV) -> int | None:
        """The id at TMDB of what has exactly this name and began about then; None when there is none, or more than one.

        Raises TmdbError when TMDB could not be asked, which says nothing about the name.
        """
        return (await look_up(self._tmdb, title_japanese, year, kind)).tmdb_id


def _check(details: Details) -> None:
    if not (details.title_japanese or details.title_chinese or details.title_english):
        raise InvalidInput("title_japanese", "a record needs a title, in Japanese, Chinese or English")
