"""A catalog in a real database of each kind, and a feed that is followed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.record import give_record
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.identity.service import Questions
from kurabito.catalog.intake import CatalogIntake
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.title_rules import TitleRules
from kurabito.clock import ManualClock
from kurabito.db import Connection, Database, Dialect, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.feeds.results import FeedItem, FetcherResults, Receipt

SUBSCRIBE = (
    "INSERT INTO subscriptions (name, url, series_id, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES (:url, :url, :series_id, :new_series, :start_with, 1000000, :now, :now) RETURNING id"
)


TABLES = (
    *("anime_links", "identity_rulings", "corrections", "identity_questions", "episodes", "series_aliases"),
    *("raw_anime_items", "subscriptions", "series", "groups", "offline_titles", "offline_entries"),
    *("placements", "library_files", "library_roots", "metadata"),
)


class Taken:
    """Stands where dispatch will stand, and remembers what it was given."""

    def __init__(self) -> None:
        self.ids: list[int] = []

    def accept(self, conn: Connection, link_ids: Sequence[int]) -> None:
        # In the transaction that made them: they can be read here already.
        assert conn.one("SELECT count(*) FROM anime_links WHERE id >= :first", {"first": min(link_ids)}) != (0,)
        self.ids += link_ids

    def restate(self, conn: Connection, episode_ids: Collection[int]) -> None:
        assert all(conn.one("SELECT 1 FROM episodes WHERE id = :id", {"id": one}) for one in episode_ids)


@dataclass
class Desk:
    """The catalog and everything around it."""

    database: Database
    clock: ManualClock
    taken: Taken = field(default_factory=Taken)

    def __post_init__(self) -> None:
        self.intake = CatalogIntake(self.database, self.taken)
        self.catalog = Catalog(self.database, self.taken)
        self.rules = TitleRules(self.database, self.intake)
        self.corrections = Corrections(self.database, self.taken)
        self.questions = Questions(self.database, self.taken)

    def subscribe(self, url: str = "https://feeds.example/rss", *, series_id: int | None = None, **options: str) -> int:
        values = {"url": url, "series_id": series_id, "new_series": "add", "start_with": "missing", **options}
        row = self.database.write_blocking(lambda conn: conn.one(SUBSCRIBE, values))
        assert row is not None
        return int(row[0])

    async def give_record(self, series_id: int, metadata_id: int) -> None:
        """Say which record a series has."""

        def store(conn: Connection) -> None:
            lock_catalog(conn)
            give_record(conn, series_id, metadata_id)

        await self.database.write(store)

    async def bring(self, subscription_id: int, *items: FeedItem, **how: Any) -> Receipt:
        return await self.intake.receive(FetcherResults(subscription_id=subscription_id, items=items, **how))

    def all(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.database.read_blocking(lambda conn: conn.all(sql, values))

    def clear(self) -> None:
        """Forget everything; ids begin at one again."""
        self.taken.ids.clear()

        def forget(conn: Connection) -> None:
            for table in ("downloads", *TABLES):
                conn.run(f"DELETE FROM {table}")
                if conn.dialect is Dialect.SQLITE:
                    conn.run("DELETE FROM sqlite_sequence WHERE name = :name", {"name": table})
                elif table not in ("series_aliases", "offline_titles", "offline_entries"):
                    conn.run(f"ALTER TABLE {table} ALTER COLUMN id RESTART WITH 1")

        self.database.write_blocking(forget)

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that a batch can write, but the subscription."""
        tables = ("raw_anime_items", "series", "series_aliases", "episodes", "groups", "anime_links")
        return {table: self.all(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables}


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    clock = ManualClock()
    database = open_database(url, clock=clock)
    database.open()
    migrate(database, PRODUCT)
    yield Desk(database, clock)
    database.close()


@pytest.fixture(scope="module")
def kept_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('kept')}/kept.db", clock=ManualClock())
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


@pytest.fixture
def kept_desk(kept_database: Database) -> Desk:
    """A catalog with nothing in it, for a long table of cases: its database is made once."""
    emptied = Desk(kept_database, ManualClock())
    emptied.clear()
    return emptied


@pytest.fixture
def clean_desk(desk: Desk) -> Desk:
    """A catalog that a test empties between its examples."""
    return desk
