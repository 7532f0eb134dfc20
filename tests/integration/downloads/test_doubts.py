"""What a downloader may have got without anybody knowing is found there: nothing is doubled, and nothing unwanted stays."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.dispatch.remote import RemoteDownloaders
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.tasks import DISPATCH, CleanupTask, DispatchTask

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.downloads.conftest import Core, StandIn


class Died(BaseException):
    """The core is gone."""


def torrent(number: int) -> tuple[str, str]:
    """Something whose hash only a downloader knows."""
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"https://feeds.example/{number}.torrent"


async def die_after_sending(core: Core, patch: pytest.MonkeyPatch) -> DispatchTask:
    """Send what waits, and die before the answer is stored; the order that is left."""
    (task,) = (await core.queue.list(task_type=DISPATCH, state="queued")).items
    await core.queue.cancel(task.id)
    send = RemoteDownloaders.offer

    async def die(self: RemoteDownloaders, service: Any, items: Any) -> Any:
        await send(self, service, items)
        raise Died

    with patch.context() as dying:
        dying.setattr(RemoteDownloaders, "offer", die)
        with pytest.raises(BaseExceptionGroup):
            await core.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
    return task.payload_as(DispatchTask)


async def nothing_is_owed(core: Core) -> bool:
    return await core.all("SELECT count(*) FROM dispatch_attempts WHERE owed IS NOT NULL") == [(0,)]


@pytest.mark.parametrize("away", ["stopped", "off"])
async def test_what_was_sent_before_a_crash_is_taken_away_where_it_was_if_another_has_it_now(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    first = await core.register(a, priority=90)
    second = await core.register(b, priority=80)
    await core.bring(torrent(1))
    order = await die_after_sending(core, monkeypatch)
    if away == "stopped":
        await a.stop()
    else:
        await core.feeds.services.change(first.id, is_enabled=False)
    await core.downloads.dispatcher.dispatch(order)
    assert await core.all("SELECT status, module_id FROM downloads") == [("downloading", second.id)]
    assert len(a.has) == 1
    if away == "stopped":
        await a.start()
    else:
        await core.feeds.services.change(first.id, is_enabled=True)
    core.clock.advance(60)
    await core.poll()
    assert (list(a.has), len(b.has)) == ([], 1)
    assert (len(a.added), len(b.added)) == (1, 1)
    assert await nothing_is_owed(core)


async def test_what_was_sent_before_a_crash_and_is_unwanted_now_is_found_without_its_hash(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.register(a)
    await core.bring(torrent(1), torrent(2))
    order = await die_after_sending(core, monkeypatch)
    await core.downloads.downloads.cancel(1)
    await core.downloads.dispatcher.dispatch(order)
    assert (await core.statuses(), len(a.has)) == (["cancelled", "downloading"], 2)
    await core.poll()
    assert (len(a.has), len(a.added)) == (1, 2)
    assert [known for (known,) in await core.all("SELECT hash FROM downloads WHERE id = 2")] == list(a.has)
    assert await nothing_is_owed(core)


async def test_what_not_even_a_task_remembers_is_found_by_a_poll(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.register(a)
    await core.bring(torrent(1))
    await die_after_sending(core, monkeypatch)
    await core.downloads.downloads.cancel(1)
    await core.poll()
    assert len(a.has) == 1
    core.clock.advance(1000)
    await core.poll()
    await core.poll()
    assert (list(a.has), await nothing_is_owed(core)) == ([], True)


async def test_a_downloader_that_dies_after_it_took_something_is_asked_first_or_cleared(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.register(a, priority=90)
    good = a.spoils
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.bring(torrent(1))
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    assert [outcome for _, outcome, _ in await core.attempts()] == ["unclear"]
    # One with a higher priority comes, and the first is back: it has it already, so it is asked first.
    a.spoils = good
    core.clock.advance(60)
    await core.poll()
    await core.register(b, priority=99)
    await core.work()
    assert (await core.statuses(), len(a.added), b.added) == (["downloading"], 1, [])
    # Where the other one takes it, the first gives it up.
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.feeds.services.change(1, priority=100)
    await core.bring(torrent(2))
    await core.work()
    assert (await core.statuses(), len(a.has), len(b.has)) == (["downloading"] * 2, 2, 1)
    a.spoils = good
    await core.poll()
    assert (await core.statuses(), len(a.has), len(b.has)) == (["downloading"] * 2, 1, 1)
    assert await nothing_is_owed(core)


def magnet(number: int) -> tuple[str, str]:
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"magnet:?xt=urn:btih:{number:040x}"


def forgetful(asked: Any, answer: Any) -> Any:
    """A program that has just been started and has not read all of its list yet."""
    return {"statuses": []} if asked.method == "GET" else answer


async def test_one_poll_that_leaves_something_out_settles_no_doubt(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    good = a.spoils
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.bring(magnet(1))
    await core.work()
    assert (len(a.has), len(b.has), await core.statuses()) == (1, 1, ["downloading"])
    a.spoils = forgetful
    await core.poll()
    assert (len(a.has), await nothing_is_owed(core)) == (1, False)
    a.spoils = good
    await core.poll()
    assert (len(a.has), len(b.has), await core.statuses()) == (0, 1, ["downloading"])
    assert await nothing_is_owed(core)


@pytest.mark.parametrize("link", [magnet, torrent])
async def test_who_refuses_what_it_may_have_got_before_is_looked_at_all_the_same(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch, link: Callable[[int], tuple[str, str]]
) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    await core.bring(link(1))
    order = await die_after_sending(core, monkeypatch)
    # It has it, does not list it yet, and takes no second one.
    good, a.spoils, a.rejects = a.spoils, forgetful, lambda _: "not again"
    await core.downloads.dispatcher.dispatch(order)
    assert (len(a.has), len(b.has), await core.statuses()) == (1, 1, ["downloading"])
    a.spoils = good
    await core.poll()
    assert (len(a.has), len(b.has), await core.statuses()) == (0, 1, ["downloading"])
    assert await nothing_is_owed(core)


async def test_two_polls_in_a_row_that_leave_it_out_settle_a_doubt(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.bring(magnet(1))
    await core.work()
    a.has.clear()
    await core.poll()
    assert not await nothing_is_owed(core)
    # What clears up between two polls is no poll: a program that reads its list would be asked twice in a moment.
    await core.downloads.cleanup.clear(CleanupTask(1))
    assert not await nothing_is_owed(core)
    await core.poll()
    assert await nothing_is_owed(core)
    asked = len(a.asked)
    await core.poll()
    assert [one.query for one in a.asked[asked:]] == ["hashes="]


async def test_one_poll_that_leaves_out_what_nobody_else_took_does_not_double_it(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.register(a, priority=90)
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.bring(magnet(1))
    await core.work()
    assert (len(a.has), await core.statuses()) == (1, ["no_downloader"])
    a.spoils = forgetful
    core.clock.advance(60)
    await core.poll()
    await core.register(b, priority=99)
    await core.work()
    assert (len(a.has), len(b.has), await core.statuses()) == (1, 1, ["downloading"])
    a.spoils = b.spoils
    await core.poll()
    assert (len(a.has), len(b.has), await core.statuses()) == (0, 1, ["downloading"])
    assert await nothing_is_owed(core)


async def test_who_never_got_a_request_is_not_asked_what_became_of_it(core: Core, a: StandIn) -> None:
    await core.register(a)
    await a.stop()
    await core.bring(torrent(1))
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    await core.downloads.downloads.cancel(1)
    await a.start()
    await core.poll()
    await core.work()
    assert (a.posts(), await core.statuses()) == ([], ["cancelled"])


async def test_what_is_wanted_again_is_not_taken_away_by_who_was_told_before(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await core.register(a)
    await core.bring((torrent(1)[0], f"magnet:?xt=urn:btih:{1:040x}"))
    await core.work()
    rule = await core.downloads.filters.add(FilterRule(name="none", action=Action.EXCLUDE, pattern="Yoru"))
    assert rule.id is not None
    is_due, go_on, cancel = asyncio.Event(), asyncio.Event(), RemoteDownloaders.cancel

    async def late(self: RemoteDownloaders, *what: Any) -> Any:
        is_due.set()
        await go_on.wait()
        return await cancel(self, *what)

    monkeypatch.setattr(RemoteDownloaders, "cancel", late)
    clearing = asyncio.create_task(core.downloads.cleanup.clear(CleanupTask(service.id)))
    await is_due.wait()
    await core.downloads.filters.remove(rule.id)
    (task,) = (await core.queue.list(task_type=DISPATCH, state="queued")).items
    sending = asyncio.create_task(core.downloads.dispatcher.dispatch(task.payload_as(DispatchTask)))
    # It has to wait for its turn; without one it would be done long before.
    await asyncio.wait({sending}, timeout=0.5)
    go_on.set()
    await asyncio.gather(clearing, sending)
    assert await core.statuses() == ["cancelled", "downloading"]
    assert list(a.has) == [f"{1:040x}"]


async def test_what_has_no_room_waits_and_says_so_until_there_is(
    core: Core, a: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shutil.disk_usage(tmp_path).free
    reserve = free // 2
    monkeypatch.setattr(core.downloads.dispatcher, "_room", Room(tmp_path, reserve))
    await core.register(a)
    await core.bring(torrent(1), torrent(2), torrent(3))
    # Each fits, and not both; of the third nobody knows.
    await core.run("UPDATE anime_links SET size_bytes = :size WHERE id < 3", size=free // 3)
    await core.work()
    assert await core.statuses() == ["downloading", "no_downloader", "downloading"]
    ((reason,),) = await core.told("SELECT reason FROM downloads WHERE id = 2")
    assert reason.startswith("A: not enough room: it needs ")
    assert [(outcome, why is None) for _, outcome, why in await core.attempts()].count(("unreachable", False)) == 1
    assert [url for one in a.posts() for url in one.urls] == [torrent(1)[1], torrent(3)[1]]
    # What is under way is counted, so it does not fit yet.
    first = next(iter(a.has))
    a.say(first, "downloading", size=free // 3)
    core.clock.advance(60)
    await core.poll()
    await core.work()
    assert (await core.statuses())[1] == "no_downloader"
    a.say(first, "completed", size=1)
    core.clock.advance(60)
    await core.poll()
    await core.work()
    assert await core.statuses() == ["completed", "downloading", "downloading"]
    assert len((await core.downloads.downloads.get(2))[2]) == 1
