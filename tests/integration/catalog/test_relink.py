"""Links are read again when a rule or an offset changes: what belongs elsewhere goes there, and nothing is downloaded by it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.support.waiting import PATIENCE

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.errors import RelinkFailed, RelinkNotFound
from kurabito.catalog.identity import relink
from kurabito.catalog.identity.offsets import missing_offset
from kurabito.catalog.identity.relink import RELINK, Relinker, RelinkTask
from kurabito.catalog.relinks import sources, store
from kurabito.catalog.relinks.judge import JudgeProcesses, ThreadJudge
from kurabito.catalog.relinks.mover import LinkMover
from kurabito.catalog.relinks.scope import LinkRange, RulePatterns
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.catalog.series import Alias
from kurabito.catalog.title_rules import TitleRules
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem
from kurabito.metadata import records
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind
from kurabito.metadata.sources.bangumi_data import IndexFile, OfflineEntry
from kurabito.metadata.sources.index import IndexOrigin, import_index
from kurabito.runtime import Registry, TaskState, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.titles import ReleaseKind, TitleRule

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

PLACES = (
    "SELECT series.title, series.season, episode.number, link.held_reason FROM anime_links AS link "
    "JOIN series ON series.id = link.series_id LEFT JOIN episodes AS episode ON episode.id = link.episode_id ORDER BY link.id"
)
DOWNLOAD = "INSERT INTO downloads (link_id, status, created_at, updated_at, queued_at) VALUES (:id, 'completed', :now, :now, :now)"
LAST = 19
"""The priority of a process that all others go before."""
COUNTS_ON = TitleRule(
    name="counts on",
    condition="Yeast Garden",
    parse=r"Yeast Garden - (?P<episodes>\d+)",
    fields={"title": "Barley Song"},
)


def item(title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}.torrent")


@pytest.fixture
async def relinker(desk: Desk, url: str) -> AsyncIterator[Relinker]:
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        yield Relinker(queue, desk.taken)


async def test_a_rule_moves_what_it_concerns_and_waits_to_be_confirmed(desk: Desk, relinker: Relinker) -> None:
    feed = desk.subscribe()
    await desk.bring(
        feed, item("[Kura] Yeast Garden - 01"), item("[Kura] Yeast Garden - 02"), item("[Kura] Barley Song - 03")
    )
    desk.database.write_blocking(lambda conn: conn.run(DOWNLOAD, {"id": 1}))
    taken = list(desk.taken.ids)
    rules = TitleRules(desk.database, desk.intake, relinker.wake)
    await rules.add(COUNTS_ON)
    (task,) = (await relinker._queue.list(task_type=RELINK)).items
    registry = Registry()
    relinker.join(registry)
    async with Worker(relinker._queue, registry):
        assert (await relinker._queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED
    assert desk.all(PLACES) == [
        ("Barley Song", 1, 1.0, None),
        ("Barley Song", 1, 2.0, "read_again"),
        ("Barley Song", 1, 3.0, None),
    ]
    assert desk.taken.ids == taken
    assert await relinker.count_waiting() == 1
    assert await relinker.confirm() == 1
    assert desk.taken.ids == [*taken, 2]
    again = await relinker.relink(RelinkTask((RulePatterns.of(COUNTS_ON),)))
    assert (again.read, again.moved) == (2, 0)


async def test_processes_judge_many_links(
    desk: Desk, relinker: Relinker, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relink, "_RANGE", 2)
    numbers = ("01", "02", "03", "04")
    await desk.bring(desk.subscribe(), *(item(f"[Kura] Yeast Garden - {number}") for number in numbers))
    await TitleRules(desk.database, desk.intake).add(COUNTS_ON)
    by_processes = Relinker(relinker._queue, desk.taken, url)
    done = await by_processes.relink(RelinkTask((RulePatterns.of(COUNTS_ON),)))
    assert (done.read, done.moved, done.held) == (4, 4, 0)
    assert desk.all(PLACES) == [("Barley Song", 1, float(number), "series_asked") for number in numbers]
    # They work for both ranges at once: only one of them made the series.
    assert desk.all("SELECT count(*) FROM series") == [(2,)]


async def test_what_a_process_found_comes_in_small_messages(url: str, desk: Desk) -> None:
    await desk.bring(desk.subscribe(), *(item(f"[Kura] Yeast Garden - {number:02}") for number in range(1, 251)))
    await TitleRules(desk.database, desk.intake).add(COUNTS_ON)
    links = LinkRange(tuple(range(1, 251)))
    processes = JudgeProcesses(url, 1)
    judged = await processes.judges[0].judge(links)
    processes.end()
    assert judged == await ThreadJudge(desk.database).judge(links)
    assert [(part.read, len(part.moves)) for part in judged.parts()] == [(250, 100), (0, 100), (0, 50)]


async def test_a_judge_that_is_killed_fails_the_run_with_a_reason(url: str, desk: Desk) -> None:
    processes = JudgeProcesses(url, 1)
    (judge,) = processes.judges
    assert (await judge.judge(LinkRange(tuple(range(10))))).read == 0
    os.kill(processes.first_pid, signal.SIGKILL)
    with pytest.raises(RelinkFailed, match="ended in the middle"):
        await judge.judge(LinkRange(tuple(range(10))))
    processes.end()


async def test_a_judge_gives_way_before_it_loads_what_it_judges_by(url: str, desk: Desk) -> None:
    processes = JudgeProcesses(url, 1)
    (judge,) = processes.judges
    await judge.judge(LinkRange(tuple(range(10))))
    pid = processes.first_pid
    assert os.getpriority(os.PRIO_PROCESS, pid) == LAST
    assert os.sched_getscheduler(pid) == await asyncio.to_thread(_most_patient_policy)
    processes.end()
    # All that is loaded before that is a small module; loading the rest takes most of a second.
    code = "import sys, kurabito.catalog.relinks.judge_process; print('kurabito.titles' in sys.modules)"
    loaded = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout.strip() == b"False"


def _most_patient_policy() -> int:
    """How a process may be scheduled here that takes the processor only while nothing else wants it."""
    code = "import os; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))"
    refused = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
    return os.SCHED_OTHER if refused else os.SCHED_IDLE


async def test_a_judge_is_ended_in_the_middle_of_its_work(url: str, desk: Desk) -> None:
    processes = JudgeProcesses(url, 1)
    (judge,) = processes.judges
    os.kill(processes.first_pid, signal.SIGSTOP)
    asked = asyncio.create_task(judge.judge(LinkRange(tuple(range(10)))))
    await asyncio.sleep(0)
    processes.end()
    with pytest.raises(RelinkFailed):
        await asked


async def test_judges_that_one_process_loaded_work_side_by_side_and_end_together(url: str, desk: Desk) -> None:
    processes = JudgeProcesses(url, 3)
    nothing = LinkRange(tuple(range(10)))
    assert [(await judge.judge(nothing)).read for judge in processes.judges] == [0, 0, 0]
    os.killpg(processes.first_pid, 0)
    processes.end()
    with pytest.raises(ProcessLookupError):
        os.killpg(processes.first_pid, 0)


async def test_a_judge_that_is_killed_does_not_keep_the_one_who_asks_waiting_for_its_copies(
    url: str, desk: Desk
) -> None:
    processes = JudgeProcesses(url, 2)
    nothing = LinkRange(tuple(range(10)))
    first, copy = processes.judges
    assert [(await judge.judge(nothing)).read for judge in (first, copy)] == [0, 0]
    os.kill(processes.first_pid, signal.SIGKILL)
    with pytest.raises(RelinkFailed, match="ended in the middle"):
        await first.judge(nothing)
    processes.end()


async def test_a_link_that_changed_since_it_was_judged_stays(desk: Desk) -> None:
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden - 01"), item("[Kura] Barley Song - 02"))
    await TitleRules(desk.database, desk.intake).add(COUNTS_ON)
    judged = await ThreadJudge(desk.database).judge(LinkRange(tuple(range(10))))
    assert [(move.link_id, move.series_id) for move in judged.moves] == [(1, 2)]
    await desk.corrections.move(1, place=EpisodePlace(ReleaseKind.TV, 9.0))
    run = desk.database.write_blocking(lambda conn: store.begin(conn, RelinkCause.RULE))
    moved = await desk.database.write(lambda conn: LinkMover(run, None).move(conn, judged.moves))
    assert moved == (0, 0)


async def test_what_a_question_holds_goes_where_a_rule_or_a_name_says(desk: Desk, relinker: Relinker) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Toji] Yeast Garden - 01"), item("[Kura] Barley Song (2019) - 03"))
    await desk.bring(feed, item("[Kura] Yeast Garden (2019) - 01"), item("[Kura] Yeast Garden (2019) [02-03]"))
    taken = list(desk.taken.ids)
    held = "SELECT count(*) FROM anime_links WHERE question_id IS NOT NULL"
    assert desk.all(held) == [(2,)]
    # Nothing that tells it came: it stays asked.
    await relinker.relink(RelinkTask())
    assert desk.all(held) == [(2,)]
    rule = TitleRule(name="single", condition="2019", parse=r" - (?P<episodes>\d+)", fields={"title": "Barley Song"})
    await TitleRules(desk.database, desk.intake, relinker.wake).add(rule)
    await settle(relinker)
    assert desk.all(PLACES)[2] == ("Barley Song", 1, 1.0, "read_again")
    assert desk.all("SELECT status FROM identity_questions") == [("open",)]
    catalog = Catalog(desk.database, desk.taken, relinker.wake)
    await catalog.change(1, {"aliases": (Alias("Yeast Garden", 1), Alias("Yeast Garden", 1, 2019))})
    await settle(relinker)
    assert desk.all(PLACES)[3:] == [("Yeast Garden", 1, 2.0, "read_again"), ("Yeast Garden", 1, 3.0, "read_again")]
    assert desk.all("SELECT status, series_id FROM identity_questions") == [("answered", 1)]
    assert desk.taken.ids == taken
    runs = [(one.cause, one.links_moved) for one in (await relinker.page()).items]
    assert runs == [(RelinkCause.NAMES, 1), (RelinkCause.RULE, 1)]
    assert await relinker.confirm() == 3


async def test_what_a_rule_does_not_fit_is_not_read_again(desk: Desk, relinker: Relinker) -> None:
    """It may be found in a title and still say nothing about it; and one that is off says nothing at all."""
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden - 01"), item("[Kura] Yeast Garden Movie"))
    rules = TitleRules(desk.database, desk.intake, relinker.wake)
    stored = await rules.add(COUNTS_ON, is_enabled=False)
    assert (await relinker._queue.list(task_type=RELINK)).items == ()
    stored = await rules.change(stored.id, COUNTS_ON)
    await settle(relinker)
    (run,) = (await relinker.page()).items
    assert (run.links_read, run.links_moved) == (1, 1)


async def test_rules_that_begin_alike_are_read_again_each(relinker: Relinker) -> None:
    long = "(?:Yeast|Barley) (?:Garden|Song)" + "a?" * 100
    for ending in ("Kura", "Miso"):
        await relinker.wake(RelinkTask((RulePatterns(f"{long}{ending}", "(?P<title>.+)"),)))
    await relinker.wake(RelinkTask((RulePatterns(f"{long}Miso", "(?P<title>.+)"),)))
    assert len((await relinker._queue.list(task_type=RELINK)).items) == 2


async def test_two_links_of_a_release_never_become_one(desk: Desk, relinker: Relinker) -> None:
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden [01-02]"), item("[Kura] Barley Song - 07"))
    both = TitleRule(name="one", condition="Yeast", parse=r"(?P<episodes>0\d)", fields={"title": "Barley Song"})
    await TitleRules(desk.database, desk.intake).add(both)
    assert (await relinker.relink(RelinkTask((RulePatterns.of(both),)))).moved == 1
    again = await relinker.relink(RelinkTask((RulePatterns.of(both),)))
    assert (again.read, again.moved) == (2, 0)


async def test_an_offset_is_applied_to_what_is_there(desk: Desk, relinker: Relinker) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, *(item(f"[Kura] Yeast Garden S2 - {number}") for number in ("25", "26")))
    await desk.bring(feed, item("[Kura] Yeast Garden S2 - 03"))
    await desk.corrections.move(2, place=EpisodePlace(ReleaseKind.TV, 9.0))
    await Catalog(desk.database, desk.taken, relinker.wake).change(1, {"episode_offset": 24})
    done = await relinker.relink(RelinkTask(series_id=1))
    assert done.moved == 1
    # A person said which episode the second one is.
    assert [row[2] for row in desk.all(PLACES)] == [1.0, 9.0, 3.0]


async def test_an_offset_that_is_undone_is_taken_from_what_is_there(desk: Desk, relinker: Relinker) -> None:
    await desk.bring(desk.subscribe(), *(item(f"[Kura] Yeast Garden S2 - {number}") for number in ("25", "26")))
    await Catalog(desk.database, desk.taken, relinker.wake).change(1, {"episode_offset": 24})
    await settle(relinker)
    assert [row[2] for row in desk.all(PLACES)] == [1.0, 2.0]
    await Corrections(desk.database, desk.taken, relinker.wake).undo(1)
    await settle(relinker)
    assert [row[2] for row in desk.all(PLACES)] == [25.0, 26.0]


async def test_a_rule_that_makes_a_new_series_asks_about_it(desk: Desk, relinker: Relinker) -> None:
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden - 01"))
    await TitleRules(desk.database, desk.intake, relinker.wake).add(COUNTS_ON)
    await relinker.relink(RelinkTask((RulePatterns.of(COUNTS_ON),)))
    assert desk.all(PLACES) == [("Barley Song", 1, 1.0, "series_asked")]
    assert desk.all("SELECT state FROM series WHERE title = 'Barley Song'") == [("asked",)]


async def test_an_offset_that_is_probably_missing_is_asked_once(desk: Desk) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"))
    numbers = ("01", "03", "29")
    await desk.bring(feed, *(item(f"[Kura] Yeast Garden S2 - {number}") for number in numbers))

    def fill_in(conn: Connection) -> None:
        record = records.add(conn, Details(title_japanese="酵母の庭", episode_count=24))
        conn.run("UPDATE series SET metadata_id = :id WHERE season = 1", {"id": record.id})

    assert await desk.catalog.missing_offsets() == []
    desk.database.write_blocking(fill_in)
    (missing,) = await desk.catalog.missing_offsets()
    assert (missing.season, missing.offset, missing.example) == (2, 24, 29.0)
    await desk.catalog.change(missing.series_id, {"episode_offset": 0})
    assert await desk.catalog.missing_offsets() == []


@pytest.mark.parametrize(
    ("numbers", "before", "first"),
    [([1, 3, 29], 24, 29), ([25, 26], 24, 25), (range(1, 26), 12, None), ([1, 2, 3], 12, None), ([5, 6], 4, None)],
)
def test_a_long_season_is_no_missing_offset(numbers: list[float], before: int, first: float | None) -> None:
    assert missing_offset(numbers, before) == first


async def settle(relinker: Relinker) -> None:
    """Have everything that waits read again."""
    registry = Registry()
    relinker.join(registry)
    async with Worker(relinker._queue, registry):
        for task in (await relinker._queue.list(task_type=RELINK)).items:
            assert (await relinker._queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED


async def test_a_name_takes_along_what_has_it_also_when_it_is_undone(desk: Desk, relinker: Relinker) -> None:
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden - 01"), item("[Kura] Barley Song - 02"))
    catalog = Catalog(desk.database, desk.taken, relinker.wake)
    await catalog.change(2, {"aliases": (Alias("Malt Song", 1),)})
    await catalog.change(1, {"aliases": (Alias("Yeast Garden", 1), Alias("Barley Song", 1))})
    await settle(relinker)
    assert [row[0] for row in desk.all(PLACES)] == ["Yeast Garden", "Yeast Garden"]
    run = (await relinker.page()).items[0]
    assert (run.cause, run.links_moved, run.links_held) == (RelinkCause.NAMES, 1, 1)
    (moved,) = (await relinker.moved(run.id)).items
    assert (moved.from_title, moved.to_title, moved.to_number, moved.is_waiting) == (
        "Barley Song", "Yeast Garden", 2.0, True,
    )  # fmt: skip
    corrections = Corrections(desk.database, desk.taken, relinker.wake)
    await corrections.undo(1)
    await corrections.undo(2)
    await settle(relinker)
    assert [row[0] for row in desk.all(PLACES)] == ["Yeast Garden", "Barley Song"]


async def test_a_new_parser_or_index_has_everything_read_again_once(
    desk: Desk, relinker: Relinker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await relinker.relink_if_due() is None
    await desk.bring(desk.subscribe(), item("[Kura] Yeast Garden - 01"), item("[Kura] 酵母の庭 - 02"))
    # They were read by a version that did not note it.
    assert await relinker.relink_if_due() is RelinkCause.PARSER
    await settle(relinker)
    assert await relinker.relink_if_due() is None
    assert [(one.cause, one.links_read, one.links_moved) for one in await relinker.page()] == [("parser", 2, 0)]
    entry = OfflineEntry("酵母の庭", RecordKind.TV, "ja", Ids(bgm_id=1), other_titles=("Yeast Garden",))
    index = IndexFile((entry,), 0, 0)
    desk.clock.advance(60)
    import_index(desk.database, index, IndexOrigin.FILE)
    desk.database.write_blocking(lambda conn: conn.run("DELETE FROM series_aliases WHERE series_id = 2"))
    assert await relinker.relink_if_due() is RelinkCause.INDEX
    await settle(relinker)
    assert [row[0] for row in desk.all(PLACES)] == ["Yeast Garden", "Yeast Garden"]
    monkeypatch.setattr(sources, "PARSER_VERSION", 1_000)
    assert await relinker.relink_if_due() is RelinkCause.PARSER


async def test_a_run_that_was_cut_off_goes_on_as_one(desk: Desk, relinker: Relinker) -> None:
    begun = desk.database.write_blocking(lambda conn: store.begin(conn, RelinkCause.PARSER))
    await relinker.relink(RelinkTask(cause=RelinkCause.PARSER))
    (run,) = (await relinker.page()).items
    assert (run.id, run.finished_at is not None) == (begun, True)
    with pytest.raises(RelinkNotFound):
        await relinker.moved(begun + 1)


async def test_what_came_to_a_merged_series_goes_back_when_the_merge_is_undone(desk: Desk, relinker: Relinker) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"), item("[Kura] Barley Song - 01"))
    corrections = Corrections(desk.database, desk.taken, relinker.wake)
    await corrections.merge(1, 2)
    await desk.bring(feed, item("[Kura] Yeast Garden - 02"))
    assert [row[0] for row in desk.all(PLACES)] == ["Barley Song"] * 3
    await corrections.undo(2)
    await settle(relinker)
    assert [row[:3] for row in desk.all(PLACES)] == [
        ("Yeast Garden", 1, 1.0),
        ("Barley Song", 1, 1.0),
        ("Yeast Garden", 1, 2.0),
    ]


async def test_what_followed_a_link_that_was_moved_goes_back_when_that_is_undone(
    desk: Desk, relinker: Relinker
) -> None:
    feed = desk.subscribe()
    await desk.bring(feed, item("[Kura] Yeast Garden - 01"), item("[Kura] Barley Song - 01"))
    corrections = Corrections(desk.database, desk.taken, relinker.wake)
    await corrections.move(1, series_id=2, place=EpisodePlace(ReleaseKind.TV, 7.0))
    await desk.bring(feed, item("[Kura] Yeast Garden - 02"))
    assert [row[0] for row in desk.all(PLACES)] == ["Barley Song"] * 3
    await corrections.undo(2)
    await settle(relinker)
    assert [row[0] for row in desk.all(PLACES)] == ["Yeast Garden", "Barley Song", "Yeast Garden"]
