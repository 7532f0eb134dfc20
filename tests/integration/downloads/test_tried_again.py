"""A torrent file that could not be fetched is tried again, later and later; then another release is taken."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from kurabito.downloads.clients.sources import SourceReader, TorrentSource
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.items import DownloadItem, Owner
from kurabito.downloads.tasks import DispatchTask
from kurabito.http import Outbound
from kurabito.modules.download_types import DownloadType

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, OpenDownloader, StandIn

REASON = "127.0.0.1 did not take a connection"
WAITS = [timedelta(minutes=minutes) for minutes in (1, 5, 20, 60)]


def release(group: str = "Kura", number: int = 1) -> tuple[str, str]:
    return f"[{group}] Yoru no Kurabito - {number:02}", f"https://feeds.example/{group}/{number}.torrent"


async def test_a_refused_connection_is_tried_again_and_does_not_end_the_episode(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.rejects, a.may_pass = lambda _: REASON, True
    await core.bring(release())
    await core.work()
    for number, wait in enumerate(WAITS, 1):
        ((status, reason, tries),) = await core.told("SELECT status, reason, tries FROM downloads")
        assert (status, reason, tries) == ("no_downloader", f"A: {REASON}", number)
        download, *_ = await core.downloads.downloads.get(1)
        assert download.retry_at is not None
        # Neither a poll nor a registration has it tried before its time.
        asked = len(a.posts())
        core.clock.advance((wait - timedelta(seconds=1)).total_seconds())
        await core.poll()
        await core.register(a)
        await core.work()
        assert len(a.posts()) == asked
        core.clock.advance(1)
        if number == len(WAITS):
            a.rejects = lambda _: None
        await core.poll()
        await core.work()
        assert len(a.posts()) == asked + 1
    assert await core.told("SELECT status, reason, tries, retry_at FROM downloads") == [("downloading", None, 0, None)]
    assert await core.episodes() == ["downloading"]


async def test_when_it_was_tried_often_enough_the_next_release_is_taken(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.rejects, a.may_pass = lambda url: REASON if "Kura" in url else None, True
    await core.bring(release("Kura"), release("Toji"))
    await core.work()
    for wait in WAITS:
        assert await core.statuses() == ["no_downloader"]
        core.clock.advance(wait.total_seconds())
        await core.poll()
        await core.work()
    assert await core.told("SELECT link_id, status, reason FROM downloads ORDER BY id") == [
        (1, "failed", f"A: {REASON}"),
        (2, "downloading", None),
    ]
    assert await core.episodes() == ["downloading"]


async def test_what_every_downloader_refuses_for_good_makes_room_for_the_next_release_at_once(
    core: Core, a: StandIn, b: StandIn
) -> None:
    await core.register(a)
    await core.register(b)
    a.rejects = b.rejects = lambda url: "404" if "Kura" in url else None
    await core.downloads.filters.add(FilterRule(name="no", action=Action.EXCLUDE, pattern="Nono"))
    await core.bring(release("Kura"), release("Nono"), release("Toji"), release("Yama"))
    await core.work()
    assert await core.all("SELECT link_id, status FROM downloads ORDER BY id") == [(1, "failed"), (3, "downloading")]
    # Where there is no other, the episode is wanted, and one that comes later is taken.
    await core.bring(release("Kura", 2))
    await core.work()
    assert await core.episodes() == ["downloading", "wanted"]
    await core.bring(release("Toji", 2))
    await core.work()
    assert await core.episodes() == ["downloading", "downloading"]


async def test_one_downloader_that_may_do_it_later_is_enough(core: Core, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.register(b)
    a.rejects, a.may_pass = lambda _: REASON, True
    b.rejects = lambda _: "no torrents here"
    await core.bring(release())
    await core.work()
    assert await core.statuses() == ["no_downloader"]
    # A keeper need not wait.
    core.clock.advance(1)
    a.rejects = lambda _: None
    await core.downloads.downloads.retry(1)
    await core.work()
    assert await core.all("SELECT status, tries, retry_at FROM downloads") == [("downloading", 0, None)]


async def test_a_crash_forgets_neither_the_answer_nor_that_it_may_pass(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.rejects, a.may_pass = lambda _: REASON, True
    await core.bring(release())
    await core.work()
    # As if it had died between the answer and what follows from it.
    await core.run("UPDATE downloads SET status = 'pending', tries = 0, retry_at = NULL")
    a.asked.clear()
    await core.downloads.dispatcher.dispatch(DispatchTask((1,), "again"))
    assert await core.all("SELECT status, tries FROM downloads") == [("no_downloader", 1)]
    assert not a.posts()


async def test_only_what_may_be_better_later_is_said_to_be(open_downloader: OpenDownloader) -> None:
    host = await open_downloader("host")
    closed = await open_downloader("closed")
    await closed.stop()

    async def take(_: TorrentSource) -> Owner:
        raise AssertionError("there is nothing to take")

    async with Outbound(private_hosts=["127.0.0.1"]) as outbound:
        taking = SourceReader(outbound, [DownloadType.TORRENT])
        urls = {
            f"http://127.0.0.1:{closed.port}/1.torrent": True,
            "http://10.0.0.1/1.torrent": False,
            "magnet:?xt=urn:btih:1": False,
        }
        results = await taking.each([DownloadItem(url, str(Path("/x"))) for url in urls], take)
        assert {one.url: one.may_pass for one in results} == urls
    assert host.port
