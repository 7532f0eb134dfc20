"""Of several releases of one episode, one is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kurabito.downloads.errors import ConflictNotFound, ConflictResolved
from kurabito.downloads.tasks import CHOOSE, ChooseTask
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import Policy, Preferences

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn


def release(number: int, group: str, more: str = "[1080p]", *, hash_: int) -> tuple[str, str]:
    return f"[{group}] Yoru no Kurabito - {number:02} {more}", f"magnet:?xt=urn:btih:{hash_:040x}"


async def taken(core: Core) -> list[tuple[Any, ...]]:
    """What is or was downloaded, in the order in which it was decided."""
    return await core.all(
        "SELECT link.title, download.status FROM downloads AS download JOIN anime_links AS link "
        "ON link.id = download.link_id ORDER BY download.id"
    )


def titles(found: list[tuple[Any, ...]]) -> list[str]:
    return [title for title, _ in found]


async def test_the_best_is_what_the_subscription_prefers(core: Core) -> None:
    for number, (preferences, best) in enumerate(
        (
            (Preferences(), "Kura"),
            (Preferences(groups=("tōji",)), "Tōji"),
            (Preferences(resolutions=(720, 1080)), "Tōji"),
            (Preferences(groups=("nobody",), sources=("BDRip", "WEB-DL")), "Saka"),
        ),
        1,
    ):
        subscription_id = await core.subscribe(preferences=preferences)
        await core.bring(
            release(number, "Tōji", "[720p]", hash_=10 * number),
            release(number, "Kura", hash_=10 * number + 1),
            release(number, "Saka", "[WEB-DL 1080p]", hash_=10 * number + 2),
            subscription_id=subscription_id,
        )
        assert f"[{best}]" in (await taken(core))[-1][0]
        # What comes later does not matter while there is one.
        await core.bring(release(number, "Late", "[2160p]", hash_=10 * number + 3), subscription_id=subscription_id)
        assert len(await taken(core)) == number


async def test_the_first_is_taken_where_that_is_the_policy(core: Core) -> None:
    await core.subscribe(conflict_policy=Policy.FIRST)
    await core.bring(release(1, "Tōji", "[480p]", hash_=1), release(1, "Kura", hash_=2))
    assert len(await taken(core)) == 1
    assert "480p" in (await taken(core))[0][0]


async def test_a_second_version_of_the_same_group_always_replaces_and_a_better_one_only_where_wanted(
    core: Core, a: StandIn
) -> None:
    await core.register(a)
    await core.subscribe()
    await core.bring(release(1, "Kura", hash_=1))
    await core.work()
    await core.bring(
        ("[Tōji] Yoru no Kurabito - 01v2 [1080p]", "magnet:?xt=urn:btih:" + "b" * 40),
        ("[Saka] Yoru no Kurabito - 01 [2160p]", "magnet:?xt=urn:btih:" + "c" * 40),
    )
    assert len(await taken(core)) == 1
    await core.bring(("[Kura] Yoru no Kurabito - 01v2 [1080p]", "magnet:?xt=urn:btih:" + "a" * 40))
    await core.work()
    assert [status for _, status in await taken(core)] == ["cancelled", "downloading"]
    assert list(a.has) == ["a" * 40]
    upgrading = await core.subscribe(upgrade=True)
    await core.bring(
        ("[Saka] Yoru no Kurabito - 01 [WEB-DL 4320p]", "magnet:?xt=urn:btih:" + "d" * 40), subscription_id=upgrading
    )
    await core.work()
    assert [status for _, status in await taken(core)] == ["cancelled", "cancelled", "downloading"]
    # What is complete stays, also when something better comes.
    a.say("d" * 40, "completed")
    await core.poll()
    await core.bring(
        ("[Saka] Yoru no Kurabito - 01v2 [WEB-DL 4320p]", "magnet:?xt=urn:btih:" + "e" * 40), subscription_id=upgrading
    )
    await core.work()
    assert [status for _, status in await taken(core)][-2:] == ["completed", "downloading"]


async def test_a_batch_is_fetched_only_for_an_episode_that_is_missing(core: Core) -> None:
    await core.bring(release(1, "Kura", hash_=1), release(2, "Kura", hash_=2))
    await core.bring(("[Tōji] Yoru no Kurabito - 01-02 [1080p]", "magnet:?xt=urn:btih:" + "a" * 40))
    assert len(await taken(core)) == 2
    await core.bring(("[Tōji] Yoru no Kurabito - 01-03 [1080p]", "magnet:?xt=urn:btih:" + "b" * 40))
    assert len(await taken(core)) == 5


async def test_the_best_may_wait_for_a_better_one(core: Core) -> None:
    await core.subscribe(wait_minutes=30)
    await core.bring(release(1, "Tōji", "[720p]", hash_=1))
    assert await taken(core) == []
    (conflict,) = await core.downloads.conflicts.page()
    assert (conflict.status, [one.title for one in conflict.releases]) == (
        "waiting",
        ["[Tōji] Yoru no Kurabito - 01 [720p]"],
    )
    await core.bring(release(1, "Kura", hash_=2))
    (task,) = (await core.queue.list(task_type=CHOOSE)).items
    assert task.next_run_at is not None
    assert (task.next_run_at - task.created_at).total_seconds() == 1800
    order = task.payload_as(ChooseTask)
    assert await core.downloads.conflicts.choose(order) == 2
    assert titles(await taken(core)) == ["[Kura] Yoru no Kurabito - 01 [1080p]"]
    # Once more, after a crash, changes nothing.
    assert await core.downloads.conflicts.choose(order) is None
    assert len(await taken(core)) == 1
    assert (await core.downloads.conflicts.page()).items == ()


async def test_a_keeper_who_wants_to_be_asked_is_asked(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.subscribe(conflict_policy=Policy.ASK)
    await core.bring(release(2, "Kura", hash_=9))
    await core.bring(release(1, "Tōji", hash_=1), release(1, "Kura", hash_=2))
    await core.work()
    assert len(await taken(core)) == 1
    (conflict,) = await core.downloads.conflicts.page()
    assert (conflict.status, conflict.number, len(conflict.releases)) == ("asked", 1.0, 2)
    with pytest.raises(InvalidInput, match="link_id"):
        await core.downloads.conflicts.resolve(conflict.id, 1)
    chosen = conflict.releases[1].link_id
    resolved = await core.downloads.conflicts.resolve(conflict.id, chosen)
    assert (resolved.status, resolved.link_id) == ("resolved", chosen)
    await core.work()
    assert len(await taken(core)) == 2
    with pytest.raises(ConflictResolved):
        await core.downloads.conflicts.resolve(conflict.id, chosen)
    with pytest.raises(ConflictNotFound):
        await core.downloads.conflicts.resolve(99, 1)
    # A rival that comes later is asked about too, and choosing it gives the other up.
    await core.bring(release(1, "Late", hash_=5))
    (late,) = await core.downloads.conflicts.page()
    await core.downloads.conflicts.resolve(late.id, late.releases[-1].link_id)
    await core.work()
    assert [status for _, status in await taken(core)] == ["downloading", "cancelled", "downloading"]
    assert len(a.has) == 2
