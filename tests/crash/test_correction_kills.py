"""A correction that is killed at any moment is made whole or not at all."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import spoken_to

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.feeds.results import FeedItem, FetcherResults

PROGRAM = Path(__file__).parent / "correction_program.py"
SUBSCRIBE = (
    "INSERT INTO subscriptions (id, name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES (1, 'feed', 'https://feeds.example/', 'add', 'missing', 1, :now, :now)"
)
TITLES = (
    "[Kura] Yeast Garden - 01",
    "[Kura] Yeast Garden [02-04]",
    "[Toji] Barley Song - 01",
    "[Toji] Barley Song - 02",
)
TABLES = {
    "anime_links": "id, series_id, episode_id, held_reason",
    "episodes": "id, series_id, number",
    "series": "id, merged_into, metadata_id, episode_offset",
    "series_aliases": "folded, series_id",
    "identity_rulings": "folded, series_id",
    "corrections": "id, kind, undone_at IS NULL, series_id",
}
ASTRAY = (
    "SELECT link.id FROM anime_links AS link JOIN episodes AS episode ON episode.id = link.episode_id "
    "JOIN series ON series.id = link.series_id WHERE episode.series_id <> link.series_id OR series.merged_into IS NOT NULL"
)
"""Links whose episode is another series', or whose series is none any more."""
# More statements than any of them needs: the last moments are never reached, and the correction is then made.
MOMENTS = range(1, 120, 13)


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    """Forks a process for each correction; for all tests, because it takes longer to load than to make one."""
    with spoken_to(PROGRAM) as process:
        yield process


@pytest.fixture
def kept(url: str) -> Iterator[tuple[Database, str]]:
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    database.write_blocking(lambda conn: conn.run(SUBSCRIBE))
    for number, title in enumerate(TITLES):
        items = (FeedItem(title=title, download_url=f"https://feeds.example/{number}.torrent"),)
        asyncio.run(CatalogIntake(database).receive(FetcherResults(subscription_id=1, items=items)))
    yield database, url
    database.close()


def state(database: Database) -> dict[str, list[Any]]:
    return {
        table: database.read_blocking(
            lambda conn, table=table, columns=columns: conn.all(f"SELECT {columns} FROM {table} ORDER BY 1, 2")  # type: ignore[misc]
        )
        for table, columns in TABLES.items()
    }


@pytest.mark.parametrize(
    "step",
    [["merge", 2, 1], ["split", 1, [1]], ["move", 5, 1], ["offset", 2, 1], ["reject", 6]],
    ids=lambda step: step[0],
)
def test_a_correction_and_its_undo_are_whole_or_not_there(
    kept: tuple[Database, str], program: subprocess.Popen[str], step: list[Any]
) -> None:
    """Moved are links, episodes, names and rulings together, however often it is killed."""
    database, url = kept
    before = state(database)
    made = killed_until_made(database, program, url, step)
    assert [row[2] for row in made["corrections"]] == [True]
    assert changed(made) != changed(before)
    undone = killed_until_made(database, program, url, ["undo", int(made["corrections"][0][3])])
    assert [row[2] for row in undone["corrections"]] == [False]
    assert changed(undone) == changed(before)


def changed(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What a correction changes; an episode or a series that it made may stay, empty."""
    return {
        **{table: found[table] for table in ("anime_links", "series_aliases", "identity_rulings")},
        "series": found["series"][:2],
    }


def killed_until_made(
    database: Database, program: subprocess.Popen[str], url: str, step: list[Any]
) -> dict[str, list[Any]]:
    """Make a correction in processes that are killed at ever later moments, until it is made: nothing of it is there before."""
    before = state(database)
    now, ended = before, set()
    assert program.stdin is not None
    assert program.stdout is not None
    for moment in MOMENTS:
        program.stdin.write(json.dumps({"url": url, "step": step, "moment": moment}) + "\n")
        program.stdin.flush()
        ended.add(answer := program.stdout.readline().strip())
        now = state(database)
        if now != before:
            break
        assert answer == "killed"
    assert "killed" in ended
    assert now != before
    assert database.read_blocking(lambda conn: conn.all(ASTRAY)) == []
    return now
