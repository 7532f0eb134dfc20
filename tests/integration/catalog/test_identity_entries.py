"""Cours, and numbers that count seasons through: the offline index says which entry a release is about."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from kurabito.catalog.follow import FollowFromMetadata
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

PLACES = (
    "SELECT series.title, series.season, episode.number FROM anime_links AS link JOIN series ON series.id = link.series_id "
    "JOIN episodes AS episode ON episode.id = link.episode_id ORDER BY link.id"
)
FIRST, SECOND_COUR, SECOND = "蔵の灰姫", "蔵の灰姫(第2クール)", "蔵の灰姫 第2期"
CELLAR = Ids(tmdb_id=9, tmdb_kind=TmdbKind.TV)


def entry(number: int, title: str, begin: str, *others: str, season: int | None = None) -> OfflineEntry:
    ids = Ids(bgm_id=number, tmdb_id=CELLAR.tmdb_id, tmdb_kind=CELLAR.tmdb_kind, tmdb_season=season)
    return OfflineEntry(title, RecordKind.TV, "ja", ids, date.fromisoformat(begin), other_titles=others)


def item(title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent")


async def nothing() -> None:
    return None


@pytest.fixture
def index(desk: Desk) -> Desk:
    """A show of two cours with 12 episodes each, and a second season of 12."""
    entries = [
        entry(1, FIRST, "2024-01-05", "藏之灰姑娘", "Cinder of the Cellar"),
        entry(2, SECOND_COUR, "2024-07-05", "藏之灰姑娘 第2部分"),
        entry(3, SECOND, "2025-01-05", "藏之灰姑娘 第二季", season=2),
    ]

    def store(conn: Connection) -> None:
        offline.replace_entries(conn, entries)
        conn.run("UPDATE offline_entries SET episode_count = 12, franchise_id = 1")

    desk.database.write_blocking(store)
    return desk


async def follow(desk: Desk, *numbers: int) -> None:
    catalog = FollowFromMetadata(desk.database, desk.catalog, nothing)
    for number in numbers:
        await catalog.follow_entry(number)


@pytest.mark.parametrize(
    "name",
    ["藏之灰姑娘 第2部分", "藏之灰姑娘 第二部分", "蔵の灰姫 第2クール", "Cinder of the Cellar Part 2"],
)
async def test_a_part_leads_to_its_own_entry_however_it_is_written(index: Desk, name: str) -> None:
    await follow(index, 1, 2)
    await index.bring(index.subscribe(), item(f"[Kura] {name} - 05 [1080p]"), item(f"[Kura] {FIRST} - 05 [1080p]"))
    assert index.all(PLACES) == [(SECOND_COUR, 1, 5.0), (FIRST, 1, 5.0)]


async def test_a_number_that_counts_seasons_through_goes_to_the_season_that_has_it(index: Desk) -> None:
    await follow(index, 1, 2, 3)
    titles = [f"[Kura] 藏之灰姑娘 - {number} [1080p]" for number in (3, 15, 29, 40)]
    await index.bring(index.subscribe(), *map(item, titles))
    first, second, third = index.all(PLACES)
    assert (second, third[1:]) == ((SECOND_COUR, 1, 3.0), (2, 5.0))
    assert first[1:] == (1, 3.0)
    # 40 is in no count that is known, so it is asked about.
    assert index.all("SELECT title FROM anime_links WHERE question_id IS NOT NULL") == [(titles[-1],)]
    assert "counted" in index.all("SELECT clues FROM anime_links WHERE title LIKE '%29%'")[0][0]


async def test_a_name_that_only_titles_have_is_counted_through_like_those_of_its_show(index: Desk) -> None:
    feed = index.subscribe()
    await index.bring(feed, item("[Kura] 藏之灰姑娘 / Haihime-sama - 03 [1080p]"))
    await index.bring(feed, item("[Kura] Haihime-sama - 29 [1080p]"), item("[Kura] Haihime-sama - 04 [1080p]"))
    assert [row[1:] for row in index.all(PLACES)] == [(1, 3.0), (2, 5.0), (1, 4.0)]


async def test_the_season_is_made_when_it_is_not_there_and_cours_stay_one_while_no_one_follows_them_apart(
    index: Desk,
) -> None:
    await follow(index, 1)
    await index.bring(index.subscribe(), item("[Kura] 藏之灰姑娘 - 29 [1080p]"), item("[Kura] 藏之灰姑娘 - 15 [1080p]"))
    (_, season, number), (title, *cour) = index.all(PLACES)
    assert (season, number, cour) == (2, 5.0, [1, 15.0])
    assert title == index.all("SELECT title FROM series WHERE id = 1")[0][0]


async def test_a_season_that_is_said_is_counted_through_or_from_its_own_first_cour(index: Desk) -> None:
    await follow(index, 1, 3)
    await index.bring(
        index.subscribe(), item("[Kura] 藏之灰姑娘 S2 - 29 [1080p]"), item("[Kura] 藏之灰姑娘 S2 - 07 [1080p]")
    )
    assert [row[1:] for row in index.all(PLACES)] == [(2, 5.0), (2, 7.0)]


async def test_without_a_count_nothing_is_read_otherwise(index: Desk) -> None:
    index.database.write_blocking(lambda conn: conn.run("UPDATE offline_entries SET episode_count = NULL"))
    await follow(index, 1, 3)
    await index.bring(index.subscribe(), item("[Kura] 藏之灰姑娘 - 29 [1080p]"))
    ((_, season, number),) = index.all(PLACES)
    assert (season, number) == (1, 29.0)


async def test_a_name_of_its_own_stands_for_a_later_season_as_the_index_says(desk: Desk) -> None:
    named = entry(4, "蔵の科学 SCIENCE CELLAR", "2025-01-05", "Cellar Season 4", "藏纪元 科学篇", season=4)
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, [named]))
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Cellar S4 - 01 [1080p]"), item("[Kura] 藏纪元 科学篇 - 02 [1080p]"))
    await desk.bring(feed, item("[Kura] 蔵の科学 SCIENCE CELLAR - 03 [1080p]"))
    assert len({row[0] for row in desk.all(PLACES)}) == 1


async def test_the_evidence_of_a_series_has_its_franchise(index: Desk) -> None:
    await follow(index, 3)
    parts = (await index.corrections.evidence(1)).franchise
    assert [(one.entry.season, one.entry.part, one.entry.first_absolute, one.is_this) for one in parts] == [
        (1, 1, 1, False),
        (1, 2, 13, False),
        (2, 1, 25, True),
    ]


async def test_a_year_tells_the_names_of_a_remake_from_those_of_its_original(desk: Desk) -> None:
    names = ("麹的故事", "The Koji Story")
    entries = [
        OfflineEntry("麹物語", RecordKind.TV, "ja", Ids(bgm_id=number), date(year, 4, 1), other_titles=names)
        for number, year in ((1, 2001), (2, 2019))
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    await follow(desk, 1)
    feed = desk.subscribe()
    await desk.bring(
        feed, item("[Kura] 麹的故事 (2019) - 03 [1080p]"), item("The.Koji.Story.2019.S01E04.1080p.WEB-KURA")
    )
    assert desk.all("SELECT DISTINCT series_id, question_id FROM anime_links") == [(2, None)]


async def test_both_parts_of_a_later_season_are_followed_apart(desk: Desk) -> None:
    entries = [
        entry(1, "麹物語", "2023-01-05", "麹的故事"),
        entry(2, "麹物語 第2期", "2024-01-05", "麹的故事 第二季", season=2),
        entry(3, "麹物語 第2期 第2クール", "2024-07-05", "麹的故事 第二季 第2部分", season=2),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    await follow(desk, 2, 3)
    titles = (
        "[Kura] 麹物語 第2期 - 05",
        "[Kura] 麹的故事 第二季 第2部分 - 05",
        "[Kura] 麹物語 第2期 第2クール - 06 [1080p]",
    )
    await desk.bring(desk.subscribe(), *map(item, titles))
    assert desk.all("SELECT series_id, question_id FROM anime_links ORDER BY id") == [(1, None), (2, None), (2, None)]


async def test_a_film_is_found_by_its_names_in_the_index_without_the_word_that_says_film(desk: Desk) -> None:
    names = ("剧场版 麹的故事", "The Koji Story The Movie")
    film = OfflineEntry("劇場版 麹物語", RecordKind.MOVIE, "ja", Ids(bgm_id=1), date(2019, 4, 1), other_titles=names)
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, [film]))
    titles = (
        "[Kura] 麹物語 劇場版 (BD 1920x1080 x264 FLAC).mkv",
        "The.Koji.Story.The.Movie.2019.1080p.BluRay.x264-KURA",
        "[Toji] 麹的故事 剧场版 [BDRip][1080p]",
    )
    feed = desk.subscribe()
    for title in titles:
        await desk.bring(feed, item(title))
    assert desk.all("SELECT DISTINCT series_id, question_id FROM anime_links") == [(1, None)]


@pytest.mark.parametrize(
    ("known", "season"),
    [
        ("[Kura] 藏纪元 醪篇 / Kurakigen: Moromi-hen - 03 [1080p]", 3),
        ("[Kura] 藏纪元 第三季 / Kurakigen III - 03 [1080p]", 3),
        ("[Kura] 藏纪元 酒母篇 - 03 [1080p]", 2),
    ],
)
async def test_a_season_by_the_name_of_its_show_is_that_which_titles_call_by_its_own_name(
    desk: Desk, known: str, season: int
) -> None:
    # TMDB counts the third season; the second is counted by one of its names alone.
    entries = [
        entry(1, "蔵紀元", "2021-01-05", "Cellar Era", "藏纪元"),
        entry(2, "蔵紀元 酒母編", "2023-01-05", "藏纪元 酒母篇", "藏纪元 第二季"),
        entry(3, "蔵紀元 醪編", "2025-01-05", "藏纪元 醪篇", "藏纪元 第三季", season=3),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item(known))
    await desk.bring(feed, item(f"Cellar.Era.S0{season}E04.1080p.WEB-KURA"), item("Cellar.Era.S01E04.1080p.WEB-KURA"))
    assert desk.all("SELECT series_id, question_id FROM anime_links ORDER BY id") == [(1, None), (1, None), (2, None)]


async def test_a_name_that_two_seasons_share_finds_the_first_by_its_other_names(desk: Desk) -> None:
    entries = [
        entry(1, "赤い蔵の姫", "2021-01-05", "Snow of the Cellar", "赤藏姬"),
        entry(2, "赤い蔵の姫(第2期)", "2023-01-05", "Snow of the Cellar", "赤藏姬 第二季"),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] 赤藏姬 / Akai Kura no Hime - 03 [1080p]"))
    await desk.bring(feed, item("Snow.of.the.Cellar.S01E04.1080p.WEB-KURA"))
    assert desk.all("SELECT series_id, question_id FROM anime_links ORDER BY id") == [(1, None), (1, None)]


@pytest.mark.parametrize(
    ("native", "said", "own"),
    [
        ("蔵人一家 ただいま", "藏人一家 第二季", "Kurabito Ikka Tadaima"),
        ("蔵人一家 GRANDE MASH", "藏人一家 第二季", "Kurabito-ikka: Grande Mash"),
    ],
)
async def test_a_name_that_is_the_reading_of_a_seasons_own_title_is_that_season(
    desk: Desk, native: str, said: str, own: str
) -> None:
    entries = [entry(1, "蔵人一家", "2021-01-05", "藏人一家"), entry(2, native, "2023-01-05", said, season=2)]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item(f"[Kura] {own} - 05 [720p]"), item(f"[藏][{said} / {own}][09][720P][MP4]"))
    assert desk.all("SELECT DISTINCT series_id, question_id FROM anime_links") == [(1, None)]


async def test_the_name_of_the_show_beside_a_later_season_stays_that_of_the_show(desk: Desk) -> None:
    entries = [
        entry(1, "蔵人一家", "2021-01-05", "藏人一家"),
        entry(2, "蔵人一家 -おかわり-", "2023-01-05", "藏人一家 第二季", season=2),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[藏][藏人一家 第二季 / Kurabito Ikka][09][720P][MP4]"))
    await desk.bring(feed, item("[Kura] Kurabito Ikka - 05 [720p]"))
    first, second = desk.all("SELECT series_id, question_id IS NOT NULL FROM anime_links ORDER BY id")
    assert (first[1], second[1]) == (False, True)


async def test_a_kana_title_of_the_index_is_found_by_its_sound(desk: Desk) -> None:
    entries = [
        entry(1, "くらびとけ", "2021-01-05", "藏人家"),
        entry(2, "くらびとけ ただいま", "2023-01-05", "藏人家 第二季", season=2),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[藏] 藏人家 第二季 [09][720P][MP4]"))
    await desk.bring(feed, item("[Kura] Kurabito-ke Tadaima - 05 [720p]"))
    assert desk.all("SELECT DISTINCT series_id, question_id FROM anime_links") == [(1, None)]


async def test_the_second_season_of_what_is_a_later_one_itself_is_not_the_second_of_the_show(desk: Desk) -> None:
    entries = [
        entry(1, "東京蔵人", "2014-07-05", "Tokyo Brewer"),
        entry(2, "東京蔵人√A", "2015-01-05", "东京藏人 第二季", season=2),
        entry(3, "東京蔵人:re", "2018-04-05", "Tokyo Brewer:re", season=3),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] 东京藏人 第二季 - 04 [1080p]"))
    await desk.bring(feed, item("[Kura] Tokyo Brewer:re 2nd Season - 06 [1080p]"))
    assert len({row[0] for row in desk.all("SELECT series_id FROM anime_links")}) == 2


async def test_a_name_that_the_index_has_for_a_later_season_alone_is_not_that_of_the_first(desk: Desk) -> None:
    entries = [
        entry(1, "有頂天蔵人", "2013-07-05", "有顶天藏人"),
        entry(2, "有頂天蔵人2", "2017-04-05", "有顶天藏人2", "The Eccentric Brewers", season=2),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] 有顶天藏人 第二季 / Uchouten Kurabito 2 [03][1080p]"))
    await desk.bring(feed, item("The.Eccentric.Brewers.S01E05.720p.BluRay.x264-KURA"))
    assert len({row[0] for row in desk.all("SELECT series_id FROM anime_links")}) == 2


async def test_what_the_index_says_leads_to_no_series_of_another_time(desk: Desk) -> None:
    entries = [
        entry(1, "果実の蔵", "2019-04-05", "水果藏", "Fruit Cellar"),
        entry(2, "果実の蔵 2nd season", "2020-04-06", "水果藏 第二季", "幻影藏", season=2),
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[藏][幻影藏/水果藏][2001版][DVDRip][26]"))
    await desk.bring(feed, item("[Kura] Fruit Cellar 2nd Season - 17 [1080p]"))
    assert len({row[0] for row in desk.all("SELECT series_id FROM anime_links")}) == 2


async def test_a_latin_name_before_one_that_the_index_has_is_another_name_of_it(desk: Desk) -> None:
    entries = [entry(1, "瞬間ノ蔵", "2025-01-02", "刹那之藏", "MOMENTARY CASK 剎那之藏")]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    feed = desk.subscribe()
    await desk.bring(feed, item("[ANi] MOMENTARY CASK 剎那之藏 - 03 [1080P][Baha][WEB-DL][CHT][MP4]"))
    await desk.bring(feed, item("[Kura] Momentary Cask - 05 [1080p]"), item("[藏] 刹那之藏 [04][1080p]"))
    assert desk.all("SELECT DISTINCT series_id, question_id FROM anime_links") == [(1, None)]


async def test_an_ova_that_the_index_has_for_another_show_is_not_that_of_the_same_name(desk: Desk) -> None:
    ova = OfflineEntry("CELLSING OVA", RecordKind.OVA, "ja", Ids(bgm_id=2, tmdb_id=8, tmdb_kind=TmdbKind.TV))
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, [entry(1, "CELLSING", "2001-10-10"), ova]))
    feed = desk.subscribe()
    await desk.bring(feed, item("[藏][CELLSING OVA][08][BDRip][GB]"), item("[Kura] Cellsing (2001) - 09 [DVD]"))
    assert len({row[0] for row in desk.all("SELECT series_id FROM anime_links")}) == 2
