"""A release that failed is blocked for a time, and the next best is taken without a hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.integration.downloads.conftest import Core, StandIn, hash_of

from kurabito.downloads.blocklist.failures import blocked_for, is_its_fault
from kurabito.downloads.errors import BlockNotFound
from kurabito.downloads.reasons import DownloadReason, because
from kurabito.reasons import Reason

FIRST = f"magnet:?xt=urn:btih:{1:040x}"
SECOND = f"magnet:?xt=urn:btih:{2:040x}"
DAY = 24 * 3600


async def brought(core: Core, a: StandIn) -> None:
    """Two releases of one episode, of which the better is being downloaded."""
    await core.register(a)
    await core.bring(("[Kura] Yoru - 01 [1080p]", FIRST), ("[Bito] Yoru - 01 [720p]", SECOND))
    await core.work()
    assert a.added == [hash_of(FIRST)]


@pytest.mark.parametrize(
    ("detail", "told"),
    [("metadata", "no peer sent the torrent info for 24.0 hours"), ("stalled", "no peer had it for 24.0 hours")],
)
async def test_a_dead_torrent_is_replaced_by_the_next_release(core: Core, a: StandIn, detail: str, told: str) -> None:
    await brought(core, a)
    a.say(hash_of(FIRST), "downloading", peers=0, detail=detail)
    core.clock.advance(DAY - 60)
    await core.poll()
    assert await core.statuses() == ["downloading"]
    core.clock.advance(120)
    await core.poll()
    await core.work()
    assert await core.told("SELECT status, reason FROM downloads ORDER BY id") == [
        ("failed", told),
        ("downloading", None),
    ]
    # It is taken away at the downloader too.
    assert list(a.has) == [hash_of(SECOND)]
    (blocked,) = (await core.downloads.blocklist.page()).items
    assert (blocked.title, blocked.download_id) == ("[Kura] Yoru - 01 [1080p]", 1)
    assert blocked.blocked_until is not None
    # Another feed that has it again changes nothing.
    await core.poll()
    await core.work()
    assert await core.statuses() == ["failed", "downloading"]


async def test_what_has_peers_or_rests_is_not_dead(core: Core, a: StandIn) -> None:
    await brought(core, a)
    for more in ({"peers": 3}, {"peers": 0, "detail": "paused"}, {"peers": 0, "detail": "no_room: full"}):
        a.say(hash_of(FIRST), "downloading", **more)
        core.clock.advance(2 * DAY)
        await core.poll()
    assert await core.statuses() == ["downloading"]


async def test_an_error_of_the_release_is_replaced_and_one_of_the_disk_is_not(core: Core, a: StandIn) -> None:
    await brought(core, a)
    a.say(hash_of(FIRST), "error", detail="content_refused")
    await core.poll()
    await core.work()
    assert await core.statuses() == ["failed", "downloading"]
    a.say(hash_of(SECOND), "error", detail="files_missing")
    await core.poll()
    assert await core.statuses() == ["failed", "failed"]
    assert len((await core.downloads.blocklist.page()).items) == 1


async def test_a_release_that_failed_is_not_taken_again_before_its_time(core: Core, a: StandIn) -> None:
    await brought(core, a)
    a.say(hash_of(FIRST), "error", detail="content_refused")
    await core.poll()
    await core.work()
    a.say(hash_of(SECOND), "completed", progress=1.0)
    await core.poll()
    again = await core.downloads.wanting.want_again(1, without=[2])
    assert again.downloads == ()
    (blocked,) = (await core.downloads.blocklist.page()).items
    await core.downloads.blocklist.clear(blocked.id)
    assert not (await core.downloads.blocklist.page()).items
    with pytest.raises(BlockNotFound):
        await core.downloads.blocklist.clear(blocked.id)
    # It is not blocked a second time for the same failure.
    await core.poll()
    assert not (await core.downloads.blocklist.page()).items
    assert [one.link_id for one in (await core.downloads.wanting.want_again(1, without=[2])).downloads] == [1]


async def test_a_block_ends_and_all_can_be_cleared(core: Core, a: StandIn) -> None:
    await brought(core, a)
    a.rejects = lambda _: "no"
    for known in (FIRST, SECOND):
        a.say(hash_of(known), "error", detail="content_refused")
    await core.poll()
    await core.work()
    # The second one was refused, which is over sooner.
    assert len((await core.downloads.blocklist.page()).items) == 2
    core.clock.advance(3 * DAY)
    assert [one.title for one in (await core.downloads.blocklist.page()).items] == ["[Kura] Yoru - 01 [1080p]"]
    assert await core.downloads.blocklist.clear_all() == 2
    assert not (await core.downloads.blocklist.page()).items


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (because(DownloadReason.REMOVED), False),
        (because(DownloadReason.CANCELLED), False),
        (because(DownloadReason.TRANSFER, detail="no_room"), False),
        (because(DownloadReason.TRANSFER, detail="content_refused"), True),
        (because(DownloadReason.DEAD, hours=24), True),
        (None, False),
    ],
)
def test_a_person_and_a_full_disk_are_no_fault_of_a_release(
    reason: Reason[DownloadReason] | None, expected: bool
) -> None:
    assert is_its_fault(reason) is expected


def test_what_is_another_episode_is_blocked_for_good() -> None:
    assert blocked_for(because(DownloadReason.ANOTHER_EPISODE, title="x")) is None
    assert blocked_for(because(DownloadReason.DEAD, hours=24)) == timedelta(days=14)
