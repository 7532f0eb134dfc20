"""Corrections: any sequence of them keeps the catalog whole, and undoing them restores it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.catalog.conftest import Taken

from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.errors import CorrectionConflict, LinkNotFound, SeriesConflict, SeriesNotFound
from kurabito.catalog.series import Alias
from kurabito.db import Connection
from kurabito.downloads import store
from kurabito.feeds.results import FeedItem
from kurabito.titles import ReleaseKind

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

REFUSED = (CorrectionConflict, SeriesNotFound, LinkNotFound, SeriesConflict)
TITLES = (
    "[Kura] Yeast Garden - 01",
    "[Kura] Yeast Garden - 02",
    "[Toji] Yeast Garden - 02",
    "[Kura] Yeast Garden [03-05]",
    "[Kura] Barley Song - 01",
    "[Toji] Barley Song - 02",
    "[Moto] Barley Song / Mugi no Uta [03]",
    "[Kura] Copper Vat - 01",
    "[Kura] Copper Vat / Dou no Oke [02-03]",
    "[Kura] Copper Vat [1080p]",
)

FILES = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'shows', '/shows', :now, :now)",
    (
        "INSERT INTO placements (id, download_id, library_id, mode, size_bytes, target_path, created_at, updated_at) "
        "SELECT link_id, id, 1, 'link', 1, 'file ' || link_id, :now, :now FROM downloads WHERE link_id IN (3, 6, 9)"
    ),
    (
        "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
        "SELECT id, 1, target_path, 1, 1, :now, :now FROM placements"
    ),
    (
        "INSERT INTO placement_episodes (placement_id, episode_id) "
        "SELECT placements.id, link.episode_id FROM placements JOIN anime_links AS link ON link.id = placements.id"
    ),
    "INSERT INTO episode_files (episode_id, file_id, created_at) SELECT episode_id, placement_id, :now FROM placement_episodes",
    "INSERT INTO series_places (series_id, library_id, folder, updated_at) VALUES (2, 1, 'Barley', :now)",
    "INSERT INTO metadata (id, kind, title_english, created_at, updated_at) VALUES (1, 'tv', 'Barley Song', :now, :now)",
    "INSERT INTO metadata (id, kind, title_english, created_at, updated_at) VALUES (2, 'tv', 'Mugi no Uta', :now, :now)",
)
"""A library with the files of three links, the folder of a series, and two records."""
PLACED_ELSEWHERE = (
    "SELECT link.id FROM placements JOIN downloads ON downloads.id = placements.download_id "
    "JOIN anime_links AS link ON link.id = downloads.link_id "
    "LEFT JOIN placement_episodes AS has ON has.placement_id = placements.id AND has.episode_id = link.episode_id "
    "LEFT JOIN episode_files AS had ON had.file_id = placements.id AND had.episode_id = link.episode_id "
    "WHERE link.episode_id IS NOT NULL AND (has.episode_id IS NULL OR had.episode_id IS NULL)"
)
FILES_OF_SERIES = "SELECT episode.series_id, had.file_id FROM episode_files AS had JOIN episodes AS episode ON episode.id = had.episode_id"


def item(title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent")


def snapshot(desk: Desk) -> dict[str, Any]:
    """What corrections may change, as a reader sees it."""
    return {
        "links": desk.all(
            "SELECT link.id, link.series_id, episode.series_id, episode.kind, episode.number, link.held_reason, link.question_id "
            "FROM anime_links AS link LEFT JOIN episodes AS episode ON episode.id = link.episode_id ORDER BY link.id"
        ),
        "names": desk.all(
            "SELECT folded, kind, season, year, country, series_id FROM series_aliases ORDER BY 1, 2, 3, 4, 5"
        ),
        "series": desk.all(
            "SELECT id, title, season, state, episode_offset, metadata_id, is_record_said FROM series WHERE merged_into IS NULL ORDER BY id"
        ),
        "feeds": desk.all("SELECT id, series_id FROM subscriptions ORDER BY id"),
        "files": desk.all("SELECT file_id, episode_id, created_at FROM episode_files ORDER BY 1, 2"),
        "placed": desk.all("SELECT placement_id, episode_id FROM placement_episodes ORDER BY 1, 2"),
        "folders": desk.all("SELECT series_id, library_id, folder FROM series_places ORDER BY 1"),
        "rulings": desk.all("SELECT folded, group_folded, series_id FROM identity_rulings ORDER BY id"),
    }


def check(desk: Desk) -> None:
    """What always holds."""
    living = {one for (one,) in desk.all("SELECT id FROM series WHERE merged_into IS NULL")}
    links = desk.all(
        "SELECT link.series_id, episode.series_id FROM anime_links AS link LEFT JOIN episodes AS episode ON episode.id = link.episode_id"
    )
    assert len(links) == 13, "no link is lost, and none is made"
    assert all(series_id in living for series_id, _ in links)
    assert all(of_episode in (None, series_id) for series_id, of_episode in links)
    names = desk.all("SELECT folded, kind, season, year, country, series_id FROM series_aliases")
    assert len({name[:5] for name in names}) == len(names)
    assert all(name[5] in living for name in names)
    assert all(one is None or one in living for (one,) in desk.all("SELECT series_id FROM subscriptions"))
    assert all(one in living for (one,) in desk.all("SELECT series_id FROM identity_rulings"))
    assert len({one for (one,) in desk.all("SELECT file_id FROM episode_files")}) == 3, "no file is lost"
    # What was downloaded is of the episode that its link is of, in the library and on its way there.
    assert desk.all(PLACED_ELSEWHERE) == []
    assert [one for one in desk.all(FILES_OF_SERIES) if one[0] not in living] == []
    assert desk.all("SELECT count(*) FROM downloads WHERE link_id NOT IN (SELECT id FROM anime_links)") == [(0,)]


async def fill(desk: Desk) -> None:
    feed = desk.subscribe()
    for title in TITLES:
        await desk.bring(feed, item(title))
    desk.subscribe("https://feeds.example/one", series_id=1)

    def download(conn: Any) -> None:
        conn.run(
            "INSERT INTO downloads (link_id, status, created_at, updated_at, queued_at) "
            "SELECT id, 'downloading', :now, :now, :now FROM anime_links WHERE id % 3 = 0"
        )

        for statement in FILES:
            conn.run(statement)

    desk.database.write_blocking(download)


async def make(desk: Desk, step: tuple[Any, ...]) -> bool:
    """Do one step; whether it was not refused."""
    kind, *values = step
    corrections = desk.corrections
    moves: dict[str, Callable[..., Awaitable[object]]] = {
        "merge": corrections.merge,
        "split": lambda one, links: corrections.split(one, link_ids=links),
        "names": lambda one, name: corrections.split(one, names=[name]),
        "move": lambda link, series: corrections.move(link, series_id=series),
        "episode": lambda link, number: corrections.move(link, place=EpisodePlace(ReleaseKind.TV, number)),
        "reject": corrections.reject,
        "release": corrections.release,
        "rename": lambda one, name: desk.catalog.change(one, {"title": name, "aliases": (Alias(name, 1),)}),
        "offset": lambda one, offset: desk.catalog.change(one, {"episode_offset": offset}),
        "season": lambda one, season: desk.catalog.change(one, {"season": season}),
        "record": desk.give_record,
        "undo": corrections.undo,
    }
    try:
        await moves[kind](*values)
    except REFUSED:
        return False
    return True


SERIES = st.integers(1, 6)
LINKS = st.integers(1, 14)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("merge"), SERIES, SERIES),
        st.tuples(st.just("split"), SERIES, st.lists(LINKS, min_size=1, max_size=3)),
        st.tuples(
            st.just("names"), SERIES, st.sampled_from(["Mugi no Uta", "Barley Song", "Dou no Oke", "Copper Vat"])
        ),
        st.tuples(st.just("move"), LINKS, SERIES),
        st.tuples(st.just("episode"), LINKS, st.sampled_from([1.0, 2.0, 3.0, 7.5])),
        st.tuples(st.just("reject"), LINKS),
        st.tuples(st.just("release"), LINKS),
        st.tuples(st.just("rename"), SERIES, st.sampled_from(["New Name", "Barley Song"])),
        st.tuples(st.just("offset"), SERIES, st.sampled_from([0, 12, 24])),
        st.tuples(st.just("season"), SERIES, st.integers(1, 3)),
        st.tuples(st.just("record"), SERIES, st.integers(1, 2)),
        st.tuples(st.just("undo"), SERIES),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_any_sequence_of_corrections_keeps_the_catalog_whole_and_undoes(clean_desk: Desk, steps: list[Any]) -> None:
    async def story() -> None:
        clean_desk.clear()
        await fill(clean_desk)
        check(clean_desk)
        undone: list[tuple[dict[str, Any], int]] = []
        for step in steps:
            before = snapshot(clean_desk)
            last = clean_desk.all("SELECT coalesce(max(id), 0) FROM corrections")
            done = await make(clean_desk, step)
            check(clean_desk)
            if not done:
                assert snapshot(clean_desk) == before, "a refused correction changes nothing"
                continue
            made = clean_desk.all("SELECT series_id FROM corrections WHERE id > :id", id=last[0][0])
            if step[0] == "undo":
                undone.clear()
            elif made:
                undone.append((before, made[0][0]))
        for before, series_id in reversed(undone):
            await clean_desk.corrections.undo(series_id)
            check(clean_desk)
            assert snapshot(clean_desk) == before

    asyncio.run(story())


async def test_a_preview_says_what_a_merge_would_do_and_does_nothing(desk: Desk) -> None:
    await fill(desk)
    await desk.catalog.change(2, {"state": "ignored"})
    before = snapshot(desk)
    seen = await desk.corrections.merge(2, 1, is_preview=True)
    assert snapshot(desk) == before
    assert (seen.links, len(seen.freed), seen.names, seen.correction_id is not None) == (
        3,
        3,
        ("Barley Song", "Mugi no Uta"),
        True,
    )
    taken = list(desk.taken.ids)
    await desk.corrections.merge(2, 1)
    assert len(desk.taken.ids) == len(taken) + 3


async def test_a_merged_series_says_into_which(desk: Desk) -> None:
    await fill(desk)
    await desk.corrections.merge(2, 1)
    assert (await desk.catalog.get(2)).merged_into == 1
    assert [one.id for one in (await desk.catalog.series()).items] == [3, 1]
    with pytest.raises(SeriesNotFound, match="merged into 1"):
        await desk.corrections.merge(2, 3)
    await desk.bring(desk.subscribe("https://feeds.example/more"), item("[Kura] Barley Song - 09"))
    assert desk.all("SELECT series_id FROM anime_links ORDER BY id DESC LIMIT 1") == [(1,)]


async def test_a_split_holds_for_what_comes_later_and_a_title_with_both_names_joins_nothing(desk: Desk) -> None:
    await fill(desk)
    effect = await desk.corrections.split(2, names=["Mugi no Uta"])
    new = effect.series_id
    feed = desk.subscribe("https://feeds.example/more")
    await desk.bring(feed, item("[Yeast] Mugi no Uta - 07"), item("[Yeast] Barley Song / Mugi no Uta [08]"))
    assert desk.all("SELECT DISTINCT series_id FROM anime_links WHERE id > 13") == [(new,)]
    assert desk.all("SELECT merged_into FROM series WHERE id IN (2, :new)", new=new) == [(None,), (None,)]


async def test_a_link_that_was_moved_takes_later_ones_of_its_group_along(desk: Desk) -> None:
    await fill(desk)
    await desk.corrections.move(1, series_id=3)
    feed = desk.subscribe("https://feeds.example/more")
    await desk.bring(feed, item("[Kura] Yeast Garden - 08"), item("[Toji] Yeast Garden - 09"))
    assert desk.all("SELECT series_id FROM anime_links WHERE id > 13 ORDER BY id") == [(3,), (1,)]


async def test_a_season_that_is_changed_holds_for_what_comes_later_and_is_undone(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"), item("[Kura] Barley Song S3 - 01"))
    await desk.catalog.change(1, {"season": 2})
    await desk.bring(feed, item("[Kura] Yeast Garden S2 - 02"), item("[Kura] Yeast Garden - 03"))
    assert desk.all("SELECT series_id FROM anime_links ORDER BY id") == [(1,), (2,), (1,), (1,)]
    # What another series is called beside that season stays its own.
    await desk.catalog.change(1, {"aliases": (Alias("Barley Song", 2), Alias("Yeast Garden", 2))})
    assert (await desk.catalog.change(1, {"season": 3})).aliases == (
        Alias("Barley Song", 2), Alias("Yeast Garden", 2), Alias("Yeast Garden", 3),
    )  # fmt: skip
    for _ in range(3):
        await desk.corrections.undo(1)
    series = await desk.catalog.get(1)
    assert (series.season, [(alias.name, alias.season) for alias in series.aliases]) == (1, [("Yeast Garden", 1)])


async def test_only_the_last_correction_of_both_series_is_undone(desk: Desk) -> None:
    await fill(desk)
    await desk.corrections.merge(2, 1)
    await desk.corrections.merge(1, 3)
    with pytest.raises(CorrectionConflict, match="corrected later"):
        await desk.corrections.undo(2)
    await desk.corrections.undo(3)
    await desk.corrections.undo(2)
    with pytest.raises(CorrectionConflict, match="nothing was corrected"):
        await desk.corrections.undo(2)


async def test_what_came_after_a_split_goes_back_with_it(desk: Desk) -> None:
    await fill(desk)
    await desk.corrections.split(2, names=["Mugi no Uta"])
    await desk.bring(desk.subscribe("https://feeds.example/more"), item("[Yeast] Mugi no Uta - 07"))
    await desk.corrections.undo(2)
    assert desk.all("SELECT series_id FROM anime_links ORDER BY id DESC LIMIT 1") == [(2,)]
    assert desk.all("SELECT count(*) FROM series WHERE merged_into IS NULL") == [(3,)]


class Restating(Taken):
    """Says how far episodes are, as dispatch does."""

    def restate(self, conn: Connection, episode_ids: Collection[int]) -> None:
        store.restate_moved(conn, episode_ids)


async def test_files_go_with_their_link_and_an_episode_that_lost_them_is_wanted(desk: Desk) -> None:
    await fill(desk)
    desk.corrections = Corrections(desk.database, Restating())
    states = "SELECT number, state FROM episodes WHERE series_id = 1 AND number IN (2, 7) ORDER BY number"
    await desk.corrections.move(3, place=EpisodePlace(ReleaseKind.TV, 7))
    assert desk.all(states) == [(2, "wanted"), (7, "have")]
    await desk.corrections.undo(1)
    assert desk.all(states) == [(2, "have"), (7, "wanted")]


async def test_an_episode_with_a_file_stays_one_that_is_there_when_series_are_merged(desk: Desk) -> None:
    await fill(desk)
    desk.corrections = Corrections(desk.database, Restating())

    def adopt(conn: Connection) -> None:
        conn.run("DELETE FROM placements")
        conn.run("DELETE FROM downloads")
        conn.run("UPDATE episodes SET state = 'have' WHERE id IN (SELECT episode_id FROM episode_files)")

    desk.database.write_blocking(adopt)
    had = "SELECT count(*) FROM episodes WHERE state = 'have' AND series_id = :id"
    before = desk.all(had, id=1)[0][0] + desk.all(had, id=2)[0][0]
    await desk.corrections.merge(2, 1)
    assert desk.all(had, id=1) == [(before,)]
    assert desk.all("SELECT series_id, folder FROM series_places") == [(1, "Barley")]


async def test_a_record_that_a_person_chose_brings_its_names_outweighs_and_is_undone(desk: Desk) -> None:
    await fill(desk)
    desk.database.write_blocking(lambda conn: conn.run("UPDATE series SET metadata_id = 1 WHERE id = 3"))
    before = snapshot(desk)
    desk.database.write_blocking(
        lambda conn: conn.run("DELETE FROM series_aliases WHERE folded = 'muginouta'")  # nobody's now
    )
    free = snapshot(desk)
    await desk.give_record(1, 2)
    assert desk.all("SELECT series_id, source FROM series_aliases WHERE folded = 'muginouta'") == [(1, "record")]
    await desk.corrections.merge(1, 3)
    assert desk.all("SELECT metadata_id, is_record_said FROM series WHERE id = 3") == [(2, 1)]
    await desk.corrections.undo(3)
    await desk.corrections.undo(1)
    assert snapshot(desk) == free != before


async def test_a_release_that_is_not_of_a_followed_show_makes_no_other_show_followed(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"), item("[Toji] Yeast Garden - 02"))
    effect = await desk.corrections.reject(2)
    ((state, held),) = desk.all(
        "SELECT series.state, link.held_reason FROM anime_links AS link JOIN series ON series.id = link.series_id "
        "WHERE link.id = 2"
    )
    assert (state, held) == ("asked", "series_asked")
    taken = list(desk.taken.ids)
    await desk.bring(feed, item("[Toji] Yeast Garden - 03"))
    assert desk.taken.ids == taken
    await desk.corrections.undo(effect.series_id)
    assert desk.all("SELECT series_id, held_reason FROM anime_links WHERE id = 2") == [(1, None)]
