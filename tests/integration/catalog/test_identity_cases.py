"""Which releases are one series: a table of remakes, versions of countries, sequels, seasons and spellings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from kurabito.feeds.results import FeedItem

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

TABLE = Path(__file__).with_name("identity_cases.txt")
LINKS = "SELECT title, series_id, question_id IS NOT NULL FROM anime_links"


class Case(NamedTuple):
    """Titles in their order, each with the number of its series; those that have to be asked about have none."""

    name: str
    titles: tuple[tuple[str, int | None], ...]


def cases() -> Iterator[Case]:
    blocks = TABLE.read_text(encoding="utf-8").split("\n\n")
    for block in blocks[1:]:
        name, *lines = block.strip().splitlines()
        series, titles = 0, []
        for line in lines:
            if line == "--":
                series += 1
            else:
                titles.append((line.removeprefix("?"), None if line.startswith("?") else series))
        yield Case(name.removeprefix("# "), tuple(titles))


CASES = list(cases())
SOME = CASES[::8]


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("at_once", [True, False], ids=["one batch", "one by one"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_releases_of_one_show_are_one_series_and_no_others(kept_desk: Desk, case: Case, at_once: bool) -> None:
    await check(kept_desk, case, at_once=at_once)


async def test_some_of_them_are_on_each_database(desk: Desk) -> None:
    for case in SOME:
        desk.clear()
        await check(desk, case, at_once=True)


async def check(desk: Desk, case: Case, *, at_once: bool) -> None:
    """Bring the titles of a case, and compare what became of them with the table."""
    items = [
        FeedItem(title=title, download_url=f"https://feeds.example/{place}.torrent")
        for place, (title, _) in enumerate(case.titles)
    ]
    feed = desk.subscribe()
    for some in [items] if at_once else [[item] for item in items]:
        await desk.bring(feed, *some)
    found = {title: (series_id, bool(asked)) for title, series_id, asked in desk.all(LINKS)}
    assert {title: asked for title, (_, asked) in found.items()} == {
        title: series is None for title, series in case.titles
    }
    series: dict[int, set[int]] = {}
    for title, number in case.titles:
        if number is not None:
            series.setdefault(number, set()).add(found[title][0])
    assert all(len(some) == 1 for some in series.values()), "a show was split"
    assert len(set.union(*series.values())) == len(series), "two shows were mixed"
