"""While `allow_delete` is off nothing is removed, whatever is in the tables; what was removed can still be put back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.deletion.steps import StepExecution
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import leases
from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash
from kurabito.library.errors import DeletionNotAllowed
from kurabito.library.jobs import Jobs
from kurabito.library.loop import Reconciler
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

STATUS = "SELECT status, error_code FROM jobs ORDER BY created_at, id"


def work(shelf: Shelf) -> bool:
    return Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()


def order(shelf: Shelf, *, dry_run: bool = False) -> DeletionPlan:
    """Have a plan applied by a control plane that lets it."""
    plans = DeletionPlans(shelf.database, allowed=True)

    async def apply() -> DeletionPlan:
        made = await plans.make(KeepRules())
        return await plans.apply(made.id, dry_run=dry_run, confirm=not dry_run)

    return asyncio.run(apply())


@pytest.fixture
def pair(shelf: Shelf) -> Shelf:
    shelf.put("kept", mtime=1)
    shelf.put("copy", mtime=2)
    return shelf


def test_a_plan_that_was_ordered_before_waits(pair: Shelf) -> None:
    order(pair)
    pair.allow_delete(False)
    assert not work(pair)
    # Nor does a worker get it that knows of no kinds.
    assert pair.plane.write_blocking(lambda conn: leases.claim(conn, JOBS, "x#1", lease=1, limit=9)) == []
    assert pair.all(STATUS) == [("pending", None)]
    assert pair.path("copy").exists()
    pair.allow_delete(True)
    assert work(pair)
    assert not pair.path("copy").exists()


def test_where_nothing_was_ever_stored_nothing_is_removed(pair: Shelf) -> None:
    order(pair)
    pair.run("DELETE FROM deletion_policy")
    assert not work(pair)


def test_a_dry_run_is_always_possible(pair: Shelf) -> None:
    made = order(pair, dry_run=True)
    pair.allow_delete(False)
    assert work(pair)
    (step,) = asyncio.run(DeletionPlans(pair.database, allowed=False).steps(made.id)).items
    assert step.state == "checked"


def test_restores_go_on_and_purges_wait(pair: Shelf) -> None:
    order(pair)
    assert work(pair)
    pair.run("UPDATE trash_entries SET trashed_at = 0")
    trash = Trash(pair.database, days=0, may_purge=True)
    (entry,) = asyncio.run(trash.entries()).items
    assert asyncio.run(trash.purge()).entries == 1
    pair.allow_delete(False)
    assert not work(pair)
    assert (pair.path(TRASH_FOLDER) / entry.id).exists()
    # The purge that waits is not in the way of who wants the file back.
    asyncio.run(trash.restore(entry.id))
    assert work(pair)
    assert pair.path("copy").read_bytes() == b"the same"
    # And once purging is allowed again there is nothing left to purge.
    pair.allow_delete(True)
    assert work(pair)
    assert pair.path("copy").read_bytes() == b"the same"


@pytest.mark.parametrize("what", ['"plan": 2', '"purge": ["%s"]'])
def test_an_order_that_only_looks_like_a_restore_is_refused_when_it_runs(pair: Shelf, what: str) -> None:
    order(pair)
    assert work(pair)
    (entry,) = asyncio.run(Trash(pair.database, days=0, may_purge=True).entries()).items
    pair.put("another", mtime=4)
    order(pair)
    pair.allow_delete(False)
    forged = '{"restore": 0, ' + what.replace("%s", entry.id) + "}"
    pair.run("UPDATE jobs SET payload = :forged WHERE status = 'pending'", forged=forged)
    assert work(pair)
    assert pair.all("SELECT error_code FROM jobs WHERE status = 'failed'") == [("DELETION_NOT_ALLOWED",)]
    assert (pair.path(TRASH_FOLDER) / entry.id).exists()
    assert pair.path("another").exists()


def test_what_is_switched_off_in_the_middle_of_a_plan_stops_there(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        shelf.put(f"{number}", mtime=number + 1)
    order(shelf)
    take = StepExecution.take

    def take_and_switch_off(step: StepExecution) -> None:
        take(step)
        shelf.allow_delete(False)

    monkeypatch.setattr(StepExecution, "take", take_and_switch_off)
    assert work(shelf)
    assert shelf.all(STATUS) == [("failed", "DELETION_NOT_ALLOWED")]
    assert sorted(path.name for path in shelf.path("").iterdir() if path.is_file()) == ["0", "2", "3"]


def test_such_a_job_is_neither_reset_nor_taken_up_again(pair: Shelf, url: str) -> None:
    job = order(pair).job_id
    assert job is not None
    pair.run("UPDATE jobs SET status = 'retryable', error_code = 'LEASE_EXPIRED'")
    pair.allow_delete(False)
    shown = asyncio.run(Jobs(pair.database).get(job))
    assert not shown.may_run

    async def reconcile() -> None:
        async with open_queue(url) as queue:
            assert isinstance(queue, SqlQueue)
            await Reconciler(queue).tick()

    asyncio.run(reconcile())
    assert pair.all(STATUS) == [("retryable", "LEASE_EXPIRED")]
    with pytest.raises(DeletionNotAllowed, match="allow_delete is off"):
        asyncio.run(Jobs(pair.database).reset(job))
    pair.allow_delete(True)
    asyncio.run(reconcile())
    assert pair.all(STATUS) == [("pending", None)]


def test_what_was_left_half_done_is_undone_all_the_same(pair: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    from kurabito.dataplane.deletion import log

    order(pair)
    with monkeypatch.context() as patch:
        patch.setattr(log, "trashed", lambda *_: 1 / 0)
        assert work(pair)
    assert not pair.path("copy").exists()
    pair.allow_delete(False)
    trash = Trash(pair.database, days=30, may_purge=False)
    assert asyncio.run(trash.purge()).job_id is not None
    # One order is enough.
    assert asyncio.run(trash.purge()).job_id is None
    assert work(pair)
    assert pair.path("copy").read_bytes() == b"the same"
