"""A name that the offline index knows whole leads to the series whose record that entry is, and to no other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.relinks.judge import judge_range
from kurabito.catalog.relinks.scope import LinkRange
from kurabito.feeds.results import FeedItem
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.titles import TitleRule

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

SHOW, SECOND, ART, REMAKE, FESTIVAL = range(1, 6)


def entry(bgm_id: int, year: int, *names: str, season: int | None = None) -> OfflineEntry:
    tmdb_id = 70 if bgm_id in (SHOW, SECOND) else 70 + bgm_id
    ids = Ids(bgm_id=bgm_id, tmdb_id=tmdb_id, tmdb_kind=TmdbKind.TV, tmdb_season=season)
    return OfflineEntry(names[0], RecordKind.TV, "ja", ids, air_date=date(year, 4, 1), other_titles=names[1:])


INDEX = [
    entry(SHOW, 2012, "蔵の夜", "酿酒之夜", "Night Brewer", "釀酒之夜", season=1),
    entry(SECOND, 2015, "蔵の夜 新酒編", "酿酒之夜 2期", "Night Brewer: New Sake", "釀酒之夜", season=2),
    entry(ART, 2018, "蔵の夜 Alembic", "酿酒之夜 Alembic"),
    entry(REMAKE, 2019, "麹の森(2019)", "曲之森 (2019)", "发酵之森"),
    entry(FESTIVAL, 2020, "酒祭/Matsuri 6/17", "酒祭特别篇 归来"),
]


async def followed(desk: Desk, *entries: int, index: Sequence[OfflineEntry] = INDEX) -> list[int]:
    async def nothing() -> None:
        return None

    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, index))
    follow = FollowFromMetadata(desk.database, desk.catalog, nothing)
    return [(await follow.follow_entry(bgm_id)).id for bgm_id in entries]


async def series_of(desk: Desk, *titles: str) -> list[int | None]:
    """The series of each title; None for what is asked about."""
    feed = desk.subscribe(f"https://feeds.example/{quote(titles[0])}", new_series="ask")
    await desk.bring(
        feed, *(FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent") for title in titles)
    )
    found = {
        title: None if question else series_id
        for title, series_id, question in desk.all("SELECT title, series_id, question_id FROM anime_links")
    }
    return [found[title] for title in titles]


WRITTEN = {
    "[Kura][蔵の夜 新酒編][05][1080p]": SECOND,
    "[Kura] 酿酒之夜 2期 - 05 [1080p]": SECOND,
    "[Kura] 酿酒之夜 第二季 [05]": SECOND,
    "Night.Brewer.S02E05.1080p.WEB-DL-KURA": SECOND,
    "Night.Brewer.New.Sake.S02E05.1080p.WEB-DL-KURA": SECOND,
    "[Kura] 釀酒之夜 [05][BIG5]": SHOW,
    "[Kura] 酿酒之夜 Alembic [05]": ART,
    "[Kura-Raws] 蔵の夜 Alembic - 05 (BS11 1920x1080 x264 AAC).mp4": ART,
    "[Kura] 麹の森(2019) - 05 [1080p]": REMAKE,
    "[Kura] 曲之森 (2019) 05 [1080p]": REMAKE,
    "[Kura] 酒祭/Matsuri 6/17 [05][1080p]": FESTIVAL,
    "[Kura] 酒祭特别篇 归来 - 05 [1080p]": FESTIVAL,
}


async def test_a_whole_name_leads_to_its_entry_whatever_is_read_out_of_it(desk: Desk) -> None:
    ids = await followed(desk, SHOW, SECOND, ART, REMAKE, FESTIVAL)
    found = await series_of(desk, *WRITTEN)
    assert dict(zip(WRITTEN, found, strict=True)) == {title: ids[meant - 1] for title, meant in WRITTEN.items()}


async def test_titles_that_differ_only_in_what_is_read_out_of_them_are_read_again_each_for_itself(desk: Desk) -> None:
    index = [*INDEX, entry(6, 2021, "大酒祭"), entry(7, 2022, "大酒祭 特别篇")]
    titles = ("[Kura] 大酒祭 [05][1080p]", "[Kura] 大酒祭 特别篇 [05][1080p]", *WRITTEN)
    festival, special, *_ = await followed(desk, 6, 7, SHOW, SECOND, ART, REMAKE, FESTIVAL, index=index)
    assert (await series_of(desk, *titles))[:2] == [festival, special]
    judged = desk.database.read_blocking(lambda conn: judge_range(conn, LinkRange(tuple(range(100)))))
    assert (judged.read, judged.moves) == (len(titles), [])


@pytest.mark.parametrize(
    "title", ["[Kura] 酿酒之夜 Alembic [05]", "[Kura] 蔵の夜 新酒編 [05]", "[Kura] 酿酒之夜 STAMPEDE [05]"]
)
async def test_a_sequel_that_is_not_followed_is_none_of_the_show(kept_desk: Desk, title: str) -> None:
    (show,) = await followed(kept_desk, SHOW)
    assert await series_of(kept_desk, title) != [show]
    assert kept_desk.taken.ids == []


async def test_the_name_of_a_show_in_latin_letters_behind_another_is_no_subtitle(kept_desk: Desk) -> None:
    (show,) = await followed(kept_desk, SHOW)
    titles = ("[Kura] 酿酒之夜 Night Brewer [05]", "[Kura] 酿酒之夜 Kura no Yoru [06]")
    assert await series_of(kept_desk, *titles) == [show, show]


async def test_signs_tell_the_seasons_of_a_show_apart_that_have_nothing_else(kept_desk: Desk) -> None:
    names = ("BREWING!!", "BREWING'!!", "BREWING!!!")
    ids = [Ids(bgm_id=n, tmdb_id=90, tmdb_kind=TmdbKind.TV, tmdb_season=n) for n in (11, 12, 13)]
    index = [
        OfflineEntry(name, RecordKind.TV, "ja", one, air_date=date(2010 + place, 4, 1))
        for place, (name, one) in enumerate(zip(names, ids, strict=True))
    ]
    first, third = await followed(kept_desk, 11, 13, index=index)
    titles = [f"[Kura] {name} - 05 [1080p]" for name in ("Brewing!!", "BREWING!!!", "Brewing'!!", "Brewing")]
    assert await series_of(kept_desk, *titles) == [first, third, None, first]


async def test_the_year_of_a_title_outweighs_the_only_entry_of_its_name(kept_desk: Desk) -> None:
    (show,) = await followed(kept_desk, SHOW)
    assert await series_of(kept_desk, "Night.Brewer.2001.S01E05.1080p.WEB-DL-KURA") != [show]


async def test_a_title_rule_outweighs_the_name_as_it_is_written(desk: Desk) -> None:
    show, _ = await followed(desk, SHOW, ART)
    rule = TitleRule(name="one show", condition="Alembic", parse="Alembic", fields={"title": "Night Brewer"})
    await desk.rules.add(rule)
    assert await series_of(desk, "[Kura] 酿酒之夜 Alembic [05]") == [show]


async def test_a_number_that_reached_the_offset_of_a_later_season_is_of_that(kept_desk: Desk) -> None:
    _, second = await followed(kept_desk, SHOW, SECOND)
    assert await series_of(kept_desk, "[Kura] 酿酒之夜 第二季 [05]") == [second]
    await kept_desk.catalog.change(second, {"episode_offset": 12})
    assert await series_of(kept_desk, "[Kura] 酿酒之夜 [17]") == [second]


@pytest.mark.parametrize(
    "titles",
    [
        ("[Kura] 酿酒师们的夜 [01]", "[Moto] 釀酒師們的夜 [02]"),
        ("[Moto] 釀酒師們的夜 [01]", "[Kura] 酿酒师们的夜 [02]"),
    ],
    ids=["simplified first", "traditional first"],
)
async def test_one_name_in_both_chinese_scripts_is_one_series_without_the_index(
    kept_desk: Desk, titles: tuple[str, str]
) -> None:
    first, second = [await series_of(kept_desk, title) for title in titles]
    assert first == second != [None]


async def test_a_name_that_the_index_has_in_the_other_script_leads_to_its_entry(kept_desk: Desk) -> None:
    (forest,) = await followed(kept_desk, REMAKE)
    assert await series_of(kept_desk, "[Kura] 麴之林 第二季 [05]") != [forest]
    assert await series_of(kept_desk, "[Kura] 發酵之森 [05]", "[Kura] 發酵之森 (2019) [06]") == [forest, forest]


@pytest.mark.parametrize("name", ["Kura no Yoru ni Alembic o Nusumu", "Kura no Yoru ni Arenbikku wo Nusumu"])
async def test_romaji_finds_the_followed_title_that_it_may_be_the_reading_of(kept_desk: Desk, name: str) -> None:
    index = [*INDEX, entry(8, 2020, "蔵の夜にアレンビックを盗む")]
    show, thief = await followed(kept_desk, SHOW, 8, index=index)
    assert await series_of(kept_desk, f"[Kura] {name} - 05 [1080p]") == [thief]
    assert await series_of(kept_desk, "[Kura] Kura no Asa ni Alembic o Nusumu - 05") not in ([show], [thief])


async def test_romaji_that_may_be_two_followed_titles_is_neither(kept_desk: Desk) -> None:
    alike = [entry(8, 2020, "神の庭の夜"), entry(9, 2021, "上の庭の夜")]
    ids = await followed(kept_desk, 8, 9, index=alike)
    assert await series_of(kept_desk, "[Kura] Kami no Niwa no Yoru - 05 [1080p]") not in [[one] for one in ids]


COUNTED = [
    entry(SHOW, 2008, "麹と香辛料", "麹与香辛料", "麹与香辛料 第1季", season=1),
    entry(SECOND, 2009, "麹と香辛料II", "麹与香辛料 第二季", season=2),
]


async def test_a_later_season_is_not_the_first_where_the_index_counts_that_too(kept_desk: Desk) -> None:
    await followed(kept_desk, index=COUNTED)

    first, second = await series_of(
        kept_desk,
        "[Kura] 麹与香辛料 / Koji to Koushinryou [05]",
        "[Moto] 麹与香辛料 第二季 / Koji to Koushinryou S2 [05]",
    )

    assert None not in (first, second)
    assert first != second


FLAT = [
    entry(SHOW, 2015, "蔵えない彼女", "蔵女主的养成", season=1),
    entry(SECOND, 2017, "蔵えない彼女♭", "蔵女主的养成 ♭", "Kuraenai Kanojo Flat", season=2),
]


async def test_a_name_that_two_entries_share_but_for_a_sign_leads_to_the_first(kept_desk: Desk) -> None:
    await followed(kept_desk, index=FLAT)

    first, second = await series_of(
        kept_desk, "[Kura] 蔵女主的养成 - 05 [1080p]", "[Kura] Kuraenai Kanojo Flat - 06 [1080p]"
    )

    assert first is not None
    assert first != second


FILM = OfflineEntry(
    "くらのえいが",
    RecordKind.MOVIE,
    "ja",
    Ids(bgm_id=9),
    air_date=date(2020, 4, 1),
    other_titles=("酒藏之花与雾", "Mist of the Cellar"),
)


async def test_a_title_that_says_no_kind_is_of_the_film_that_alone_has_its_name(desk: Desk) -> None:
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, [*INDEX, FILM]))

    found = await series_of(
        desk, "[Kura][酒藏之花与雾][1080P][BDRip]", "Mist.of.the.Cellar.2020.1080p.BluRay.x264-KURA"
    )

    assert len(set(found)) == 1
    assert desk.all("SELECT DISTINCT series.kind FROM series JOIN anime_links ON series_id = series.id") == [("movie",)]
    assert desk.all(
        "SELECT DISTINCT episodes.kind, number FROM episodes JOIN anime_links ON episode_id = episodes.id"
    ) == [("movie", 1.0)]


LISTED = [
    entry(11, 2008, "麦と香料", "麦与香料", "麦与香料 第1季", season=1),
    entry(12, 2009, "麦と香料II", "麦与香料 第二季", season=2),
    entry(13, 2016, "狂戦蔵(2016)", "狂战藏", "BREWSERK", season=1),
    entry(14, 2017, "狂戦蔵(第2期)", "狂战藏 次篇", season=2),
    entry(15, 2020, "33/7"),
]


def index(desk: Desk) -> None:
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, LISTED))


async def test_a_second_season_is_not_the_first_because_the_index_lists_that_one_with_its_number_too(
    desk: Desk,
) -> None:
    index(desk)
    first, again, second = await series_of(
        desk,
        "[Kura][麦与香料 Mugi to Kouryou][01-13][DVDRip][合集]",
        "[Kura] Mugi to Kouryou - 05 [1080p]",
        "[Kura][麦与香料II / Mugi to Kouryou II][09][720P]",
    )
    assert first == again
    assert second not in (None, first)


async def test_an_entry_of_the_very_year_that_is_said_is_not_the_show_of_the_year_before(desk: Desk) -> None:
    index(desk)
    titles = ("[Kura] Brewserk (2016) - 07 [1080p]", "【Kura】★4月新番[狂战藏 次篇 / Brewserk 2017][05][720P]")
    first, second = await series_of(desk, *titles)
    assert first != second


async def test_a_number_is_a_name_where_the_index_has_one_show_of_it(desk: Desk) -> None:
    index(desk)
    titles = ("[Kura][33/7][04][1080P]", "[Toji] 33-7 - 07 (MX 1280x720 x264 AAC).mp4", "[Mugi][44/7][05][1080P]")
    one, same, unknown = await series_of(desk, *titles)
    assert one == same is not None
    assert unknown is None


async def test_signs_that_no_name_of_a_followed_show_has_are_asked_about(kept_desk: Desk) -> None:
    listed = [entry(21, 2018, "はたらく蔵人"), entry(22, 2021, "はたらく蔵人!!")]
    (first,) = await followed(kept_desk, 21, index=listed)
    found = await series_of(
        kept_desk, "[Kura] Hataraku Kurabito!! - 05 [1080p]", "[Kura] Hataraku Kurabito - 06 [1080p]"
    )
    assert found == [None, first]


async def test_a_season_that_only_its_record_counts_is_found_by_its_number_in_romaji(desk: Desk) -> None:
    listed = [entry(31, 2013, "はたらく蔵人!", season=1), entry(32, 2022, "はたらく蔵人!!", season=2)]
    (second,) = await followed(desk, 32, index=listed)
    titles = ("[Kura] Hataraku Kurabito! S2 - 05 [1080p]", "[Toji] Hataraku Kurabito S3 - 05 [1080p]")
    found = await series_of(desk, *titles)
    assert (found[0], found[1] != second) == (second, True)


async def test_a_second_part_of_a_season_is_found_in_romaji(desk: Desk) -> None:
    listed = [entry(41, 2023, "蔵人の嫁 SEASON2", season=2), entry(42, 2023, "蔵人の嫁 SEASON2 第2クール", season=2)]
    (part,) = await followed(desk, 42, index=listed)
    assert await series_of(desk, "[Kura] Kurabito no Yome Season 2 Part 2 - 01 [1080p]") == [part]


async def test_a_season_that_came_as_ovas_is_that_season_by_its_number(desk: Desk) -> None:
    ids = Ids(bgm_id=9, tmdb_id=70, tmdb_kind=TmdbKind.TV, tmdb_season=3)
    last = OfflineEntry(
        "蔵の夜 FINAL", RecordKind.OVA, "ja", ids, date(2022, 4, 1), other_titles=("Night Brewer Final",)
    )
    (series,) = await followed(desk, 9, index=[*INDEX, last])
    assert await series_of(desk, "Night.Brewer.S03E05.1080p.BluRay.x264-KURA") == [series]


async def test_a_season_by_tmdb_outweighs_the_number_in_a_name(desk: Desk) -> None:
    cour = entry(SECOND, 2014, "蔵の夜(第2クール)", "酿酒之夜 第二季", "Night Brewer")
    ids = Ids(bgm_id=9, tmdb_id=70, tmdb_kind=TmdbKind.TV, tmdb_season=2)
    second = OfflineEntry("蔵の夜Ⅱ", RecordKind.TV, "ja", ids, date(2016, 4, 1))
    (series,) = await followed(desk, 9, index=[INDEX[0], cour, second])
    assert await series_of(desk, "Night.Brewer.S02E05.1080p.WEB.x264-KURA") == [series]


async def test_signs_tell_a_season_in_either_chinese_script(desk: Desk) -> None:
    ids, signs = Ids(bgm_id=9, tmdb_id=70, tmdb_kind=TmdbKind.TV, tmdb_season=2), "\u00d7\u00d7"
    name = f"酿酒之夜 {signs}"
    second = OfflineEntry(f"蔵の夜{signs}", RecordKind.TV, "ja", ids, date(2016, 4, 1), name, other_titles=(name,))
    first = entry(SHOW, 2012, "蔵の夜", "酿酒之夜", "Night Brewer")
    _, series = await followed(desk, SHOW, 9, index=[first, second])
    assert await series_of(desk, f"[Kura][釀酒之夜 {signs}][04][1080p]") == [series]


async def test_a_name_in_two_scripts_is_two_where_an_entry_has_both_and_a_later_season_one(desk: Desk) -> None:
    later = entry(SECOND, 2015, "酒恋:", "伪酒", season=2)
    desk.database.write_blocking(
        lambda conn: offline.replace_entries(conn, [entry(SHOW, 2012, "酒恋", "伪酒", "Kuraito"), later])
    )
    one, other = await series_of(desk, "[Kura] 伪酒 Kuraito 第07话 720p", "[Toji] Kuraito - 13 [720p]")
    assert one == other is not None
