"""Numbers that count seasons through where no source has the counts: they are asked about, and never guessed."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.identity.answers import Answer
from kurabito.catalog.identity.evidence import Clue
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

PLACES = "SELECT title, series_id, question_id IS NOT NULL FROM anime_links ORDER BY id"
LATER = date(2018, 10, 8)


def entry(
    number: int,
    title: str,
    begin: date,
    *others: str,
    weeks: int = 12,
    show: int = 9,
    season: int | None = None,
) -> OfflineEntry:
    ids = Ids(bgm_id=number, tmdb_id=show, tmdb_kind=TmdbKind.TV, tmdb_season=season)
    last = begin + timedelta(weeks=weeks - 1)
    return OfflineEntry(title, RecordKind.TV, "ja", ids, begin, other_titles=others, last_date=last)


FIRST = entry(1, "蔵の黄金", date(2018, 4, 9), "Golden Cellar")
SECOND = entry(2, "蔵の黄金 第2期", LATER, "Golden Cellar 2nd Season", season=2)


def item(title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent")


def title(name: str, number: int) -> str:
    return f"[Kura] {name} - {number:02} [1080p]"


async def nothing() -> None:
    return None


def fill(desk: Desk, *entries: OfflineEntry) -> None:
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))


async def follow(desk: Desk, *numbers: int) -> None:
    catalog = FollowFromMetadata(desk.database, desk.catalog, nothing)
    for number in numbers:
        await catalog.follow_entry(number)


def places_of(desk: Desk) -> list[tuple[int, bool]]:
    """The series of each release, and whether it is asked about."""
    return [(series_id, bool(asked)) for _, series_id, asked in desk.all(PLACES)]


async def asked_of(desk: Desk, name: str, *numbers: int) -> list[bool]:
    """Whether each number is asked about; they come one after the other."""
    feed = desk.subscribe()
    for number in numbers:
        await desk.bring(feed, item(title(name, number)))
    return [bool(asked) for _, _, asked in desk.all(PLACES)]


@pytest.mark.parametrize("is_followed", [True, False])
async def test_a_number_of_more_weeks_than_its_season_was_shown_is_asked_about(desk: Desk, is_followed: bool) -> None:
    fill(desk, FIRST, SECOND)
    await follow(desk, *[1] * is_followed)
    assert await asked_of(desk, "Golden Cellar", 29, 12, 13, 4) == [True, False, True, False]
    places = desk.all(PLACES)
    assert places[1][1] == places[3][1]


async def test_a_number_that_nothing_else_may_have_is_left_to_the_show(desk: Desk) -> None:
    fill(desk, FIRST)
    assert await asked_of(desk, "Golden Cellar", 4, 13, 14) == [False, False, False]


async def test_cours_of_one_season_lead_up_to_their_numbers(desk: Desk) -> None:
    cour = entry(2, "蔵の黄金(第2クール)", LATER, "Golden Cellar Part 2")
    third = entry(3, "蔵の黄金 第2期", LATER + timedelta(weeks=60), "Golden Cellar 2nd Season", season=2)
    fill(desk, FIRST, cour, third)
    assert await asked_of(desk, "Golden Cellar", 4, 23, 25) == [False, False, True]


async def test_names_that_only_titles_have_stand_for_the_entry_of_their_show(desk: Desk) -> None:
    fill(desk, FIRST, SECOND)
    await desk.bring(desk.subscribe("https://other.example/rss"), item("[Kura] 蔵の黄金 / Kin no Kura [03][1080p]"))
    assert await asked_of(desk, "Kin no Kura", 5, 29) == [False, False, True]


async def test_what_came_in_several_episodes_a_week_says_nothing_by_its_weeks(desk: Desk) -> None:
    fill(desk, entry(1, "蔵の黄金", date(2018, 4, 9), "Golden Cellar", weeks=1), SECOND)
    assert await asked_of(desk, "Golden Cellar", 4, 24) == [False, False]


@pytest.mark.parametrize("counts", [(None, None), (64, 52)])
async def test_a_remake_does_not_get_a_number_that_only_its_original_has(
    desk: Desk, counts: tuple[int | None, int | None]
) -> None:
    original = entry(1, "クラノキング", date(2001, 7, 4), "通蔵王", weeks=65, show=1)
    remake = entry(2, "KURA NO KING", date(2021, 4, 1), "通蔵王", weeks=56, show=2)
    fill(desk, original, remake)
    await follow(desk, 1, 2)

    def count(conn: Connection) -> None:
        for number, episodes in enumerate(counts, 1):
            conn.run("UPDATE metadata SET episode_count = :n WHERE bgm_id = :id", {"n": episodes, "id": number})

    desk.database.write_blocking(count)
    assert await asked_of(desk, "Kura no King", 58, 12) == [True, False]


async def test_a_year_beside_the_name_does_not_make_a_number_of_the_next_season_one_of_its_own(desk: Desk) -> None:
    first = entry(1, "ベルクラ(2016)", date(2016, 7, 1), "Berkura (2016)", show=7)
    second = entry(2, "ベルクラ(第2期)", date(2017, 4, 7), "Berkura Season 2", show=7, season=2)
    fill(desk, entry(3, "剣風伝奇ベルクラ", date(1997, 10, 7), "Berkura", weeks=25, show=8), first, second)
    await follow(desk, 1, 2, 3)
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Berkura (2016) - 15 [1080p]"), item("[Kura] Berkura (2016) - 05 [1080p]"))
    assert [bool(asked) for *_, asked in desk.all(PLACES)] == [True, False]
    desk.database.write_blocking(
        lambda conn: conn.run("UPDATE offline_entries SET episode_count = 12, franchise_id = 1 WHERE tmdb_id = 7")
    )
    await desk.bring(feed, item("[Toji] Berkura (2016) - 16 [1080p]"))
    assert places_of(desk)[2] == (2, False)


async def test_a_name_of_two_followed_shows_is_asked_about_unless_a_year_tells(desk: Desk) -> None:
    old = entry(1, "クラの旅 the Beautiful Cellar", date(2003, 4, 8), "奇蔵之旅", weeks=13, show=1)
    new = entry(2, "クラの旅 the Animated Series", date(2017, 10, 6), "奇蔵之旅", show=2)
    fill(desk, old, new)
    await follow(desk, 1, 2)
    feed = desk.subscribe()
    for one in ("奇蔵之旅 - 12", "奇蔵之旅 (2017) - 12"):
        await desk.bring(feed, item(f"[Kura] {one} [1080p]"))
    asked, year = desk.all(PLACES)
    assert (bool(asked[2]), year[1], bool(year[2])) == (True, 2, False)


async def test_a_later_season_in_the_catalog_makes_a_gap_in_the_numbers_a_question(desk: Desk) -> None:
    feed = desk.subscribe("https://other.example/rss")
    await desk.bring(feed, item("[Kura] Golden Cellar S2 - 03 [1080p]"))
    assert await asked_of(desk, "Golden Cellar", 4, 29, 15, 12, 14, 17) == [False] * 2 + [
        True,
        True,
        False,
        False,
        False,
    ]


async def test_the_releases_of_one_batch_lead_up_to_each_other(desk: Desk) -> None:
    numbers = [title("Golden Cellar", number) for number in range(24, 0, -1)]
    await desk.bring(desk.subscribe(), item("[Kura] Golden Cellar S2 - 03 [1080p]"), *map(item, numbers))
    assert [bool(asked) for *_, asked in desk.all(PLACES)] == [False] * 25


async def test_an_answer_holds_for_the_numbers_of_its_cour(desk: Desk) -> None:
    fill(desk, FIRST, SECOND)
    await follow(desk, 1, 2)
    feed = desk.subscribe()
    await desk.bring(feed, item(title("Golden Cellar", 15)), item(title("Golden Cellar", 17)))
    (asked,) = (await desk.questions.page()).items
    assert [(one.series_id, Clue.BEYOND in one.clues) for one in asked.question.candidates] == [(2, False), (1, True)]
    answered = await desk.questions.answer(asked.question.id, Answer(series_id=2))
    await desk.bring(feed, *(item(title("Golden Cellar", number)) for number in (18, 14, 4, 26)))
    assert places_of(desk) == [(2, False)] * 4 + [(1, False), (1, True)]
    assert answered.effect.correction_id is not None
    await desk.corrections.undo(answered.effect.correction_id)
    await desk.bring(feed, item(title("Golden Cellar", 19)))
    assert places_of(desk)[-1] == (1, True)


async def test_a_question_about_a_number_names_no_show_that_its_answer_would_take_along(desk: Desk) -> None:
    fill(desk, FIRST, SECOND)
    feed = desk.subscribe()
    await desk.bring(feed, item(title("Golden Cellar", 15)))
    await desk.bring(feed, item(title("Golden Cellar", 4)), item("[Kura] Golden Cellar S2 - 02 [1080p]"))
    first, second = (row[1] for row in desk.all(PLACES)[1:])
    (asked,) = (await desk.questions.page()).items
    await desk.questions.answer(asked.question.id, Answer(series_id=second))
    assert places_of(desk) == [(second, False), (first, False), (second, False)]


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ("[Kura] Golden Cellar♭ S2 - 03", "[Toji] Golden Cellar♭ - 04"),
        ("[藏] 黄金藏 第二季 / Golden Cellar': [03]", "[Toji] Golden Cellar': - 04"),
    ],
)
async def test_signs_that_a_later_season_alone_has_lead_to_it(desk: Desk, later: str, said: str) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item(title("Golden Cellar", 3)), item(later))
    await desk.bring(feed, item(said))
    (first, _), *others = places_of(desk)
    assert others == [(2 if first == 1 else 1, False)] * 2


@pytest.mark.parametrize("name", ["Golden Cellar!!", "Golden Cellar ××", "Golden Cellar:"])  # noqa: RUF001
async def test_signs_that_the_show_has_not_are_asked_about_where_a_later_season_came(desk: Desk, name: str) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item(title("Golden Cellar", 3)), item("[Kura] Golden Cellar S2 - 03 [1080p]"))
    await desk.bring(feed, item(title(name, 4)))
    assert [bool(row[2]) for row in desk.all(PLACES)] == [False, False, True]
