"""At a million tasks every statement of the queue goes through its index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from kurabito.db.port import Connection
from kurabito.runtime.events import PendingEvents
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.port import Beat
from kurabito.runtime.sql.work import ClaimStore
from kurabito.runtime.tasks.intake import prepare

if TYPE_CHECKING:
    from tests.integration.plans.conftest import Plan, Planner

TYPES = [f"type{number}" for number in range(20)]
MIDDLE = 500_000


def check(plans: list[Plan], *indexes: str) -> None:
    """Only these indexes are used, each of them is, nothing is read whole and no big set is sorted."""
    assert plans
    for plan in plans:
        assert not plan.scans, plan
        assert not plan.sorts, plan
    assert {index for plan in plans for index in plan.indexes} == set(indexes)


def claim(store: ClaimStore, conn: Connection, types: list[str], limit: int) -> Any:
    claims = store.claim(conn, "planner", dict.fromkeys(types, limit), limit, 30.0, PendingEvents())
    assert len(claims) == limit
    return claims


@pytest.mark.parametrize("types", [1, 2, 20])
@pytest.mark.parametrize("limit", [1, 100])
def test_a_claim_takes_the_first_of_each_type_from_the_ready_index(planner: Planner, types: int, limit: int) -> None:
    plans = planner.plans(lambda conn: claim(planner.claims, conn, TYPES[:types], limit))
    check(plans, "ix_tasks_ready", "primary key")


def test_settling_finds_its_rows_by_their_keys(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        claims = claim(planner.claims, conn, TYPES, 100)
        ends = [(one, Success()) if place % 2 else (one, Failure("no")) for place, one in enumerate(claims)]
        assert planner.claims.settle(conn, ends, PendingEvents()) == []

    check(planner.plans(work), "ix_tasks_ready", "primary key")


def test_a_heartbeat_finds_its_rows_by_their_keys(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        claims = claim(planner.claims, conn, TYPES, 100)
        assert not planner.claims.heartbeat(conn, [Beat(one) for one in claims], 30.0, PendingEvents())

    check(planner.plans(work), "ix_tasks_ready", "primary key")


def test_the_list_without_a_filter_goes_by_the_primary_key(planner: Planner) -> None:
    check(planner.plans(lambda conn: planner.store.lookup.page(conn, [], None, 2**63 - 1, 51)), "primary key")
    check(planner.plans(lambda conn: planner.store.lookup.page(conn, [], None, MIDDLE, 51)), "primary key")


@pytest.mark.parametrize(
    ("states", "task_type"),
    [(["succeeded"], None), (["running"], None), ([], "type7"), (["succeeded"], "type7"), (["running"], "type7")],
)
@pytest.mark.parametrize("before", [2**63 - 1, MIDDLE], ids=["first page", "a later page"])
def test_a_filtered_list_goes_by_the_listing_index(
    planner: Planner, states: list[str], task_type: str | None, before: int
) -> None:
    plans = planner.plans(lambda conn: planner.store.lookup.page(conn, states, task_type, before, 51))
    check(plans, "ix_tasks_listing", "primary key")


def test_counts_read_the_index_of_each_state_and_not_the_tasks(planner: Planner) -> None:
    plans = planner.plans(planner.store.lookup.counts)
    assert {"ix_tasks_ready", "ix_tasks_lease", "ix_tasks_due"} <= {index for plan in plans for index in plan.indexes}
    for plan in plans:
        assert not plan.sorts, plan
        # A whole index may be read, which is many times smaller than the tasks and their payloads.
        assert all("ix_tasks_" in scan for scan in plan.scans), plan


def test_depths_read_the_listing_index_and_one_task_of_each_group(planner: Planner) -> None:
    plans = planner.plans(planner.store.lookup.depths)
    assert {index for plan in plans for index in plan.indexes} == {"ix_tasks_listing", "primary key"}
    for plan in plans:
        assert all("ix_tasks_listing" in scan for scan in plan.scans), plan


def test_the_next_due_task_is_the_first_of_the_due_index(planner: Planner) -> None:
    check(planner.plans(planner.claims.due_in), "ix_tasks_due")


def test_promoting_reads_what_is_due_and_no_more(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        assert planner.store.promote(conn, PendingEvents()) > 0

    check(planner.plans(work), "ix_tasks_due", "primary key")


def test_recovery_reads_the_running_tasks_and_no_others(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        assert planner.claims.recover(conn, PendingEvents()) > 0

    check(planner.plans(work), "ix_tasks_lease", "primary key")


def test_the_leases_of_a_dead_worker_are_found_among_the_running_tasks(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        assert planner.claims.expire(conn, "worker9") > 0

    check(planner.plans(work), "ix_tasks_lease")


def test_purging_reads_what_is_old_enough_and_no_more(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        assert planner.store.purge(conn, 150_000 * 1_000_000) == 1000

    check(planner.plans(work), "ix_tasks_finished", "primary key")


def test_a_task_is_found_by_its_id(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        assert planner.store.tables.finished_among(conn, [uuid4()])

    check(planner.plans(work), "ix_tasks_id")


def test_enqueueing_looks_nothing_up_but_the_unique_key(planner: Planner) -> None:
    def work(conn: Connection) -> None:
        planner.store.add(conn, [prepare("type0"), prepare("type0", unique_key="key50")], PendingEvents())

    for plan in planner.plans(work):
        assert not plan.scans, plan
        assert not plan.sorts, plan
