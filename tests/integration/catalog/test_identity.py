"""Which series a release is about, by everything that speaks for it; and what is asked when that does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from kurabito.catalog.errors import CorrectionConflict, QuestionNotFound
from kurabito.catalog.identity.answers import Answer
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.identity.questions import QuestionStatus
from kurabito.catalog.states import SeriesState
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem
from kurabito.metadata import records
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

MIKAN = "https://mikan.example/RSS/Bangumi?bangumiId=3141&subgroupid=1"


def item(title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent")


def series_count(desk: Desk) -> int:
    ((count,),) = desk.all("SELECT count(*) FROM series WHERE merged_into IS NULL")
    return int(count)


def names_of(desk: Desk, series_id: int) -> set[str]:
    return {name for (name,) in desk.all("SELECT name FROM series_aliases WHERE series_id = :id", id=series_id)}


async def test_a_page_of_one_show_is_one_series_whatever_titles_call_it(desk: Desk) -> None:
    feed = desk.subscribe(MIKAN)
    await desk.bring(
        feed,
        item("[藏] 夜之藏人 第二季 [01][1080p]"),
        item("[Kura] Yoru no Kurabito S2 - 02 [1080p]"),
        item("[Toji] Night Brewer Season 2 - 03 [1080p]"),
    )
    await desk.bring(feed, item("[Moto] Kurabito II - 04 [1080p]"))
    assert series_count(desk) == 1
    assert desk.all("SELECT count(*) FROM episodes") == [(4,)]
    clues = [row[0] for row in desk.all("SELECT clues FROM anime_links ORDER BY id")]
    assert sum("same_page" in one for one in clues) == 3


async def test_five_spellings_of_one_show_are_one_series_with_the_index(desk: Desk) -> None:
    names = ("葬送のクラビト", "葬送的藏人", "葬送的藏人們", "Kurabito: Beyond the Cellar", "Sousou no Kurabito")
    entry = OfflineEntry(names[0], RecordKind.TV, "ja", Ids(bgm_id=1), other_titles=names[1:])
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, [entry]))
    feed = desk.subscribe()
    for number, name in enumerate(names, 1):
        await desk.bring(feed, item(f"[Kura] {name} - {number:02} [1080p]"))
    assert series_count(desk) == 1


async def test_two_names_of_one_title_join_the_series_that_had_them(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(
        feed, item("[藏] 夜之藏人 [01]"), item("[Kura] Yoru no Kurabito - 01"), item("[Kura] Yoru no Kurabito - 02")
    )
    assert series_count(desk) == 2
    await desk.bring(feed, item("[Moto] 夜之藏人 / Yoru no Kurabito [03]"))
    assert series_count(desk) == 1
    assert desk.all("SELECT count(*) FROM anime_links WHERE series_id = (SELECT min(id) FROM series)") == [(4,)]
    assert desk.all(
        "SELECT episodes.number, count(*) FROM anime_links JOIN episodes ON episodes.id = anime_links.episode_id "
        "WHERE episodes.series_id = anime_links.series_id GROUP BY episodes.number ORDER BY 1"
    ) == [(1.0, 2), (2.0, 1), (3.0, 1)]
    assert [(one.kind, one.made_by) for one in (await desk.corrections.page(1)).items] == [("merge", "titles")]


async def test_series_of_different_wishes_are_never_joined_without_asking(desk: Desk) -> None:
    feed = desk.subscribe(new_series="ask")
    await desk.bring(feed, item("[藏] 夜之藏人 [01]"), item("[Kura] Yoru no Kurabito - 01"))
    (first,), (second,) = desk.all("SELECT id FROM series ORDER BY id")
    await desk.catalog.change(first, {"state": "followed"})
    taken = list(desk.taken.ids)
    await desk.bring(feed, item("[Moto] 夜之藏人 / Yoru no Kurabito [03]"))
    assert series_count(desk) == 2
    (asked,) = (await desk.questions.page()).items
    assert {one.id for one in asked.candidates} == {first, second}
    assert desk.taken.ids == taken


@pytest.mark.parametrize("junk", ["Part 2", "Final Season", "01-24TV", "Movie"])
async def test_junk_leads_no_batch_past_the_question_whether_its_show_is_wanted(desk: Desk, junk: str) -> None:
    feed, other = desk.subscribe(), desk.subscribe("https://other.example/rss", new_series="ask")
    await desk.bring(feed, item(f"[Kura] Yeast Garden / {junk} [01-12][1080p]"))
    taken = list(desk.taken.ids)
    await desk.bring(other, item(f"[Toji] Barley Song / {junk} [01-12][1080p]"))
    assert desk.taken.ids == taken
    assert desk.all("SELECT title, state FROM series ORDER BY id") == [
        ("Yeast Garden", "followed"),
        ("Barley Song", "asked"),
    ]
    assert junk not in names_of(desk, 1) | names_of(desk, 2)


async def test_names_are_learnt_with_their_source_and_another_series_keeps_its_own(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yoru no Kurabito - 01"), item("[Kura] Barley Song - 01"))
    await desk.bring(feed, item("[Moto] Yoru no Kurabito / Night Brewer [02]"))
    first = await desk.catalog.get(1)
    assert {(alias.name, alias.source) for alias in first.aliases} == {
        ("Yoru no Kurabito", "title"),
        ("Night Brewer", "title"),
    }
    await desk.bring(feed, item("[Toji] Night Brewer - 03"))
    assert series_count(desk) == 2


async def test_a_question_is_asked_once_and_its_answer_links_what_waits_and_what_comes(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Toji] Cellar Basket - 01 [480p]"))
    await desk.bring(
        feed, item("[Kura] Cellar Basket (2019) - 01 [1080p]"), item("[Kura] Cellar Basket (2019) [02-04][1080p]")
    )
    await desk.bring(feed, item("[Moto] Cellar Basket (2019) - 05 [1080p]"))
    (asked,) = (await desk.questions.page()).items
    question = asked.question
    assert (question.releases, question.reading.year, len(question.titles)) == (3, 2019, 3)
    assert [(one.series_id, one.clues) for one in question.candidates] == [(1, (Clue.NAME, Clue.UNSAID_YEAR))]
    held = desk.all("SELECT held_reason, episode_id FROM anime_links WHERE question_id IS NOT NULL")
    assert held == [("in_doubt", None)] * 3
    assert len(desk.taken.ids) == 1

    seen = await desk.questions.foresee(question.id, Answer())
    assert len(seen.effect.freed) == 5
    assert await desk.questions.count_open() == 1

    answered = await desk.questions.answer(question.id, Answer(new_state=SeriesState.FOLLOWED))
    new = answered.effect.series_id
    assert await desk.questions.count_open() == 0
    numbers = "SELECT number FROM episodes WHERE series_id = :id ORDER BY number"
    assert desk.all(numbers, id=new) == [(1.0,), (2.0,), (3.0,), (4.0,), (5.0,)]
    assert desk.all("SELECT count(*) FROM anime_links WHERE question_id IS NOT NULL OR held_reason IS NOT NULL") == [
        (0,)
    ]
    assert len(desk.taken.ids) == 6
    await desk.bring(feed, item("[Yeast] Cellar Basket (2019) - 06 [1080p]"), item("[Toji] Cellar Basket - 02 [480p]"))
    assert desk.all("SELECT series_id FROM anime_links ORDER BY id DESC LIMIT 2") == [(1,), (new,)]
    with pytest.raises(CorrectionConflict, match="answered"):
        await desk.questions.answer(question.id, Answer(1))
    with pytest.raises(QuestionNotFound):
        await desk.questions.answer(4711, Answer(1))


async def test_an_answer_can_be_undone_and_asks_again(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Toji] Cellar Basket - 01"), item("[Kura] Cellar Basket (2019) [02-04][1080p]"))
    (asked,) = (await desk.questions.page()).items
    before = desk.all("SELECT id, series_id, episode_id, held_reason, question_id FROM anime_links ORDER BY id")
    await desk.questions.answer(asked.question.id, Answer(1))
    assert await desk.questions.count_open() == 0
    await desk.corrections.undo(1)
    assert await desk.questions.count_open() == 1
    assert desk.all("SELECT id, series_id, episode_id, held_reason, question_id FROM anime_links ORDER BY id") == before
    assert desk.all("SELECT count(*) FROM identity_rulings") == [(0,)]


async def test_an_answer_settles_other_questions_that_it_answers(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Cellar Basket (2019) - 01"), item("[Kura] Cellar Basket (2001) - 01"))
    await desk.bring(feed, item("[Toji] Cellar Basket - 02"), item("[Toji] Cellar Basket / バスケット [03]"))
    first, second = (await desk.questions.page()).items[::-1]
    assert [one.id for one in first.also] == [second.question.id]
    answered = await desk.questions.answer(first.question.id, Answer(1))
    assert answered.also == (second.question.id,)
    assert await desk.questions.count_open() == 0


async def test_a_dismissed_question_is_not_asked_again(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Toji] Cellar Basket - 01"), item("[Kura] Cellar Basket (2019) - 01"))
    (asked,) = (await desk.questions.page()).items
    dismissed = await desk.questions.dismiss(asked.question.id)
    assert dismissed.question.status is QuestionStatus.DISMISSED
    await desk.bring(feed, item("[Moto] Cellar Basket (2019) - 02"))
    assert await desk.questions.count_open() == 0
    assert desk.all("SELECT count(*) FROM anime_links WHERE held_reason = 'in_doubt'") == [(2,)]


async def test_a_title_of_nothing_but_junk_is_asked_about(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Part 2 - 01"))
    (asked,) = (await desk.questions.page()).items
    assert asked.candidates == ()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"))
    answered = await desk.questions.answer(asked.question.id, Answer(2))
    assert answered.effect.series_id == 2
    assert series_count(desk) == 1


async def test_a_doubtful_reading_is_held_with_its_reason(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"), item("Yeast.Garden.S87E01.1080p.WEB.x264-KURA"))
    (link,) = (await desk.catalog.links(held=True)).items
    assert link.held_reason == "doubtful_reading"
    assert link.held_why is not None
    assert (link.held_why.code, link.held_why.facts["season"]) == ("season_implausible", 87)
    taken = list(desk.taken.ids)
    await desk.corrections.release(link.id)
    assert desk.taken.ids == [*taken, link.id]
    with pytest.raises(CorrectionConflict, match="not held"):
        await desk.corrections.release(link.id)


async def test_a_number_far_beyond_the_end_and_a_season_that_is_had_in_parts_are_held(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"))

    def know(conn: Connection) -> None:
        record = records.add(conn, Details(title_japanese="酵母の庭", episode_count=12))
        conn.run("UPDATE series SET metadata_id = :id", {"id": record.id})
        conn.run("UPDATE episodes SET state = 'have'")

    desk.database.write_blocking(know)
    taken = list(desk.taken.ids)
    await desk.bring(feed, item("[Kura] Yeast Garden - 99"), item("[Kura] Yeast Garden [BD Complete][1080p]"))
    held = (await desk.catalog.links(held=True)).items
    assert [(link.held_why.code, dict(link.held_why.facts)) for link in held if link.held_why] == [
        ("whole_season", {}),
        ("beyond_count", {"episode": 99, "known": 12}),
    ]
    assert desk.taken.ids == taken
    await desk.bring(feed, item("[Kura] Yeast Garden - 13"))
    assert len(desk.taken.ids) == len(taken) + 1


async def test_the_count_of_the_index_holds_a_number_far_beyond_it_where_the_record_has_none(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"))

    def know(conn: Connection) -> None:
        record = records.add(conn, Details(title_japanese="酵母の庭", bgm_id=77))
        conn.run("UPDATE series SET metadata_id = :id", {"id": record.id})
        entry = OfflineEntry("酵母の庭", RecordKind.TV, "ja", Ids(bgm_id=77))
        offline.replace_entries(conn, [entry])
        conn.run("UPDATE offline_entries SET episode_count = 12")

    desk.database.write_blocking(know)
    taken = list(desk.taken.ids)
    await desk.bring(feed, item("[Kura] Yeast Garden - 40"))
    (held,) = (await desk.catalog.links(held=True)).items
    assert held.held_why is not None
    assert (held.held_why.code, dict(held.held_why.facts)) == ("beyond_count", {"episode": 40, "known": 12})
    assert desk.taken.ids == taken
