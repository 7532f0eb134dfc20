"""A hash that only a downloader knows tells what it has, and not that it is what two different links are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

SAME = "cd" * 20


def torrent(number: int, site: str = "feeds.example") -> tuple[str, str]:
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"https://{site}/{number}.torrent"


def answers(known: str) -> Callable[[Any, Any], Any]:
    """Has a downloader call everything by one hash."""

    def spoil(_asked: Any, answer: Any) -> Any:
        for one in answer.get("results", ()) if isinstance(answer, dict) else ():
            one["hash"] = known
        return answer

    return spoil


async def test_one_hash_for_the_torrents_of_two_episodes_completes_the_first(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.spoils = answers(SAME)
    await core.bring(torrent(1), torrent(2))
    await core.work()
    a.say(SAME, "completed", progress=1.0)
    await core.poll()
    assert await core.told("SELECT status, reason FROM downloads ORDER BY link_id") == [
        ("completed", None),
        ("failed", f"the downloader has one torrent for this and for {torrent(1)[0]}, which is another episode"),
    ]
    assert await core.episodes() == ["have", "wanted"]


async def test_a_torrent_that_comes_later_is_not_complete_by_the_hash_of_another(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.spoils = answers(SAME)
    await core.bring(torrent(1))
    await core.work()
    a.say(SAME, "completed", progress=1.0)
    await core.poll()
    await core.bring(torrent(2))
    await core.work()
    await core.poll()
    assert await core.statuses() == ["completed", "failed"]
    assert await core.episodes() == ["have", "wanted"]


async def test_a_magnet_link_says_itself_what_it_is_and_goes_before_what_was_answered(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.spoils = answers(SAME)
    await core.bring(torrent(1), ("[Kura] Yoru no Kurabito - 02 [1080p]", f"magnet:?xt=urn:btih:{SAME}"))
    await core.work()
    a.say(SAME, "completed", progress=1.0)
    await core.poll()
    assert await core.all("SELECT link_id, status FROM downloads ORDER BY link_id") == [(1, "failed"), (2, "completed")]
    assert await core.episodes() == ["wanted", "have"]


async def test_a_batch_is_complete_with_all_its_episodes(core: Core, a: StandIn) -> None:
    await core.register(a)
    a.spoils = answers(SAME)
    await core.bring(("[Kura] Yoru no Kurabito - 01-03 [1080p]", torrent(9)[1]))
    await core.work()
    a.say(SAME, "completed", progress=1.0)
    await core.poll()
    assert await core.statuses() == ["completed"] * 3
    assert await core.episodes() == ["have"] * 3
