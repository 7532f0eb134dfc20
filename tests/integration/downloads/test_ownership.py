"""What the user added to a downloader is the user's, whether the downloader tells so or was only seen to have it before."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.dispatch.remote import RemoteDownloaders
from kurabito.downloads.errors import DownloadConflict
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.items import Owner
from kurabito.downloads.tasks import DISPATCH, DispatchTask

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

ONE, TWO, THREE = (f"{number:040x}" for number in (1, 2, 3))
pytestmark = pytest.mark.parametrize("tells", [True, False], ids=["told", "seen"])


def magnet(number: int) -> tuple[str, str]:
    return f"[Kura] Yoru no Kurabito - {number:02} [1080p]", f"magnet:?xt=urn:btih:{number:040x}"


async def beside(core: Core, a: StandIn, *numbers: int, tells: bool) -> None:
    """The user has the first, and all of these are wanted."""
    a.tells = tells
    a.has_by_hand(ONE, progress=0.5)
    await core.register(a, priority=90)
    await core.bring(*[magnet(number) for number in numbers])
    await core.work()


def changes(a: StandIn) -> list[tuple[str, str]]:
    """Every request that could change something there, but for offers."""
    return [(one.method, one.path) for one in a.asked if one.method != "GET" and one not in a.posts()]


async def owners(core: Core) -> list[str | None]:
    return [owner for (owner,) in await core.all("SELECT owner FROM downloads ORDER BY id")]


async def nothing_is_owed(core: Core) -> bool:
    return await core.all("SELECT count(*) FROM dispatch_attempts WHERE owed IS NOT NULL") == [(0,)]


async def test_what_was_there_is_watched_and_what_we_add_is_ours(core: Core, a: StandIn, tells: bool) -> None:
    await beside(core, a, 1, 2, tells=tells)
    assert await core.statuses() == ["downloading"] * 2
    assert await owners(core) == ["user", "kurabito" if tells else None]
    assert a.added == [TWO]
    a.say(ONE, "completed", progress=1.0)
    await core.poll()
    assert await core.statuses() == ["completed", "downloading"]
    download, _, _ = await core.downloads.downloads.get(1)
    assert (download.owner, download.is_yours) == (Owner.USER, True)


async def test_a_filter_cancels_here_and_not_there(core: Core, a: StandIn, tells: bool) -> None:
    await beside(core, a, 1, 2, tells=tells)
    await core.downloads.filters.add(FilterRule(name="none", action=Action.EXCLUDE, pattern="Yoru"))
    await core.work()
    await core.poll()
    assert await core.statuses() == ["cancelled"] * 2
    assert list(a.has) == [ONE]
    assert [one.body for one in a.asked if one.path == "/downloads/cancel"] == [{"hashes": [TWO]}]
    assert await nothing_is_owed(core)


async def test_what_the_keeper_does_with_it_changes_nothing_there(core: Core, a: StandIn, tells: bool) -> None:
    await beside(core, a, 1, tells=tells)
    downloads = core.downloads.downloads
    for refused in (downloads.pause(1), downloads.resume(1), downloads.remove(1, delete_files=True)):
        with pytest.raises(DownloadConflict, match="download 1 is yours"):
            await refused
    await downloads.cancel(1)
    again = await downloads.retry(1)
    await core.work()
    assert await owners(core) == ["user", "user"]
    a.say(ONE, "completed", progress=1.0)
    await core.poll()
    with pytest.raises(DownloadConflict, match="its files are not deleted"):
        await downloads.remove(again.id, delete_files=True)
    await downloads.remove(again.id)
    await core.work()
    await core.poll()
    assert (list(a.has), a.added, changes(a)) == ([ONE], [], [])
    assert await nothing_is_owed(core)


async def test_an_episode_that_is_wanted_again_is_not_taken_from_there(core: Core, a: StandIn, tells: bool) -> None:
    await beside(core, a, 1, tells=tells)
    a.say(ONE, "completed", progress=1.0)
    await core.poll()
    wanted = await core.downloads.wanting.want_again(1)
    await core.work()
    await core.poll()
    assert [one.link_id for one in wanted.downloads] == [1]
    assert (list(a.has), a.added, changes(a)) == ([ONE], [], [])
    assert set(await owners(core)) == {"user"}
    assert await nothing_is_owed(core)


async def test_sent_elsewhere_it_stays_where_it_was(core: Core, a: StandIn, b: StandIn, tells: bool) -> None:
    await beside(core, a, 1, tells=tells)
    second = await core.register(b, priority=80)
    await core.downloads.downloads.send_elsewhere(1)
    await core.work()
    for _ in range(2):
        await core.poll()
    assert await core.all("SELECT module_id, owner FROM downloads") == [(second.id, None)]
    assert (list(a.has), list(b.has), changes(a)) == ([ONE], [ONE], [])


async def test_what_stands_still_is_not_sent_elsewhere_for_the_user(
    core: Core, a: StandIn, b: StandIn, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    monkeypatch.setattr(core.downloads.scheduler, "elsewhere", timedelta(minutes=30))
    await beside(core, a, 1, 2, tells=tells)
    await core.register(b, priority=80)
    core.clock.advance(1801)
    await core.poll()
    await core.work()
    for _ in range(2):
        await core.poll()
    assert (list(a.has), list(b.has)) == ([ONE], [TWO])


async def test_a_doubt_about_it_is_settled_and_nothing_removed(core: Core, a: StandIn, b: StandIn, tells: bool) -> None:
    await core.register(b, priority=80)
    good = a.spoils
    a.spoils = lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await beside(core, a, 1, 2, tells=tells)
    assert (list(a.has), list(b.has)) == ([ONE, TWO], [ONE, TWO])
    a.spoils = good
    for _ in range(2):
        await core.poll()
    assert (list(a.has), list(b.has)) == ([ONE], [ONE, TWO])
    assert await nothing_is_owed(core)


async def test_what_was_seen_there_before_a_crash_is_still_the_users_after_it(
    core: Core, a: StandIn, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    a.tells = tells
    a.has_by_hand(ONE)
    await core.register(a)
    await core.bring(magnet(1), magnet(2))
    (task,) = (await core.queue.list(task_type=DISPATCH, state="queued")).items
    await core.queue.cancel(task.id)
    send = RemoteDownloaders.offer

    class Died(BaseException):
        pass

    async def die(self: RemoteDownloaders, service: Any, items: Any) -> Any:
        await send(self, service, items)
        raise Died

    with monkeypatch.context() as dying:
        dying.setattr(RemoteDownloaders, "offer", die)
        with pytest.raises(BaseExceptionGroup):
            await core.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
    await core.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
    assert await owners(core) == ["user", "kurabito" if tells else None]
    for one in (1, 2):
        await core.downloads.downloads.cancel(one)
    await core.work()
    assert list(a.has) == [ONE]


async def test_the_rows_of_a_batch_and_a_second_link_are_all_the_users(core: Core, a: StandIn, tells: bool) -> None:
    a.tells = tells
    a.has_by_hand(ONE)
    await core.register(a)
    await core.bring(("[Kura] Yoru no Kurabito - 01-03 [1080p]", magnet(1)[1]))
    await core.work()
    await core.bring(("[Kura] Yoru no Hoshi - 01 [1080p]", f"{magnet(1)[1]}&dn=again"))
    await core.work()
    assert set(await owners(core)) == {"user"}
    await core.downloads.downloads.cancel(1)
    await core.work()
    assert set(await core.statuses()) == {"cancelled"}
    await core.poll()
    assert (list(a.has), changes(a)) == ([ONE], [])


async def test_what_we_brought_there_ourselves_is_not_taken_for_the_users(core: Core, a: StandIn, tells: bool) -> None:
    a.tells = tells
    await core.register(a)
    await core.bring(magnet(1))
    await core.work()
    a.say(ONE, "error", detail="disk full")
    await core.poll()
    await core.downloads.downloads.retry(1)
    await core.work()
    assert (await owners(core))[1] == ("kurabito" if tells else None)
    await core.downloads.downloads.cancel(2)
    await core.work()
    assert a.has == {}
    # Given up here and added by hand afterwards, it is the user's.
    a.has_by_hand(ONE)
    await core.downloads.downloads.retry(2)
    await core.work()
    assert (await owners(core))[2] == "user"
    await core.downloads.downloads.cancel(3)
    await core.work()
    assert list(a.has) == [ONE]


async def test_an_owner_that_changes_at_the_downloader_is_followed(core: Core, a: StandIn, tells: bool) -> None:
    await beside(core, a, 2, tells=tells)
    if not tells:
        return
    # The user took the mark off.
    a.users.add(TWO)
    await core.poll()
    assert await owners(core) == ["user"]
    await core.downloads.downloads.cancel(1)
    await core.work()
    assert (list(a.has), changes(a)) == ([ONE, TWO], [])


async def test_what_a_service_tells_outweighs_what_was_seen_there(
    core: Core, a: StandIn, b: StandIn, tells: bool
) -> None:
    a.tells = tells
    a.say(ONE, "downloading")
    good, a.spoils = a.spoils, lambda asked, answer: ConnectionError() if asked.method == "POST" else answer
    await core.register(a, priority=90)
    await core.register(b, priority=80)
    await core.bring(magnet(1))
    await core.work()
    a.spoils = good
    for _ in range(2):
        await core.poll()
    # Marked as ours, it is a copy too many. Where nobody can tell, it was there before it was asked for.
    assert (list(a.has), list(b.has)) == ([] if tells else [ONE], [ONE])
    assert await nothing_is_owed(core)
