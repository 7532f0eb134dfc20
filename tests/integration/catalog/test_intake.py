"""What fetchers bring becomes items, series, episodes and links, once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from kurabito.clock import to_datetime
from kurabito.feeds.errors import SubscriptionNotFound
from kurabito.feeds.results import FeedItem, Receipt
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

HASH = "0123456789abcdef0123456789abcdef01234567"


def item(title: str, url: str | None = None, **more: object) -> FeedItem:
    given = {"title": title, "download_url": url or f"https://feeds.example/{quote(title)}.torrent", **more}
    return FeedItem(**given)  # type: ignore[arg-type]


async def test_items_become_links_of_their_series_and_episodes(desk: Desk) -> None:
    feed = desk.subscribe()
    receipt = await desk.bring(
        feed,
        item("[Kura] Yoru no Kurabito - 07v2 [1080p][WEB-DL]", f"magnet:?xt=urn:btih:{HASH}", size_bytes=700),
        item("[Kura] Yoru no Kurabito - 12.5 [720p]", "https://feeds.example/12.torrent"),
        item("[KURA] YORU NO KURABITO! S2 - 01 [1080p]", "https://feeds.example/a.mkv"),
        item("[Other] Yoru no Kurabito - 08 [1080p]", "ftp://feeds.example/8.mkv"),
        fetcher_source="mikanani",
    )
    assert receipt == Receipt(4, 4, 0, 0, 4, 4)
    links = desk.all(
        "SELECT series.season, episode.number, link.download_type, link.hash IS NULL, link.version, link.resolution, "
        "link.size_bytes, groups.folded FROM anime_links AS link JOIN series ON series.id = link.series_id "
        "JOIN episodes AS episode ON episode.id = link.episode_id JOIN groups ON groups.id = link.group_id ORDER BY link.id"
    )
    assert [(*row[:3], bool(row[3]), *row[4:]) for row in links] == [
        (1, 7.0, "magnet", False, 2, 1080, 700, "kura"),
        (1, 12.5, "torrent", True, None, 720, None, "kura"),
        (2, 1.0, "http", False, None, 1080, None, "kura"),
        # A scheme that no detector knows: the link is there, and its type is not.
        (1, 8.0, None, True, None, 1080, None, "other"),
    ]
    assert desk.all("SELECT title, season, kind, state FROM series ORDER BY id") == [
        ("Yoru no Kurabito", 1, "tv", "followed"),
        ("YORU NO KURABITO!", 2, "tv", "followed"),
    ]
    assert desk.taken.ids == [row[0] for row in desk.all("SELECT id FROM anime_links ORDER BY id")]
    assert desk.all("SELECT DISTINCT status, fetcher_source FROM raw_anime_items") == [("parsed", "mikanani")]


async def test_the_same_results_twice_change_nothing(desk: Desk) -> None:
    feed = desk.subscribe()
    items = [item(f"[Kura] Yoru no Kurabito - {number:02} [1080p]") for number in range(1, 6)]
    first = await desk.bring(feed, *items, items[0], item("[1080p]"))
    before, taken = desk.dump(), list(desk.taken.ids)
    desk.clock.advance(60)
    again = await desk.bring(feed, *reversed([*items, items[0], item("[1080p]")]))
    assert desk.dump() == before
    assert desk.taken.ids == taken
    assert first == Receipt(7, 6, 1, 0, 6, 5)
    assert again == Receipt(7, 6, 1, 0, 0, 0)


async def test_batches_that_come_at_once_make_no_doubles(desk: Desk) -> None:
    feeds = [desk.subscribe(f"https://feeds.example/{number}") for number in range(3)]
    items = [item(f"[Kura] Show {number % 7} - {number:02}") for number in range(60)]
    await asyncio.gather(*(desk.bring(feed, *items[start:]) for feed in feeds for start in (0, 20, 0)))
    assert desk.all("SELECT count(*), count(DISTINCT release_key) FROM anime_links") == [(60, 60)]
    assert desk.all("SELECT count(*) FROM series") == [(7,)]
    assert desk.all("SELECT count(*) FROM raw_anime_items") == [(180,)]
    assert sorted(desk.taken.ids) == [row[0] for row in desk.all("SELECT id FROM anime_links ORDER BY id")]


async def test_the_same_hash_from_two_sites_is_one_release(desk: Desk) -> None:
    one, two = desk.subscribe(), desk.subscribe("https://other.example/rss")
    await desk.bring(one, item("[Kura] Yoru no Kurabito - 07", f"magnet:?xt=urn:btih:{HASH}"))
    receipt = await desk.bring(
        two,
        item("[Kura] Yoru No Kurabito - 07 (1080p)", f"https://other.example/{HASH}.torrent"),
        item("[Kura] Yoru No Kurabito - 08 (1080p)", "https://other.example/x.torrent", info_hash="f" * 40),
        item("[Kura] Yoru No Kurabito - 08", f"magnet:?xt=urn:btih:{'f' * 40}"),
    )
    assert receipt == Receipt(3, 3, 0, 0, 3, 1)
    assert desk.all("SELECT release_key, count(*) FROM anime_links GROUP BY release_key ORDER BY 1") == [
        (HASH, 1),
        ("f" * 40, 1),
    ]
    # Both items know their links.
    assert desk.all("SELECT count(*) FROM raw_anime_items WHERE release_key = :key", key=HASH) == [(2,)]


async def test_one_bad_item_never_loses_the_others(desk: Desk) -> None:
    feed = desk.subscribe()
    hostile = [
        item("", "https://feeds.example/empty.torrent"),
        item("[1080p]", "https://feeds.example/nameless.torrent"),
        item("[Kura] No Link - 01", " "),
        item("[Kura] Bad Link - 01", "not a link"),
        item("[Kura] Broken Link - 01", "https://feeds.example/\n1.torrent"),
        item("[Kura] Long Link - 01", "https://feeds.example/" + "x" * 100_000),
        item("[Kura] Nul\x00 Show\x00 - 01", "https://feeds.example/\x00nul.torrent", guid="a\x00b"),
        item("[Kura] Half \ud800 Show \udfff - 01", "https://feeds.example/half\ud800.torrent", description="\udc00"),
        item("[Kura] " + "Endless " * 12_500 + "- 01", "https://feeds.example/endless.torrent"),
        item("[" + "ﷺ" * 900 + "] " + "ﷺ" * 900, "https://feeds.example/wide.torrent"),
        item("[Kura] Old Show - 01", "https://feeds.example/old.torrent", pub_date=datetime.min.replace(tzinfo=UTC)),
        item("[Kura] Naive Show - 01", "https://feeds.example/naive.torrent", pub_date=datetime.max),  # noqa: DTZ901
        item("[Kura] Huge Show - 01", "https://feeds.example/huge.torrent", size_bytes=10**30, info_hash="\x00"),
        item("[Kura] Negative Show - 01", "https://feeds.example/negative.torrent", size_bytes=-1),
        item("[Kura] Far Show - 99999999999999999999", "https://feeds.example/far.torrent"),
        item("[Kura] Good Show - 01", "https://feeds.example/good.torrent"),
    ]
    receipt = await desk.bring(feed, *hostile)
    assert receipt.items_received == receipt.items_new == len(hostile)
    failed = desk.all("SELECT reason, count(*) FROM raw_anime_items WHERE status = 'failed' GROUP BY reason ORDER BY 1")
    assert dict(failed) == {"bad_url": 3, "no_title": 2, "no_url": 1}
    titles = {title for (title,) in desk.all("SELECT title FROM series")}
    assert {"Nul Show", "Half Show", "Old Show", "Naive Show", "Huge Show", "Negative Show", "Good Show"} <= titles


async def test_a_title_without_an_episode_is_held_unless_it_is_a_film_or_a_batch(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(
        feed,
        item("[Kura] Yoru no Kurabito [1080p]", "https://feeds.example/held.torrent"),
        item("[Kura] Yoru no Kurabito Movie [1080p]", "https://feeds.example/film.torrent"),
        item("[Kura] Yoru no Kurabito (Season 1) [Batch]", "https://feeds.example/season.torrent"),
    )
    rows = desk.all(
        "SELECT link.url, link.held_reason, link.is_batch, episode.kind, episode.number FROM anime_links AS link "
        "LEFT JOIN episodes AS episode ON episode.id = link.episode_id ORDER BY link.id"
    )
    assert rows == [
        ("https://feeds.example/held.torrent", "no_episode", 0, None, None),
        ("https://feeds.example/film.torrent", None, 0, "movie", 1.0),
        ("https://feeds.example/season.torrent", None, 1, None, None),
    ]
    assert len(desk.taken.ids) == 2


async def test_a_batch_is_one_url_and_a_link_for_each_of_at_most_200_episodes(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Short Show - 01-12 [BD 1080p]"), item("[Kura] Long Show - 001-300 [Batch]"))
    counts = desk.all(
        "SELECT series.title, count(*), count(DISTINCT link.url), count(DISTINCT link.release_key), max(episode.number) "
        "FROM anime_links AS link JOIN series ON series.id = link.series_id "
        "JOIN episodes AS episode ON episode.id = link.episode_id GROUP BY series.title ORDER BY 2"
    )
    assert counts == [("Short Show", 12, 1, 1, 12.0), ("Long Show", 200, 1, 1, 200.0)]


async def test_seasons_and_films_of_one_name_stay_apart(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(
        feed,
        item("[Kura] Show S2 - 01"),
        item("[Kura] Show - 01"),
        item("[Kura] Show S01E02"),
        item("[Kura] Show S00E03"),
        item("[Kura] Show Movie"),
    )
    found = desk.all(
        "SELECT series.season, series.kind, episode.kind, episode.number FROM episodes AS episode "
        "JOIN series ON series.id = episode.series_id ORDER BY episode.kind, episode.number, series.season"
    )
    assert found == [
        (1, "movie", "movie", 1.0),
        (1, "tv", "special", 3.0),
        (1, "tv", "tv", 1.0),
        (2, "tv", "tv", 1.0),
        (1, "tv", "tv", 2.0),
    ]


async def test_a_name_that_stands_for_the_same_leads_to_the_same_series(desk: Desk) -> None:
    entries = [
        OfflineEntry("夜の蔵人", RecordKind.TV, "ja", Ids(bgm_id=1), other_titles=("Yoru no Kurabito", "夜之藏人")),
        # Two shows of one name: it tells nothing.
        OfflineEntry("灯", RecordKind.TV, "ja", Ids(bgm_id=2), other_titles=("Akari", "Light")),
        OfflineEntry("明かり", RecordKind.TV, "ja", Ids(bgm_id=3), other_titles=("Akari", "Lamp")),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yoru no Kurabito - 01"), item("[Kura] Light - 01"))
    await desk.bring(feed, item("[藏] 夜之藏人 [02]"), item("[藏] 夜之藏人 第二季 [01]"), item("[Kura] Akari - 02"))
    found = desk.all(
        "SELECT series.title, series.season, link.title FROM anime_links AS link "
        "JOIN series ON series.id = link.series_id ORDER BY link.id"
    )
    assert found == [
        ("Yoru no Kurabito", 1, "[Kura] Yoru no Kurabito - 01"),
        ("Light", 1, "[Kura] Light - 01"),
        ("Yoru no Kurabito", 1, "[藏] 夜之藏人 [02]"),
        ("夜之藏人", 2, "[藏] 夜之藏人 第二季 [01]"),
        ("Akari", 1, "[Kura] Akari - 02"),
    ]
    # The second season has a name of its own now, and is found under the first one's other names.
    await desk.bring(feed, item("[Kura] Yoru no Kurabito S2 - 02"))
    assert desk.all("SELECT count(*) FROM series WHERE season = 2") == [(1,)]


async def test_numbers_that_count_on_from_earlier_seasons_find_their_own(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Show - 01"), item("[Kura] Show S2 - 01"))
    second = desk.all("SELECT id FROM series WHERE season = 2")[0][0]
    await desk.catalog.change(second, {"episode_offset": 24})
    await desk.bring(feed, item("[Kura] Show - 27"), item("[Kura] Show - 24"), item("[Kura] Show S2 - 26"))
    numbers = "SELECT number FROM episodes WHERE series_id = :id ORDER BY number"
    assert desk.all(numbers, id=second) == [(1.0,), (2.0,), (3.0,)]
    assert desk.all("SELECT number FROM episodes WHERE series_id <> :id ORDER BY number", id=second) == [
        (1.0,),
        (24.0,),
    ]


async def test_a_feed_of_one_series_is_about_that_series_whatever_titles_call_it(desk: Desk) -> None:
    await desk.bring(desk.subscribe(), item("[Kura] Show - 01"))
    ((series_id,),) = desk.all("SELECT id FROM series")
    one = desk.subscribe("https://feeds.example/one", series_id=series_id)
    await desk.bring(one, item("[Kura] Another Name - 02"))
    assert desk.all("SELECT DISTINCT series_id FROM anime_links") == [(series_id,)]
    assert desk.all("SELECT count(*) FROM series") == [(1,)]


async def test_a_series_that_is_asked_about_waits_for_the_answer(desk: Desk) -> None:
    feed = desk.subscribe(new_series="ask")
    await desk.bring(feed, item("[Kura] Show - 01"), item("[Kura] Show [1080p]"))
    assert desk.all("SELECT held_reason FROM anime_links ORDER BY id") == [("series_asked",), ("no_episode",)]
    assert desk.taken.ids == []
    ((series_id,),) = desk.all("SELECT id FROM series WHERE state = 'asked'")
    await desk.catalog.change(series_id, {"state": "followed"})
    assert desk.all("SELECT held_reason FROM anime_links ORDER BY id") == [(None,), ("no_episode",)]
    assert desk.taken.ids == [desk.all("SELECT min(id) FROM anime_links")[0][0]]
    await desk.catalog.change(series_id, {"state": "ignored"})
    await desk.bring(feed, item("[Kura] Show - 02"))
    held = desk.all("SELECT held_reason FROM anime_links ORDER BY id")
    assert held == [("series_ignored",), ("no_episode",), ("series_ignored",)]
    assert len(desk.taken.ids) == 1


@pytest.mark.parametrize(
    ("start_with", "expected"),
    [
        ("missing", {"old": "parsed", "new": "parsed", "undated": "parsed", "picked": "parsed"}),
        ("now", {"old": "skipped", "new": "parsed", "undated": "skipped", "picked": "parsed"}),
        ("chosen", {"old": "skipped", "new": "skipped", "undated": "skipped", "picked": "parsed"}),
    ],
)
async def test_nothing_from_before_a_subscription_is_taken_by_surprise(
    desk: Desk, start_with: str, expected: dict[str, str]
) -> None:
    feed, now = desk.subscribe(start_with=start_with), to_datetime(desk.clock.now())
    items = [
        item("[Kura] Show - 01", guid="old", pub_date=now - timedelta(hours=1)),
        item("[Kura] Show - 02", guid="new", pub_date=now + timedelta(hours=1)),
        item("[Kura] Show - 03", guid="undated"),
        item("[Kura] Show - 04", guid="picked"),
    ]
    receipt = await desk.bring(feed, *items, chosen=frozenset({"picked"}))
    assert dict(desk.all("SELECT identity, status FROM raw_anime_items")) == expected
    assert receipt.items_skipped == list(expected.values()).count("skipped")
    await desk.bring(feed, *items, item("[Kura] Show - 05", guid="later", pub_date=now - timedelta(days=1)))
    assert dict(desk.all("SELECT identity, status FROM raw_anime_items")) == {**expected, "later": "parsed"}
    assert len(desk.taken.ids) == list(expected.values()).count("parsed") + 1


async def test_a_failure_is_shown_on_the_subscription_until_the_next_success(desk: Desk) -> None:
    feed = desk.subscribe()
    look = "SELECT failures, error_code, error_message, last_success_at FROM subscriptions"
    for _ in range(2):
        await desk.bring(feed, success=False, error_message="the site\x00 is down")
    assert desk.all(look) == [(2, "fetch_failed", "the site is down", None)]
    await desk.bring(feed)
    assert desk.all(look) == [(0, None, None, desk.clock.now())]


async def test_results_for_a_subscription_that_is_not_there_are_refused(desk: Desk) -> None:
    with pytest.raises(SubscriptionNotFound, match="4711"):
        await desk.bring(4711, item("[Kura] Show - 01"))
    assert desk.all("SELECT count(*) FROM series") == [(0,)]
