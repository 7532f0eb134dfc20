"""Links find a downloader: by type, by priority, once, and whatever the downloaders do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.dispatch.remote import RemoteDownloaders
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.tasks import DISPATCH, DispatchTask
from kurabito.http import Limits
from kurabito.modules import service_client
from kurabito.modules.download_types import DownloadType

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

MAGNET, TORRENT, HTTP = DownloadType


def magnet(number: int) -> tuple[str, str]:
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"magnet:?xt=urn:btih:{number:040x}"


def torrent(number: int) -> tuple[str, str]:
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"https://feeds.example/{number}.torrent"


async def test_new_links_go_in_one_request_for_each_type_to_the_downloader_that_comes_first(
    core: Core, a: StandIn, b: StandIn
) -> None:
    low, high = await core.register(a, priority=10), await core.register(b, priority=90)
    await core.bring(magnet(1), magnet(2), torrent(3), ("[Kura] Yoru no Kurabito - 04", "https://feeds.example/4.mkv"))
    assert await core.statuses() == ["pending"] * 4
    assert await core.episodes() == ["downloading"] * 4
    await core.work()
    assert low.id < high.id
    assert not a.asked
    assert sorted(len(one.urls) for one in b.posts()) == [1, 1, 2]
    assert await core.statuses() == ["downloading"] * 4
    rows = await core.all("SELECT link_id, module_id, hash, save_path FROM downloads ORDER BY id")
    assert [row[1] for row in rows] == [high.id] * 4
    assert rows[0][2] == f"{1:040x}"
    assert rows[0][3] == f"/downloads/Yoru no Kurabito/{rows[0][0]}"
    assert {item["save_path"] for one in b.posts() for item in one.body["items"]} == {row[3] for row in rows}


async def test_of_two_with_the_same_priority_the_one_that_came_first_is_asked(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.register(b)
    await core.register(a)
    await core.bring(magnet(1))
    await core.work()
    assert (len(a.posts()), len(b.posts())) == (0, 1)


async def test_a_downloader_that_is_off_or_cannot_take_the_type_is_not_asked(
    core: Core, a: StandIn, b: StandIn
) -> None:
    off = await core.register(a, priority=90)
    await core.feeds.services.change(off.id, is_enabled=False)
    await core.register(b, TORRENT, priority=80)
    await core.bring(magnet(1), ("[Kura] Yoru no Kurabito - 02", "ftp://feeds.example/2.mkv"), torrent(3))
    await core.work()
    assert not a.asked
    assert [one.urls for one in b.posts()] == [["https://feeds.example/3.torrent"]]
    assert sorted(await core.statuses()) == ["downloading", "no_downloader", "no_downloader"]
    assert await core.episodes() == ["wanted", "wanted", "downloading"]


async def test_what_one_rejects_the_next_gets_and_the_history_says_so(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    a.rejects = lambda url: "unsupported" if url.endswith("1") else None
    await core.bring(magnet(1), magnet(2))
    await core.work()
    assert [one.urls for one in b.posts()] == [[magnet(1)[1]]]
    assert await core.statuses() == ["downloading"] * 2
    assert sorted(await core.attempts()) == [
        ("A", "accepted", None),
        ("A", "rejected", "unsupported"),
        ("B", "accepted", None),
    ]


async def test_what_every_downloader_rejects_has_failed_and_says_why(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a)
    await core.register(b)
    a.rejects = b.rejects = lambda _: "no room"
    await core.bring(magnet(1))
    await core.work()
    assert await core.told("SELECT status, reason FROM downloads") == [("failed", "A: no room; B: no room")]
    assert await core.episodes() == ["wanted"]
    # It was refused, so nobody is asked again.
    await core.poll()
    await core.register(a)
    await core.work()
    assert await core.statuses() == ["failed"]


async def test_who_could_not_be_reached_may_still_take_it_when_it_answers(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    await a.stop()
    b.rejects = lambda _: "no room"
    await core.bring(magnet(1))
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    assert [(name, outcome) for name, outcome, _ in await core.attempts()] == [("A", "unreachable"), ("B", "rejected")]
    await core.poll()
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    assert len(b.posts()) == 1
    await a.start()
    core.clock.advance(60)
    await core.poll()
    await core.work()
    assert await core.statuses() == ["downloading"]
    assert a.added == [f"{1:040x}"]


async def test_a_cascade_of_a_refusal_errors_and_garbage_ends_at_the_one_that_works(
    core: Core, a: StandIn, b: StandIn, open_downloader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_client, "_CALL", Limits(redirects=0, attempts=1, seconds=2.0))
    c, d, slow, gone = [await open_downloader(name) for name in ("C", "D", "slow", "gone")]
    for place, one in enumerate((gone, a, slow, b, c, d)):
        await core.register(one, priority=90 - place)
    await gone.stop()
    never = asyncio.Event()
    a.rejects = lambda _: "unsupported"
    slow.spoils = lambda asked, answer: never.wait() if asked.method == "POST" else answer
    b.spoils = lambda _, __: ConnectionError()
    c.spoils = lambda asked, answer: "<html>sorry</html>" if asked.method == "POST" else answer
    await core.bring(magnet(1), magnet(2))
    await core.work()
    assert await core.statuses() == ["downloading"] * 2
    assert list(dict.fromkeys((name, outcome) for name, outcome, _ in await core.attempts())) == [
        ("gone", "unreachable"),
        ("A", "rejected"),
        ("slow", "unclear"),
        ("B", "unclear"),
        ("C", "unclear"),
        ("D", "accepted"),
    ]
    # Some took them and did not say so: they are removed there as soon as that is seen.
    assert [len(one.has) for one in (slow, c, d)] == [2, 2, 2]
    slow.spoils = d.spoils
    await core.poll()
    await core.work()
    assert [len(one.has) for one in (slow, c, d)] == [0, 0, 2]
    assert await core.statuses() == ["downloading"] * 2


async def test_a_time_out_cascades_and_the_late_one_is_cleared_up(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_client, "_CALL", Limits(redirects=0, attempts=1, seconds=0.3))
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    released = asyncio.Event()

    def slow(asked: Any, answer: Any) -> Any:
        async def later() -> Any:
            await released.wait()
            return answer

        return later() if asked.method == "POST" and asked.path == "/downloads" else answer

    a.spoils = slow
    await core.bring(magnet(1))
    await core.work()
    released.set()
    assert await core.all("SELECT module_name, outcome, owed FROM dispatch_attempts ORDER BY id") == [
        ("A", "unclear", "look"),
        ("B", "accepted", None),
    ]
    assert (list(a.has), list(b.has)) == ([f"{1:040x}"], [f"{1:040x}"])
    await core.poll()
    assert (list(a.has), list(b.has)) == ([], [f"{1:040x}"])
    assert await core.all("SELECT count(*) FROM dispatch_attempts WHERE owed IS NOT NULL") == [(0,)]


async def test_what_was_taken_without_an_answer_and_by_nobody_else_is_recognised_not_added_again(
    core: Core, a: StandIn
) -> None:
    await core.register(a)
    a.spoils = lambda asked, answer: "half an ans" if asked.method == "POST" else answer
    await core.bring(magnet(1))
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    core.clock.advance(60)
    await core.poll()
    await core.work()
    assert await core.statuses() == ["downloading"]
    assert (len(a.posts()), a.added) == (1, [f"{1:040x}"])


NONSENSE: Sequence[Callable[[list[dict[str, Any]]], Any]] = (
    lambda results: {"results": []},
    lambda results: {"results": [{**one, "url": "magnet:?xt=other"} for one in results]},
    lambda results: {"results": [{**one, "status": "perhaps"} for one in results]},
    lambda results: {"results": [7, None, {"url": ["x"], "status": "accepted"}]},
    lambda results: {"results": {}},
    lambda results: [1],
    lambda results: 500,
    lambda results: 404,
)


def nonsense(spoilt: Callable[[list[dict[str, Any]]], Any], asked: Any, answer: Any) -> Any:
    return spoilt(answer["results"]) if asked.method == "POST" else answer


async def test_an_answer_that_makes_no_sense_changes_no_row_and_the_next_is_asked(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.register(a, priority=90)
    second = await core.register(b, priority=80)
    for number, spoilt in enumerate(NONSENSE, 1):
        a.spoils = partial(nonsense, spoilt)
        await core.bring(magnet(number))
        await core.work()
        assert len(a.posts()) == number
    expected = [("downloading", f"{number:040x}", second.id) for number in range(1, len(NONSENSE) + 1)]
    assert await core.all("SELECT status, hash, module_id FROM downloads ORDER BY id") == expected


async def test_the_hash_is_ours_where_the_url_says_it_and_else_the_downloaders(core: Core, a: StandIn) -> None:
    await core.register(a)

    def wrong(asked: Any, answer: Any) -> Any:
        if asked.method == "POST":
            for one in answer["results"]:
                one["hash"] = "AB" * 20 if one["url"].endswith("2.torrent") else None
        return answer

    a.spoils = wrong
    await core.bring(magnet(1), torrent(2), torrent(3))
    await core.work()
    found = await core.told("SELECT status, hash, reason FROM downloads ORDER BY link_id")
    assert found == [
        ("downloading", f"{1:040x}", None),
        ("downloading", "ab" * 20, None),
        ("failed", None, "A took it and did not say its hash"),
    ]


async def test_two_urls_of_one_torrent_share_it(core: Core, a: StandIn) -> None:
    await core.register(a)

    def same(asked: Any, answer: Any) -> Any:
        for one in answer.get("results", ()):
            one["hash"] = "cd" * 20
        return answer

    a.spoils = same
    await core.bring(torrent(1), torrent(2))
    await core.work()
    assert await core.all("SELECT DISTINCT status, hash FROM downloads") == [("downloading", "cd" * 20)]
    a.asked.clear()
    await core.downloads.filters.add(FilterRule(name="not the second", action=Action.EXCLUDE, pattern="- 02"))
    await core.work()
    assert await core.statuses() == ["downloading", "cancelled"]
    assert not a.asked
    # Only the last that stands for it takes it away from the downloader.
    await core.downloads.downloads.cancel(1)
    await core.work()
    assert [one.body for one in a.asked] == [{"hashes": ["cd" * 20]}]


async def test_a_batch_is_sent_once_and_its_rows_move_together(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(("[Kura] Yoru no Kurabito - 01-03 [1080p]", magnet(9)[1]))
    await core.work()
    assert [one.urls for one in a.posts()] == [[magnet(9)[1]]]
    rows = await core.all("SELECT link_id, status, hash, save_path FROM downloads ORDER BY id")
    assert len(rows) == 3
    assert {row[1:] for row in rows} == {
        ("downloading", f"{9:040x}", f"/downloads/Yoru no Kurabito/{min(row[0] for row in rows)}")
    }
    a.say(f"{9:040x}", "completed", progress=1.0)
    await core.poll()
    assert await core.statuses() == ["completed"] * 3
    assert await core.episodes() == ["have"] * 3


async def test_more_than_a_downloader_takes_at_once_is_split(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.most_items = 3
    await core.bring(*[magnet(number) for number in range(1, 11)])
    await core.work()
    assert await core.statuses() == ["downloading"] * 10
    assert sorted(a.added) == sorted(set(a.added))
    assert len(a.added) == 10


async def test_a_downloader_that_comes_gets_what_nobody_could_take_every_time(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.bring(magnet(1), torrent(2))
    await core.work()
    assert await core.statuses() == ["no_downloader"] * 2
    await core.register(a, TORRENT)
    await core.work()
    assert await core.statuses() == ["no_downloader", "downloading"]
    await core.register(a, TORRENT, MAGNET)
    await core.work()
    assert await core.statuses() == ["downloading"] * 2
    assert len(a.added) == 2


@pytest.mark.parametrize("link", [magnet, torrent])
async def test_a_dispatch_that_died_after_sending_asks_that_downloader_first(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch, link: Callable[[int], tuple[str, str]]
) -> None:
    await core.register(a, priority=90)
    await core.bring(link(1), link(2))
    (task,) = (await core.queue.list(task_type=DISPATCH)).items
    order = task.payload_as(DispatchTask)

    class Died(BaseException):
        pass

    send = RemoteDownloaders.offer

    async def die(self: RemoteDownloaders, service: Any, items: Any) -> Any:
        await send(self, service, items)
        raise Died

    with monkeypatch.context() as dying:
        dying.setattr(RemoteDownloaders, "offer", die)
        with pytest.raises(BaseExceptionGroup):
            await core.downloads.dispatcher.dispatch(order)
    assert await core.statuses() == ["pending"] * 2
    assert [outcome for _, outcome, _ in await core.attempts()] == ["sent"] * 2
    # One with a higher priority has come meanwhile.
    await core.register(b, priority=99)
    await core.downloads.dispatcher.dispatch(order)
    assert await core.statuses() == ["downloading"] * 2
    assert not b.added
    assert len(a.added) == 2
    # A magnet's hash is known, so it is enough to look; of a torrent only the downloader can tell.
    assert len(a.posts()) == (1 if link is magnet else 2)


async def test_no_link_is_dispatched_twice_while_a_download_of_it_is_under_way(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(magnet(1))
    (link_id,) = [found for (found,) in await core.all("SELECT id FROM anime_links")]
    await core.queue.database.write(lambda conn: core.downloads.grabber.accept(conn, [link_id]))
    await core.work()
    await core.queue.database.write(lambda conn: core.downloads.grabber.accept(conn, [link_id]))
    await core.work()
    assert await core.statuses() == ["downloading"]
    assert len(a.posts()) == 1


async def test_what_a_dead_task_left_behind_is_sent_at_one_of_the_next_polls(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(magnet(1))

    async def polled(seconds: float) -> int:
        """How many orders there are after a poll, so many seconds later."""
        core.clock.advance(seconds)
        await core.poll()
        return len((await core.queue.list(task_type=DISPATCH)).items)

    async def die() -> None:
        for task in (await core.queue.list(task_type=DISPATCH, state="queued")).items:
            await core.queue.cancel(task.id)

    # While a task has it, nobody else does, however long that takes.
    assert await polled(10_000) == 1
    await die()
    assert await polled(0) == 2
    # What is lost again may be what kills tasks: it has to wait.
    await die()
    assert await polled(60) == 2
    assert await polled(840) == 3
    await core.work()
    assert await core.all("SELECT status, rescues FROM downloads") == [("downloading", 0)]
