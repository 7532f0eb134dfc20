"""Downloaders are polled: what they say is followed, their absence is noticed, and their return."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.errors import DownloadConflict, DownloadNotFound
from kurabito.downloads.tasks import CLEAR, POLL
from kurabito.http.errors import BadStatus, Unreachable
from kurabito.runtime import Registry
from kurabito.runtime.schedules.schedule import Every

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

ONE, TWO, THREE = (f"{number:040x}" for number in (1, 2, 3))


async def under_way(core: Core, *numbers: int) -> None:
    """Have these episodes downloaded."""
    await core.bring(
        *[(f"[Kura] Yoru no Kurabito - {number:02}", f"magnet:?xt=urn:btih:{number:040x}") for number in numbers]
    )
    await core.work()


async def test_what_a_downloader_says_is_followed(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1, 2, 3)
    a.say(ONE, "downloading", progress=0.3335, size=1001, rate=500, peers=3)
    a.say(TWO, "completed", progress=1.0, size=10)
    a.say(THREE, "error", detail="disk full")
    await core.poll()
    assert await core.told(
        "SELECT status, progress, downloaded_bytes, size_bytes, rate, peers, reason FROM downloads ORDER BY id"
    ) == [
        ("downloading", 0.3335, 333, 1001, 500, 3, None),
        ("completed", 1.0, 10, 10, None, None, None),
        ("failed", 0.0, 0, 1000, None, None, "disk full"),
    ]
    assert await core.episodes() == ["downloading", "have", "wanted"]
    # What is over is not asked for again, and never changes.
    a.say(TWO, "error")
    await core.poll()
    assert a.polls()[-1].query == f"hashes={ONE}"
    assert await core.statuses() == ["downloading", "completed", "failed"]


async def test_paused_queued_and_seeding_are_details(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1, 2)
    a.say(ONE, "paused")
    a.say(TWO, "downloading", detail="checking")
    await core.poll()
    assert await core.all("SELECT status, detail FROM downloads ORDER BY id") == [
        ("downloading", "paused"),
        ("downloading", "checking"),
    ]


NONSENSE: tuple[Any, ...] = (
    {"statuses": [{"hash": ONE, "status": "downloading", "progress": "much", "size": -1, "rate": float("nan")}]},
    {"statuses": [{"hash": ONE, "status": "downloading", "progress": 7, "size": 2**70, "peers": 2**40}]},
    {"statuses": [{"hash": ONE.upper(), "status": "DOWNLOADING"}, {"hash": TWO, "status": "completed"}, 7, {}]},
)


def said(nonsense: Any, _asked: Any, _answer: Any) -> Any:
    return nonsense


async def test_values_that_make_no_sense_are_passed_over(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1)
    for nonsense in NONSENSE:
        a.spoils = partial(said, nonsense)
        await core.poll()
        await core.poll()
        ((status, progress, *numbers),) = await core.all(
            "SELECT status, progress, size_bytes, rate, peers FROM downloads"
        )
        assert (status, numbers) == ("downloading", [None, None, None])
        assert progress in (0.0, 1.0)


async def test_a_hash_that_is_missing_from_two_good_polls_was_removed(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1, 2)
    del a.has[ONE]
    await core.poll()
    assert await core.statuses() == ["downloading"] * 2
    # A bad poll in between counts for nothing, and one that finds it begins anew.
    await a.stop()
    await core.poll()
    await a.start()
    taken = a.has.pop(TWO)
    await core.poll()
    a.has[TWO] = taken
    await core.poll()
    del a.has[TWO]
    await core.poll()
    assert await core.told("SELECT status, reason FROM downloads ORDER BY id") == [
        ("failed", "removed at the downloader"),
        ("downloading", None),
    ]


async def test_why_a_service_cannot_do_it_is_told_in_its_own_words(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1)
    cause = "qBittorrent does not know this name and password; check --username"
    a.spoils = lambda _, __: (502, {"error": {"code": "downloader_login_refused", "message": cause + "\n\x1b[31m"}})
    await core.poll()
    assert await core.told("SELECT status, reason FROM downloads") == [("downloader_error", f"A: {cause}[31m")]
    await under_way(core, 2)
    assert (await core.attempts())[-1] == ("A", "unclear", f"{cause}[31m")
    with pytest.raises(BadStatus, match="check --username"):
        await core.downloads.downloads.pause(1)
    # What says nothing that can be read is told as before.
    for nothing in ("<html>", [1], {"error": {"message": 7}}, {"error": {"message": "x" * 100_000}}):
        a.spoils = partial(said, (502, nothing))
        with pytest.raises(BadStatus, match="was answered with 502"):
            await core.downloads.downloads.pause(1)


@pytest.mark.parametrize("spoilt", [ConnectionError(), "garbage"])
async def test_who_does_not_answer_is_away_until_it_answers_again(
    core: Core, a: StandIn, b: StandIn, spoilt: Any
) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    a.rejects = lambda url: "no" if url.endswith("3") else None
    await under_way(core, 1, 2, 3)
    good, a.spoils = a.spoils, lambda _, __: spoilt
    await core.poll()
    assert await core.statuses() == ["downloader_error", "downloader_error", "downloading"]
    assert await core.episodes() == ["downloading"] * 3
    # With nothing but these it is asked for them all the same.
    a.spoils, a.has[ONE] = good, {"status": "completed", "progress": 1, "size": 5}
    a.say(TWO, "error")
    await core.poll()
    assert set(a.polls()[-1].query.removeprefix("hashes=").split(",")) == {ONE, TWO}
    assert await core.statuses() == ["completed", "failed", "downloading"]


async def test_a_downloader_that_is_back_goes_on_beside_what_never_stopped(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1)
    await a.stop()
    await core.poll()
    await a.start()
    await under_way(core, 2)
    assert await core.statuses() == ["downloader_error", "downloading"]
    await core.poll()
    assert await core.statuses() == ["downloading"] * 2
    assert a.added == [ONE, TWO]


async def test_every_downloader_that_is_on_is_polled_also_with_no_hashes(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a)
    off = await core.register(b)
    await core.feeds.services.change(off.id, is_enabled=False)
    polled = await core.poll()
    assert (polled.downloaders, polled.offline) == (1, 0)
    assert [one.query for one in a.asked] == ["hashes="]
    assert not b.asked


async def test_polls_come_at_their_interval_one_at_a_time(core: Core) -> None:
    registry = Registry()
    core.downloads.join(registry)
    (schedule,) = (one for one in registry.schedules if one.task_type == POLL)
    assert (schedule.rule, schedule.task_type, schedule.unique_key) == (Every(60.0), POLL, POLL)


async def test_no_question_is_longer_than_servers_take(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(*[(f"[Kura] Yoru no Kurabito - {n:03}", f"magnet:?xt=urn:btih:{n:040x}") for n in range(1, 501)])
    await core.work()
    a.asked.clear()
    await core.poll()
    # The stand-in looks at the length of every request.
    assert len(a.polls()) > 1
    asked = [one for poll in a.polls() for one in poll.query.removeprefix("hashes=").split(",")]
    assert len(asked) == len(set(asked)) == 500


async def test_a_cancelled_download_is_cancelled_there_and_stays_so(core: Core, a: StandIn) -> None:
    service = await core.register(a)
    await under_way(core, 1, 2)
    downloads = core.downloads.downloads
    cancelled = await downloads.cancel(1)
    assert cancelled.status == "cancelled"
    assert ONE in a.has
    await core.work()
    assert list(a.has) == [TWO]
    assert await core.episodes() == ["wanted", "downloading"]
    with pytest.raises(DownloadConflict):
        await downloads.cancel(1)
    # One that the downloader does not know any more is cancelled as well.
    a.has.clear()
    await downloads.cancel(2)
    await core.work()
    assert await core.statuses() == ["cancelled"] * 2
    assert await core.all("SELECT count(*) FROM dispatch_attempts WHERE owed IS NOT NULL") == [(0,)]
    assert service.id


async def test_what_is_cancelled_while_its_downloader_is_away_is_cleared_up_when_it_is_back(
    core: Core, a: StandIn
) -> None:
    await core.register(a)
    await under_way(core, 1)
    await a.stop()
    await core.downloads.downloads.cancel(1)
    await core.work()
    await core.poll()
    assert await core.statuses() == ["cancelled"]
    await a.start()
    await core.poll()
    assert (await core.statuses(), list(a.has)) == (["cancelled"], [])
    a.asked.clear()
    await core.poll()
    assert [one.method for one in a.asked] == ["GET"]


async def test_a_download_that_is_cancelled_while_it_is_sent_does_not_stay_at_the_downloader(
    core: Core, a: StandIn
) -> None:
    await core.register(a)

    def cancelling(asked: Any, answer: Any) -> Any:
        async def first() -> Any:
            if asked.path == "/downloads" and asked.method == "POST":
                await core.downloads.downloads.cancel(1)
            return answer

        return first()

    a.spoils = cancelling
    await under_way(core, 1)
    assert await core.statuses() == ["cancelled"]
    assert (a.added, list(a.has)) == ([ONE], [])


async def test_a_download_is_sent_elsewhere_and_taken_away_where_it_was(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    second = await core.register(b, priority=80)
    await under_way(core, 1)
    await a.stop()
    await core.poll()
    sent = await core.downloads.downloads.send_elsewhere(1)
    assert sent.status == "pending"
    await core.work()
    assert await core.all("SELECT status, module_id FROM downloads") == [("downloading", second.id)]
    await a.start()
    await core.poll()
    assert (list(a.has), list(b.has)) == ([], [ONE])
    # There is nobody else now: it waits, and the one that has it after all keeps it.
    await core.feeds.services.remove(second.id)
    await core.poll()
    assert await core.statuses() == ["downloader_error"]


async def test_what_stands_still_is_shown_and_sent_elsewhere_where_that_is_set(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.register(a, priority=90)
    second = await core.register(b, priority=80)
    await under_way(core, 1, 2)
    for hash_, peers in ((ONE, 0), (TWO, 5)):
        a.say(hash_, "downloading", progress=0.5, peers=peers)
    await core.poll()
    core.clock.advance(3601)
    await core.poll()
    assert [is_stalled for _, is_stalled in await core.downloads.downloads.page()] == [False, True]
    assert not b.added
    monkeypatch.setattr(core.downloads.scheduler, "elsewhere", timedelta(minutes=30))
    await core.poll()
    await core.work()
    assert await core.all("SELECT module_id FROM downloads WHERE hash = :hash", hash=ONE) == [(second.id,)]
    await core.poll()
    assert (list(a.has), list(b.has)) == ([TWO], [ONE])


async def test_what_stood_still_and_nobody_else_takes_has_failed_and_what_was_left_alone_waits(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.downloads.scheduler, "elsewhere", timedelta(minutes=30))
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    b.rejects = lambda _: "not here"
    await under_way(core, 1, 2)
    a.say(TWO, "downloading", peers=3)
    await core.poll()
    core.clock.advance(1801)
    await core.poll()
    await core.work()
    assert await core.told("SELECT status, reason FROM downloads ORDER BY id") == [
        ("failed", "it stood still, and no other downloader takes it; B: not here"),
        ("downloading", None),
    ]
    assert await core.episodes() == ["wanted", "downloading"]
    await core.poll()
    assert list(a.has) == [TWO]
    # What only its downloader could take waits for that one, which has it.
    await a.stop()
    await core.poll()
    core.clock.advance(1801)
    await core.poll()
    await core.work()
    assert await core.statuses() == ["failed", "no_downloader"]
    await a.start()
    core.clock.advance(60)
    await core.poll()
    await core.work()
    assert await core.statuses() == ["failed", "downloading"]
    assert (a.added.count(TWO), b.added) == (1, [])
    # Another that takes it gets it by itself, and the first gives it up when it is back.
    b.rejects = lambda _: None
    await a.stop()
    await core.poll()
    core.clock.advance(1801)
    await core.poll()
    await core.work()
    assert (await core.downloads.downloads.get(2))[0].downloader == "B"
    await a.start()
    await core.poll()
    assert (list(a.has), list(b.has)) == ([], [TWO])


async def test_a_keeper_pauses_resumes_retries_and_removes(core: Core, a: StandIn) -> None:
    await core.register(a)
    await under_way(core, 1, 2)
    downloads = core.downloads.downloads
    assert (await downloads.pause(1)).detail == "paused"
    assert (await downloads.resume(1)).detail is None
    assert [one.path for one in a.asked[-2:]] == [f"/downloads/{ONE}/pause", f"/downloads/{ONE}/resume"]
    with pytest.raises(DownloadConflict):
        await downloads.retry(1)
    await downloads.cancel(1)
    await core.work()
    again = await downloads.retry(1)
    assert (again.id, again.status) == (3, "pending")
    with pytest.raises(DownloadConflict):
        await downloads.retry(1)
    await core.work()
    assert await core.statuses() == ["cancelled", "downloading", "downloading"]
    a.say(TWO, "completed")
    await core.poll()
    await downloads.remove(2, delete_files=True)
    await downloads.remove(3)
    await core.work()
    assert [(one.path, one.query) for one in a.asked if one.method == "DELETE"] == [
        (f"/downloads/{TWO}", "delete_files=true"),
        (f"/downloads/{ONE}", "delete_files=false"),
    ]
    assert [one.id for one, _ in await downloads.page()] == [1]
    with pytest.raises(DownloadNotFound):
        await downloads.get(2)
    # With its files went its episode.
    assert await core.episodes() == ["wanted", "wanted"]
    assert (await core.queue.list(task_type=CLEAR, state="queued")).items == ()
    await a.stop()
    await core.run("UPDATE downloads SET status = 'downloading' WHERE id = 1")
    with pytest.raises(Unreachable):
        await downloads.pause(1)


async def test_what_a_downloader_that_is_switched_off_has_says_so_and_goes_on_when_it_is_on(
    core: Core, a: StandIn
) -> None:
    service = await core.register(a)
    await under_way(core, 1, 2)
    await a.stop()
    await core.poll()
    await a.start()
    await core.feeds.services.change(service.id, is_enabled=False)
    a.asked.clear()
    await core.poll()
    off = "A is switched off; it goes on when you switch that on, or send it elsewhere"
    assert await core.told("SELECT DISTINCT status, reason FROM downloads") == [("downloader_error", off)]
    assert not a.asked
    ((changed,),) = await core.all("SELECT DISTINCT updated_at FROM downloads")
    core.clock.advance(60)
    await core.poll()
    assert await core.all("SELECT DISTINCT updated_at FROM downloads") == [(changed,)]
    await core.feeds.services.change(service.id, is_enabled=True)
    await core.poll()
    assert await core.told("SELECT DISTINCT status, reason FROM downloads") == [("downloading", None)]


async def test_what_a_removed_downloader_had_moves_to_the_one_of_the_same_name(
    core: Core, a: StandIn, b: StandIn
) -> None:
    first = await core.register(a)
    await under_way(core, 1, 2, 3)
    a.say(THREE, "completed", progress=1.0)
    await core.poll()
    await core.feeds.services.remove(first.id)
    await core.downloads.downloads.cancel(2)
    await core.poll()
    reason = "A was removed; it goes on when that registers again, or send it elsewhere"
    assert await core.told("SELECT status, reason, module_id FROM downloads ORDER BY id") == [
        ("downloader_error", reason, None),
        ("cancelled", "cancelled by its keeper", None),
        ("completed", None, None),
    ]
    # Another one is not the one.
    await core.register(b)
    await core.poll()
    assert (await core.statuses())[0] == "downloader_error"
    back = await core.register(a)
    assert back.id != first.id
    await core.poll()
    await core.work()
    assert await core.told("SELECT status, reason, module_id FROM downloads ORDER BY id") == [
        ("downloading", None, back.id),
        ("cancelled", "cancelled by its keeper", None),
        ("completed", None, back.id),
    ]
    # What was cancelled meanwhile is cleared up there, too.
    assert set(a.has) == {ONE, THREE}
    await core.downloads.downloads.remove(3, delete_files=True)
    await core.work()
    assert set(a.has) == {ONE}
