"""Ids at TMDB: whole years are read once, exact names are found, and nothing is guessed."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.clock import ManualClock
from kurabito.http import Outbound
from kurabito.metadata.errors import BgmtvError, TmdbError
from kurabito.metadata.lookup import look_up, look_up_western
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient

if TYPE_CHECKING:
    from tests.integration.metadata.world import World

DAY = 24 * 3600


@pytest.fixture
def tmdb(outbound: Outbound, world: World, clock: ManualClock, made_up: Any) -> TmdbClient:
    return TmdbClient(outbound, made_up.KEY, url=world.url("/3"), image_url=world.url("/t/p"), clock=clock)


async def found(tmdb: TmdbClient, title: str, year: int | None, kind: RecordKind = RecordKind.TV) -> int | None:
    return (await look_up(tmdb, title, year, kind)).tmdb_id


async def test_among_a_thousand_shows_a_year_every_id_is_right_and_nearly_every_show_is_found(
    tmdb: TmdbClient, world: World, made_up: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    collection = made_up.populate(world, range(2021, 2023))
    assert min(sum(show.date.startswith(str(year)) for show in world.shows) for year in (2021, 2022)) >= 1000
    given = right = 0
    first_seasons, sequels = [], []
    for wanted in collection:
        outcome = await look_up(tmdb, wanted.title, wanted.year)
        if outcome.tmdb_id is not None:
            given += 1
            right += outcome.tmdb_id == wanted.truth
        if wanted.truth is None:
            assert outcome.tmdb_id is None, wanted
        elif wanted.season == 1:
            first_seasons.append(outcome.tmdb_id == wanted.truth)
        else:
            # TMDB knows no date of that season, so a person confirms it: the entry has the show's name, not the season's.
            assert outcome.tmdb_id is None
            candidates = [(one.tmdb_id, one.season) for one in outcome.candidates]
            sequels.append((wanted.truth, wanted.season) in candidates)
    recall = sum(first_seasons) / len(first_seasons)
    with capsys.disabled():
        print(  # noqa: T201 - how much is found is worth knowing, beside that it is enough
            f"\n  ids: precision {right / given:.3f} of {given}, recall of first seasons {recall:.3f} of "
            f"{len(first_seasons)}, sequels offered {sum(sequels) / len(sequels):.3f} of {len(sequels)}"
        )
    assert right == given
    assert recall >= 0.95
    assert sum(sequels) / len(sequels) >= 0.95
    years = {query for query in world.asked if "/discover/" in query}
    # Four years were read, page by page, and no page twice.
    assert world.count("/3/discover/tv") == len(years)


async def test_a_year_is_read_whole_once_however_many_ask_and_again_the_next_day(
    tmdb: TmdbClient, world: World, clock: ManualClock, made_up: Any
) -> None:
    world.shows = [made_up.Show(n, f"name {n}", f"2020-{n % 12 + 1:02}-01") for n in range(1, 61)]
    assert await asyncio.gather(*(found(tmdb, f"name {n}", 2020) for n in range(1, 61))) == list(range(1, 61))
    assert world.count("/3/discover/tv") == 3
    assert all(
        part in world.asked[0]
        for part in ("with_original_language=ja", "first_air_date_year=2020", "sort_by=first_air_date.asc")
    )
    clock.advance(DAY - 1)
    await found(tmdb, "name 1", 2020)
    assert world.count("/3/discover/tv") == 3
    clock.advance(1)
    await found(tmdb, "name 1", 2020)
    assert world.count("/3/discover/tv") == 6


async def test_only_the_name_counts_and_the_years_beside_are_read_when_they_have_to_be(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [
        made_up.Show(1, "蔵の夜", "2020-04-01", (made_up.DRAMA,)),
        made_up.Show(2, "蔵の夜", "2021-01-02"),
        made_up.Show(3, "蔵の朝", "2020-05-01"),
        made_up.Show(4, "蔵の昼", "2019-12-31"),
        made_up.Show(5, "蔵の外", "2020-05-01", language="ko"),
        made_up.Show(6, "蔵の役者", "2020-05-01", (made_up.DRAMA,)),
        made_up.Show(7, "蔵の映画", "2020-05-01", kind="movie"),
        made_up.Show(8, "蔵の両隣", "2019-05-01"),
        made_up.Show(9, "蔵の両隣", "2021-05-01"),
    ]
    assert await found(tmdb, "蔵の朝", 2020) == 3
    assert world.count("/3/discover/tv") == 1
    assert await found(tmdb, "蔵の夜", 2020) == 2
    assert await found(tmdb, "蔵の昼", 2020) == 4
    assert await found(tmdb, "蔵の 朝", 2020) == 3
    assert await found(tmdb, "蔵の外", 2020) is None
    # A live action that is alone with the name is not what an anime record is about.
    assert await found(tmdb, "蔵の役者", 2020) is None
    assert [one.tmdb_id for one in (await look_up(tmdb, "蔵の役者", 2020)).candidates] == [6]
    assert await found(tmdb, "蔵の映画", 2021) is None
    assert await found(tmdb, "蔵の映画", 2020, RecordKind.MOVIE) == 7
    assert await found(tmdb, "蔵の昼", 2021) is None
    assert await found(tmdb, "蔵の朝", None) == 3
    assert await found(tmdb, "蔵の両隣", None) is None
    between = await look_up(tmdb, "蔵の両隣", 2020)
    assert between.tmdb_id is None
    assert [(one.tmdb_id, one.kind, one.is_animation) for one in between.candidates] == [
        (8, TmdbKind.TV, True),
        (9, TmdbKind.TV, True),
    ]


async def test_a_name_is_the_same_however_it_is_typed_and_one_that_is_typed_alike_goes_first(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [
        made_up.Show(1, "KURA\u00d7YORU", "2020-04-01"),
        made_up.Show(2, "蔵 〜夜〜", "2020-04-01"),
        made_up.Show(3, "Kura", "2020-04-01"),
        made_up.Show(4, "\uff2b\uff35\uff32\uff21", "2020-05-01"),
        made_up.Show(5, "蔵 -朝-", "2020-05-01"),
    ]
    assert await found(tmdb, "kura x yoru", 2020) == 1
    assert await found(tmdb, "蔵\uff5e夜\uff5e", 2020) == 2
    assert await found(tmdb, "蔵\u2013朝\u2013", 2020) == 5
    assert await found(tmdb, "蔵―朝―", 2020) == 5
    assert await found(tmdb, "蔵ー朝ー", 2020) is None
    assert await found(tmdb, "Kura", 2020) == 3
    assert await found(tmdb, "KURA", 2020) is None
    assert await found(tmdb, "Kura!", 2020) is None


async def test_a_sequel_is_its_show_and_a_season_where_tmdb_says_when_that_began(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [
        made_up.Show(1, "蔵の夜", "2018-04-01"),
        made_up.Show(2, "蔵の夜", "2019-04-01", (made_up.DRAMA,)),
        made_up.Show(3, "蔵の朝", "2018-04-01"),
        made_up.Show(4, "蔵の朝", "2010-04-01"),
    ]
    world.season_starts = {1: ["2018-04-01", "2020-10-02"], 3: ["2018-04-01", "2020-10-02"]}
    second = await look_up(tmdb, "蔵の夜 第2期", 2020)
    assert (second.tmdb_id, second.tmdb_kind, second.tmdb_season) == (1, TmdbKind.TV, 2)
    assert (second.poster_url or "").endswith("/1-2.jpg")
    third = await look_up(tmdb, "蔵の夜 第3期", 2022)
    assert third.tmdb_id is None
    assert (1, 3) in [(one.tmdb_id, one.season) for one in third.candidates]
    assert await found(tmdb, "蔵の夜 2", 2020, RecordKind.OVA) is None
    # Years later, it is not the season that TMDB has.
    assert await found(tmdb, "蔵の夜 第2期", 2024) is None
    assert await found(tmdb, "蔵の朝 第2期", 2020) is None


async def test_what_was_made_for_television_or_for_sale_may_be_a_film_to_tmdb_where_no_show_has_the_name(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [
        made_up.Show(1, "蔵の外伝", "2020-04-01", kind="movie"),
        made_up.Show(2, "蔵の番外", "2020-04-01"),
        made_up.Show(3, "蔵の番外", "2020-04-01", kind="movie"),
        made_up.Show(4, "蔵の特番", "2020-04-01", (made_up.DRAMA,), kind="movie"),
        made_up.Show(5, "蔵の役者", "2020-04-01", (made_up.DRAMA,)),
        made_up.Show(6, "蔵の役者", "2020-04-01", kind="movie"),
    ]
    assert [await found(tmdb, "蔵の外伝", 2020, kind) for kind in RecordKind] == [1, 1, 1, 1]
    special = await look_up(tmdb, "蔵の外伝", 2020, RecordKind.TV)
    assert (special.tmdb_id, special.tmdb_kind) == (1, TmdbKind.MOVIE)
    for kind in (RecordKind.OVA, RecordKind.TV):
        as_show = await look_up(tmdb, "蔵の番外", 2020, kind)
        assert (as_show.tmdb_id, as_show.tmdb_kind) == (2, TmdbKind.TV)
    # A film of the year after is another one, a live action decides nothing, and a show of the name has to be ruled out first.
    assert await found(tmdb, "蔵の外伝", 2019) is None
    assert await found(tmdb, "蔵の特番", 2020) is None
    assert await found(tmdb, "蔵の役者", 2020) is None


async def test_what_has_an_english_title_alone_is_searched_for_and_need_be_no_animation(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [
        made_up.Show(1, "The Cellar", "2011-04-01", (made_up.DRAMA,), "en"),
        made_up.Show(2, "The Cellar", "1985-04-01", (made_up.DRAMA,), "en"),
        made_up.Show(3, "The Cellar Door", "2011-04-01", (made_up.DRAMA,), "en"),
        made_up.Show(4, "The Cellar", "2011-04-01", (made_up.DRAMA,), "en", "movie"),
    ]
    western = look_up_western
    assert (await western(tmdb, "the cellar", 2012, RecordKind.TV)).tmdb_id == 1
    assert (await western(tmdb, "The Cellar", 2011, RecordKind.MOVIE)).tmdb_id == 4
    assert (await western(tmdb, "The Cellar", 2000, RecordKind.TV)).tmdb_id is None
    undated = await western(tmdb, "The Cellar", None, RecordKind.TV)
    assert undated.tmdb_id is None
    assert [one.tmdb_id for one in undated.candidates] == [1, 2]


async def test_a_list_that_became_shorter_while_it_was_read_is_read_to_its_new_end(
    tmdb: TmdbClient, world: World, made_up: Any
) -> None:
    world.shows = [made_up.Show(n, f"name {n}", "2020-01-01") for n in range(1, 42)]
    answer = world._answer

    async def shrinking(target: str) -> Any:
        told = await answer(target)
        if "page=1&" in target + "&":
            world.shows.pop()
        return told

    world._answer = shrinking  # type: ignore[method-assign]
    assert await found(tmdb, "name 40", 2020) == 40
    assert world.count("/3/discover/tv") == 3


async def test_who_does_not_answer_says_nothing_about_a_name_and_the_key_is_told_to_nobody(
    outbound: Outbound, world: World, made_up: Any, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    problems = []
    for key in ("wrong" * 6, "eyJ.a.token"):
        client = TmdbClient(outbound, key, url=world.url("/3"), image_url="", clock=clock)
        with pytest.raises(TmdbError, match="KURABITO_TMDB_KEY") as refused:
            await client.titles_of(TmdbKind.TV, 2020)
        problems.append(str(refused.value))
    assert world.headers[-1]["authorization"] == "Bearer eyJ.a.token"
    assert "api_key" not in world.asked[-1]
    tmdb = TmdbClient(outbound, made_up.KEY, url=world.url("/3"), image_url="", clock=clock)
    world.troubles = [(200, {})] * 3
    with pytest.raises(TmdbError):
        await tmdb.titles_of(TmdbKind.TV, 2020)
    with pytest.raises(TmdbError, match="off"):
        await TmdbClient(outbound, None, url=world.url("/3"), image_url="").titles_of(TmdbKind.TV, 2020)
    assert await tmdb.titles_of(TmdbKind.TV, 2020) == {}
    world.troubles = [(429, {"Retry-After": "3600"})]
    with pytest.raises(TmdbError) as busy:
        await tmdb.titles_of(TmdbKind.TV, 2021)
    problems.append(str(busy.value))
    said = "\n".join([*problems, *(record.getMessage() for record in caplog.records), caplog.text])
    assert not any(key in said for key in (made_up.KEY, "wrongwrong", "eyJ.a.token"))


async def test_bgm_is_told_who_asks_and_asked_once_a_second(
    outbound: Outbound, world: World, made_up: Any, clock: ManualClock
) -> None:
    bangumi = BangumiClient(outbound, url=world.url(), clock=clock)
    world.calendar = [
        {"weekday": {"en": "Wed", "id": 3}, "items": [made_up.entry(5, "蔵 &amp; 夜", 3), made_up.entry(6, "")]},
        {"weekday": {"en": "Sun", "id": 7}, "items": None},
    ]
    world.subjects[9] = {
        "id": 9, "name": "蔵の映画", "name_cn": "藏", "date": "2022-07-03", "platform": "剧场版", "eps": 1, "summary": "",
        "images": {"large": "https://img.test/l.jpg", "common": "https://img.test/r/400/l.jpg"},
    }  # fmt: skip
    (airing,) = await bangumi.calendar()
    assert (airing.weekday, airing.details.title_japanese, airing.details.year) == (3, "蔵 & 夜", 2022)
    assert airing.details.poster_url == "/pic/cover/l/5.jpg"
    second = asyncio.create_task(bangumi.subject(9))
    # Time for the server to hear of it too early: that it does not is told by no event.
    await asyncio.sleep(0.05)
    assert len(world.asked) == 1
    clock.advance(1.0)
    subject = await second
    assert subject is not None
    assert (subject.kind, subject.bgm_id, subject.poster_url) == (RecordKind.MOVIE, 9, "https://img.test/l.jpg")
    assert all(headers["user-agent"].startswith("kurabito/") for headers in world.headers)
    for broken in ([{"weekday": {}, "items": [{"name": "x"}]}], "nothing"):
        world.calendar = broken  # type: ignore[assignment]
        clock.advance(1.0)
        with pytest.raises(BgmtvError):
            await bangumi.calendar()
    clock.advance(1.0)
    assert await bangumi.subject(10) is None
