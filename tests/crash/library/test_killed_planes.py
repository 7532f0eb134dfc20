"""Data planes are killed at seeded random moments of scans, hashes and deletions; the next one finishes the work."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest

from kurabito.library.deletion.rules import KeepRules
from kurabito.protocol.deletion import LogState
from kurabito.protocol.enums import JobStatus
from kurabito.runtime.model import MAX_LOST_LEASES

if TYPE_CHECKING:
    from tests.crash.library.conftest import Collection, Planes

KINDS = ("scan", "hash", "delete")
KILLS, MANY_KILLS = 4, 150
LATEST: dict[str, tuple[int, float]] = {"scan": (250, 0.08), "hash": (60, 0.6), "delete": (150, 0.1)}
"""About how many moments, and seconds, a job of each kind takes."""


@pytest.mark.parametrize("kind", KINDS)
async def test_a_killed_data_plane_loses_nothing(collection: Collection, planes: Planes, kind: str) -> None:
    await _kill_and_check(collection, planes, kind, random.Random(f"{kind} 7"), KILLS)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
async def test_many_killed_data_planes_lose_nothing(
    collection: Collection, planes: Planes, kind: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = await _kill_and_check(collection, planes, kind, random.Random(f"{kind} 2026"), MANY_KILLS)
    with capsys.disabled():
        sys.stdout.write(f"\nsoak of {kind} on {url.partition(':')[0]}: {summary}\n")


async def test_a_deletion_that_loses_three_workers_is_given_up_and_leaves_nothing_half_done(
    collection: Collection, planes: Planes
) -> None:
    await collection.ask_for_scans()
    await collection.finish(planes)
    existed = collection.contents().keys()
    groups = [f"{algorithm}:{digest.hex()}" for algorithm, digest in await collection.reclaimable()][:2]
    plan = await collection.plans.make(KeepRules(), group_keys=groups)
    await collection.plans.apply(plan.id, dry_run=False, confirm=True)
    for _ in range(MAX_LOST_LEASES):
        assert planes.work(kill_at=19) == "killed"
        await collection.lose_worker()

    given_up = await collection.plans.get(plan.id)
    assert given_up.job_status is JobStatus.FAILED
    assert (await collection.ask("SELECT error_code, lost_leases FROM jobs WHERE kind = 'delete'")) == [
        ("WORKER_LOST", MAX_LOST_LEASES)
    ]
    assert given_up.outcomes[LogState.INTENT] == 1
    assert not await collection.waiting("delete")

    # Every hour the trash is looked after, and with it what was left half done.
    await collection.trash.purge()
    await collection.finish(planes)
    outcomes = (await collection.plans.get(plan.id)).outcomes
    assert (outcomes.get(LogState.INTENT), outcomes[LogState.REFUSED]) == (None, 1)
    rest = await collection.plans.make(KeepRules(), group_keys=groups)
    assert rest.file_count == plan.file_count - outcomes.get(LogState.DONE, 0)
    await collection.plans.apply(rest.id, dry_run=False, confirm=True)
    await collection.finish(planes)
    assert (await collection.plans.get(rest.id)).outcomes == {LogState.DONE: rest.file_count}
    assert collection.contents().keys() == existed
    await collection.check()


async def _kill_and_check(collection: Collection, planes: Planes, kind: str, chance: random.Random, kills: int) -> str:
    killed = rounds = given_up = survived = 0
    while killed < kills:
        rounds += 1
        await _come_to(collection, planes, kind, chance, rounds)
        existed = collection.contents()
        deaths = 0
        while await collection.waiting(kind):
            ended = planes.work(**_moment(kind, chance))
            if ended == "done":
                survived += 1
                break
            assert ended == "killed"
            assert existed.keys() <= collection.contents().keys()
            killed, deaths = killed + 1, deaths + 1
            await collection.lose_worker()
            if chance.random() < 0.3:
                break
        await collection.finish(planes)
        if deaths >= MAX_LOST_LEASES and await collection.ask("SELECT 1 FROM jobs WHERE error_code = 'WORKER_LOST'"):
            # The job was given up. Somebody asks again, and what it left half done is seen to.
            given_up += 1
            await collection.trash.purge()
            await collection.ask_for_scans()
            await collection.finish(planes)
        assert existed.keys() <= collection.contents().keys()
        await collection.check()
    return (
        f"{killed} kills of {kind}s in {rounds} rounds; {given_up} jobs given up, {survived} done before the kill came"
    )


async def _come_to(collection: Collection, planes: Planes, kind: str, chance: random.Random, round_: int) -> None:
    """Do everything up to where a job of this kind waits for a data plane."""
    if round_ == 1:
        await collection.ask_for_scans()
    elif kind != "delete" or round_ % 4 == 0:
        library = 1 + round_ % 2
        collection.change(library, chance, round_)
        await collection.ask_for_scans(library)
    while kind == "hash" and not await collection.waiting("hash"):
        assert planes.work() == "done"
        await collection.tick()
    if kind == "delete":
        await collection.finish(planes)
        await collection.order_deletion(chance)


def _moment(kind: str, chance: random.Random) -> dict[str, float]:
    """When to die: between two steps, or by the clock wherever that is."""
    steps, seconds = LATEST[kind]
    return (
        {"kill_at": chance.randint(1, steps)} if chance.random() < 0.6 else {"kill_after": chance.uniform(0, seconds)}
    )
