"""A data plane that stood still past its lease has been succeeded: when it goes on, it changes nothing any more."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from kurabito.library.deletion.rules import KeepRules
from kurabito.protocol.deletion import DeleteMode

if TYPE_CHECKING:
    from tests.crash.library.conftest import Collection, Planes

PAUSES = 2
LATEST = {"scan": 40, "hash": 30}
"""About how many moments a job of each kind takes, after a few changes."""

PAUSED_DELETIONS: list[tuple[DeleteMode, dict[str, int | str]]] = [
    (DeleteMode.TRASH, {"stop_at": 10}),
    (DeleteMode.TRASH, {"stop_before": "os.mkdir"}),
    (DeleteMode.TRASH, {"stop_before": "os.rename"}),
    (DeleteMode.TRASH, {"stop_at": 19}),
    (DeleteMode.HARDLINK, {"stop_before": "os.link"}),
    (DeleteMode.HARDLINK, {"stop_before": "os.rename"}),
]
"""While it compares, after it wrote down what it will do, in the last moment before it, and after it."""


@pytest.mark.parametrize("kind", ["scan", "hash"])
async def test_what_a_late_scan_or_hash_found_is_not_stored(collection: Collection, planes: Planes, kind: str) -> None:
    await collection.ask_for_scans()
    await collection.finish(planes)
    chance = random.Random(f"{kind} 5")
    for round_ in range(PAUSES):
        collection.change(1, chance, round_)
        await collection.ask_for_scans(1)
        while not await collection.waiting(kind):
            assert planes.work() == "done"
            await collection.tick()
        await _pause_and_check(collection, planes, stop_at=chance.randint(1, LATEST[kind]))
        await collection.check()


async def test_a_late_deletion_touches_no_file(collection: Collection, planes: Planes) -> None:
    await collection.ask_for_scans()
    await collection.finish(planes)
    groups = [f"{algorithm}:{digest.hex()}" for algorithm, digest in await collection.reclaimable()]
    for (mode, pause), group in zip(PAUSED_DELETIONS, groups, strict=False):
        plan = await collection.plans.make(KeepRules(), mode=mode, group_keys=[group])
        await collection.plans.apply(plan.id, dry_run=False, confirm=True)
        contents = collection.contents().keys()
        await _pause_and_check(collection, planes, **pause)
        assert {step.state for step in (await collection.plans.steps(plan.id)).items} == {"done"}
        assert collection.contents().keys() == contents
        await collection.check_trash()
    for entry, touch in zip((await collection.trash.entries()).items, ("os.link", "os.remove"), strict=False):
        await collection.trash.restore(entry.id)
        await _pause_and_check(collection, planes, stop_before=touch)
        assert (collection.folders[entry.library_id] / entry.relative_path).exists()
    await collection.check()


async def _pause_and_check(collection: Collection, planes: Planes, **moment: int | str) -> None:
    """Stop a data plane at its work, let another finish it, and wake the first."""
    stopped, _, pid = planes.work(**moment).partition(" ")
    assert stopped == "stopped", "it was done before that moment"
    await collection.pass_the_lease()
    await collection.finish(planes)
    rows, files = await collection.dump(), collection.on_disk()
    assert planes.wake(int(pid)) == "done"
    assert await collection.dump() == rows
    assert collection.on_disk() == files
