"""Whoever takes results in may be killed at any moment: after the sender's next try nothing is lost and nothing is doubled."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import spoken_to

from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT

PROGRAM = Path(__file__).parent / "intake_program.py"
# More than a batch has: the last ones are never reached, and the batch is then taken in.
MOMENTS = 120
NAMELESS = "[1080p]"
SUBSCRIBE = (
    "INSERT INTO subscriptions (id, name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES (:id, 'feed', :url, 'add', 'missing', 1, :now, :now)"
)
LINKS = (
    "SELECT series.title, series.season, episode.number, link.release_key FROM anime_links AS link "
    "JOIN series ON series.id = link.series_id LEFT JOIN episodes AS episode ON episode.id = link.episode_id"
)


class Core:
    """The program that takes results in, and can be told when to die."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self._url = url

    def receive(self, subscription_id: int, titles: list[str], moment: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"url": self._url, "subscription_id": subscription_id, "titles": titles, "moment": moment}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest) -> Iterator[tuple[Database, str]]:
    url = str(request.getfixturevalue(f"migrated_{request.param}"))
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)

    def subscribe(conn: Connection) -> None:
        for number in (1, 2):
            conn.run(SUBSCRIBE, {"id": number, "url": f"https://feeds.example/{number}"})

    database.write_blocking(subscribe)
    yield database, url
    database.close()


@pytest.fixture
def core(kept: tuple[Database, str]) -> Iterator[Core]:
    with spoken_to(PROGRAM) as process:
        yield Core(process, kept[1])


def test_results_survive_kills(kept: tuple[Database, str], core: Core) -> None:
    run(kept[0], core, kills=20)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_results_survive_many_kills(kept: tuple[Database, str], core: Core) -> None:
    run(kept[0], core, kills=300)


def run(database: Database, core: Core, *, kills: int) -> None:
    chance = random.Random(7)
    killed = batch = 0
    sent: set[tuple[int, str]] = set()
    while killed < kills:
        # Both feeds bring the same releases, and each batch repeats some of the one before.
        titles = [
            f"[Kura] Show {number % 5} S{number % 3 + 1} - {number:03}" for number in range(batch * 4, batch * 4 + 8)
        ]
        titles += [f"[Kura] Long Show - {batch * 3 + 1:03}-{batch * 3 + 3:03} [Batch]", NAMELESS]
        for feed in (1, 2):
            while core.receive(feed, titles, chance.randint(1, MOMENTS)) == "killed":
                killed += 1
                check_whole(database, feed, titles, sent)
            sent |= {(feed, title) for title in titles}
        batch += 1
    items = ask(database, "SELECT subscription_id, title FROM raw_anime_items")
    assert sorted(items) == sorted(sent)
    links = ask(database, LINKS)
    assert len(links) == len(set(links)) == sum(links_of(title) for title in {title for _, title in sent})
    assert ask(database, "SELECT count(*), count(DISTINCT folded) FROM groups") == [(1, 1)]
    assert ask(database, "SELECT DISTINCT failures, error_code FROM subscriptions") == [(0, None)]


def links_of(title: str) -> int:
    return 0 if title == NAMELESS else 3 if "[Batch]" in title else 1


def check_whole(database: Database, feed: int, titles: list[str], sent: set[tuple[int, str]]) -> None:
    """A batch that was cut off is there whole, or not at all."""
    there = {
        title for (title,) in ask(database, "SELECT title FROM raw_anime_items WHERE subscription_id = :id", id=feed)
    }
    new = {title for title in titles if (feed, title) not in sent}
    assert new <= there or not new & there
    orphans = (
        "SELECT count(*) FROM raw_anime_items AS item WHERE status = 'parsed' "
        "AND NOT EXISTS (SELECT 1 FROM anime_links AS link WHERE link.release_key = item.release_key)"
    )
    assert ask(database, orphans) == [(0,)]


def ask(database: Database, sql: str, **values: Any) -> list[tuple[Any, ...]]:
    def look(conn: Connection) -> list[tuple[Any, ...]]:
        return conn.all(sql, values)

    return database.read_blocking(look)
