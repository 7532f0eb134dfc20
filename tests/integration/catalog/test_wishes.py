"""Which episodes of a series are downloaded: none, what comes, what is missing, all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import SeriesState, SeriesWish
from kurabito.downloads.release_options import choose_among
from kurabito.library.errors import LibraryNotFound

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

DAY = 86_400_000_000


def add(shelf: Shelf, sql: str, **values: Any) -> int:
    return int(shelf.database.write_blocking(lambda conn: conn.value(sql, values)))


def series(shelf: Shelf, state: str = "ignored") -> int:
    sql = "INSERT INTO series (title, state, created_at, updated_at) VALUES ('K', :state, :now, :now) RETURNING id"
    return add(shelf, sql, state=state)


def link(shelf: Shelf, series_id: int, number: int, *, state: str = "wanted", aired: int | None = None) -> int:
    """A release of an episode; the link."""
    episode = add(
        shelf,
        "INSERT INTO episodes (series_id, kind, number, state, aired_at, created_at, updated_at) "
        "VALUES (:series, 'tv', :number, :state, :aired, :now, :now) RETURNING id",
        series=series_id, number=number, state=state, aired=aired,
    )  # fmt: skip
    return add(
        shelf,
        "INSERT INTO anime_links (release_key, series_id, episode_id, title, url, created_at) "
        "VALUES (:key, :series, :episode, 'K', 'magnet:?xt=urn:btih:1', :now) RETURNING id",
        key=f"release {number}", series=series_id, episode=episode,
    )  # fmt: skip


def taken(shelf: Shelf, *links: int) -> list[int]:
    return shelf.database.read_blocking(lambda conn: choose_among(conn, links)).dispatch


async def test_wanting_something_follows_a_series_and_wanting_nothing_does_not(shelf: Shelf) -> None:
    catalog, one = Catalog(shelf.database), series(shelf)
    assert (await catalog.get(one)).wanted is SeriesWish.NONE
    for wanted in (SeriesWish.FUTURE, SeriesWish.MISSING, SeriesWish.ALL, SeriesWish.NONE):
        changed = await catalog.change(one, {"wanted": wanted})
        assert changed.wanted is wanted
        assert changed.state is (SeriesState.IGNORED if wanted is SeriesWish.NONE else SeriesState.FOLLOWED)


async def test_of_the_future_only_what_airs_from_then_on_is_taken(shelf: Shelf) -> None:
    catalog, one = Catalog(shelf.database), series(shelf)
    now = shelf.database.read_blocking(lambda conn: conn.now())
    had = link(shelf, one, 5, state="have")
    known = link(shelf, one, 1)
    await catalog.change(one, {"wanted": SeriesWish.FUTURE})
    shelf.clock.advance(60)
    old, coming = link(shelf, one, 2, aired=now - DAY), link(shelf, one, 7, aired=now + DAY)
    between, beyond = link(shelf, one, 3), link(shelf, one, 6)
    assert sorted(taken(shelf, had, known, old, coming, between, beyond)) == sorted([coming, beyond])
    await catalog.change(one, {"wanted": SeriesWish.MISSING})
    assert sorted(taken(shelf, had, known, old, coming)) == sorted([known, old, coming])


async def test_what_is_wanted_can_be_said_of_all_that_are_not_followed(shelf: Shelf) -> None:
    catalog = Catalog(shelf.database)
    adopted, asked = [series(shelf), series(shelf)], series(shelf, "asked")
    assert await catalog.want_not_followed(SeriesWish.MISSING) == 2
    assert {(await catalog.get(one)).wanted for one in adopted} == {SeriesWish.MISSING}
    assert (await catalog.get(asked)).state is SeriesState.ASKED


async def test_a_series_has_a_library_of_its_own(shelf: Shelf) -> None:
    catalog, one = Catalog(shelf.database), series(shelf)
    assert (await catalog.change(one, {"library_id": 2})).library_id == 2
    with pytest.raises(LibraryNotFound):
        await catalog.change(one, {"library_id": 77})
    assert (await catalog.change(one, {"library_id": None})).library_id is None
