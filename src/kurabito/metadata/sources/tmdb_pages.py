"""The pages of TMDB's lists that were read today, kept on disk: what was read once is not asked for again."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.db import Connection, Database, Queries
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.tmdb_titles import Title

KEPT_FOR: Final = 24 * 3600 * SECOND
_SQL: Final = Queries("kurabito.metadata.sources", "tmdb_pages.sql")
_FIRST: Final = 1


class YearPage(NamedTuple):
    """One page of what began in a year."""

    page: int
    pages: int
    """How many there were when it was read."""
    titles: tuple[Title, ...]
    read_at: int


class TmdbPages:
    """The pages in one database; without a database none is kept."""

    def __init__(self, database: Database | None = None) -> None:
        self._database = database

    async def fresh(self, kind: TmdbKind, year: int) -> dict[int, YearPage]:
        """The pages of a year that are not a day old, by their numbers."""
        if self._database is None:
            return {}
        return await self._database.read(lambda conn: _fresh(conn, kind, year))

    async def keep(self, kind: TmdbKind, year: int, page: YearPage) -> None:
        """Keep a page for a day. A first page begins a list, and with it the lists of days past are forgotten."""
        if self._database is not None:
            await self._database.write(lambda conn: _keep(conn, kind, year, page))


def _fresh(conn: Connection, kind: TmdbKind, year: int) -> dict[int, YearPage]:
    rows = conn.all(_SQL.fresh, {"kind": kind, "year": year, "kept_for": KEPT_FOR})
    return {
        page: YearPage(page, pages, tuple(Title(one[0], kind, *one[1:]) for one in json.loads(titles)), read_at)
        for page, pages, titles, read_at in rows
    }


def _keep(conn: Connection, kind: TmdbKind, year: int, page: YearPage) -> None:
    if page.page == _FIRST:
        conn.run(_SQL.forget_old, {"kept_for": KEPT_FOR})
    titles = [(title.id, *title[2:]) for title in page.titles]
    conn.run(
        _SQL.keep,
        {
            "kind": kind,
            "year": year,
            "page": page.page,
            "pages": page.pages,
            "titles": json.dumps(titles, ensure_ascii=False).replace("\\u0000", ""),
        },
    )
