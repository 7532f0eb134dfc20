"""The lease engine alone, on a table that exists only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from kurabito.clock import SECOND, ManualClock
from kurabito.db import Connection, Database, LeaseSpec, leases, open_database
from kurabito.errors import InvalidInput

T = TypeVar("T")

LEASE = 30 * SECOND
_LEASE_COLUMNS = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})

PARCELS = LeaseSpec(
    table="parcels",
    key="id",
    running="running",
    claimable="status = 'pending'",
    order="weight DESC, id",
    stale_becomes="CASE WHEN lost >= 1 THEN 'failed' ELSE 'pending' END",
    released_becomes="'pending'",
    on_release={"note": "'given back'"},
    on_claim={"tries": "tries + 1"},
    on_recover={"lost": "lost + 1", "note": ":error"},
    writes={
        leases.CLAIM: _LEASE_COLUMNS | {"status", "worker_id", "tries"},
        leases.HEARTBEAT: _LEASE_COLUMNS | {"note"},
        leases.RECOVER: _LEASE_COLUMNS | {"status", "worker_id", "lost", "note"},
        "deliver": _LEASE_COLUMNS | {"status", "note"},
        "give_up": _LEASE_COLUMNS | {"status"},
    },
    returns=("id", "weight", "tries", "lease_expires_at"),
    types={"note": "text"},
    recovery_error=lambda owner: f"lost by {owner}",
)

SCHEMA = """
CREATE TABLE parcels (
    id                  bigint PRIMARY KEY,
    weight              integer NOT NULL,
    status              text NOT NULL DEFAULT 'pending',
    tries               integer NOT NULL DEFAULT 0,
    lost                integer NOT NULL DEFAULT 0,
    note                text,
    worker_id           text,
    worker_heartbeat_at bigint,
    lease_expires_at    bigint,
    updated_at          bigint
)
"""
DELIVERED = {"status": "'delivered'", "note": ":note"}


class Parcels:
    """The engine's operations on the table, each in a transaction of its own."""

    def __init__(self, database: Database, clock: ManualClock) -> None:
        self.clock = clock
        self._database = database

    def write(self, fn: Callable[[Connection], T]) -> T:
        return self._database.write_blocking(fn)

    def add(self, *weights: int) -> None:
        def insert(conn: Connection) -> None:
            for number, weight in enumerate(weights, 1):
                conn.run("INSERT INTO parcels (id, weight) VALUES (:id, :weight)", {"id": number, "weight": weight})

        self.write(insert)

    def claim(self, worker: str, limit: int = 100) -> tuple[str, list[int]]:
        owner = leases.new_owner(worker)
        rows = self.write(lambda conn: leases.claim(conn, PARCELS, owner, lease=LEASE, limit=limit))
        return owner, sorted(row[0] for row in rows)

    def beat(self, owner: str, *ids: int, noting: bool = False) -> set[int]:
        """Renew, and write a note on each row if asked; the ids that are lost."""
        rows = [(number, owner, f"n{number}") if noting else (number, owner) for number in ids]
        more: dict[str, Any] = {"given": ("note",), "columns": {"note": ":note"}} if noting else {}
        lost = self.write(lambda conn: leases.heartbeat(conn, PARCELS, rows, lease=LEASE, **more))
        assert {own for _, own in lost} <= {owner}
        return {number for number, _ in lost}

    def deliver(self, owner: str, *ids: int) -> set[int]:
        rows = [(number, owner, f"by {owner.partition('#')[0]}") for number in ids]
        return self.finish("deliver", rows, given=("note",), columns=DELIVERED)

    def finish(self, path: str, rows: list[tuple[Any, ...]], **what: Any) -> set[int]:
        lost = self.write(lambda conn: leases.finish(conn, PARCELS, path, rows, **what))
        return {number for number, _ in lost}

    def release(self, owner: str, *ids: int) -> set[int]:
        lost = self.write(lambda conn: leases.release(conn, PARCELS, [(number, owner) for number in ids]))
        return {number for number, _ in lost}

    def has_work(self, only: str = "") -> bool:
        return self._database.read_blocking(lambda conn: leases.has_work(conn, PARCELS, only=only))

    def recover(self, limit: int = 1000) -> list[int]:
        return [row[0] for row in self.write(lambda conn: leases.recover(conn, PARCELS, limit=limit))]

    def expire(self, worker: str) -> int:
        return self.write(lambda conn: leases.expire(conn, PARCELS, worker))

    def column(self, name: str) -> list[Any]:
        sql = f"SELECT {name} FROM parcels ORDER BY id"
        return self._database.read_blocking(lambda conn: [value for (value,) in conn.all(sql)])


@pytest.fixture
def parcels(url: str) -> Iterator[Parcels]:
    clock = ManualClock()
    database = open_database(url, clock=clock)
    database.open()
    database.write_blocking(lambda conn: conn.script(SCHEMA))
    yield Parcels(database, clock)
    database.close()


def test_a_claim_takes_the_first_rows_of_its_order_and_returns_what_the_table_says(parcels: Parcels) -> None:
    parcels.add(1, 5, 3, 5)
    owner, taken = parcels.claim("w", limit=2)
    assert taken == [2, 4]
    assert parcels.claim("w", limit=1)[1] == [3]
    assert parcels.column("status") == ["pending", "running", "running", "running"]
    assert parcels.column("tries") == [0, 1, 1, 1]
    assert parcels.column("worker_id")[1] == parcels.column("worker_id")[3] == owner
    assert parcels.column("lease_expires_at")[1] == parcels.clock.now() + LEASE
    assert parcels.column("worker_heartbeat_at")[1] == parcels.column("updated_at")[1] == parcels.clock.now()


def test_what_is_claimed_is_not_claimed_again(parcels: Parcels) -> None:
    parcels.add(*range(10))
    first, second = parcels.claim("a", limit=6)[1], parcels.claim("b", limit=6)[1]
    assert sorted(first + second) == list(range(1, 11))
    assert parcels.claim("c")[1] == []


def test_each_claim_has_a_token_of_its_own_with_64_bits(parcels: Parcels) -> None:
    parcels.add(1, 1)
    owners = {parcels.claim("w", limit=1)[0] for _ in range(2)}
    assert len(owners) == 2
    assert {owner.partition("#")[0] for owner in owners} == {"w"}
    assert {len(bytes.fromhex(owner.partition("#")[2])) * 8 for owner in owners} == {64}


@pytest.mark.parametrize("name", ["", "a#b", "#"])
def test_a_name_that_would_blur_the_token_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="worker"):
        leases.new_owner(name)


def test_a_heartbeat_renews_and_may_write_what_its_path_allows(parcels: Parcels) -> None:
    parcels.add(1, 2, 3)
    owner, _ = parcels.claim("w", limit=2)
    parcels.clock.advance(20)
    assert parcels.beat(owner, 2, 3, noting=True) == set()
    assert parcels.column("lease_expires_at") == [None, *[parcels.clock.now() + LEASE] * 2]
    assert parcels.column("note") == [None, "n2", "n3"]
    assert parcels.column("status") == ["pending", "running", "running"]


def test_a_heartbeat_tells_which_rows_are_lost_and_renews_the_others(parcels: Parcels) -> None:
    parcels.add(1, 2, 3, 4)
    owner, _ = parcels.claim("w")
    parcels.write(lambda conn: conn.run("UPDATE parcels SET status = 'cancelled' WHERE id = 2"))
    parcels.write(lambda conn: conn.run("UPDATE parcels SET worker_id = 'other#1' WHERE id = 3"))
    parcels.clock.advance(10)
    renewed = parcels.clock.now() + LEASE
    assert parcels.beat(owner, 1, 2, 3, 4, 99) == {2, 3, 99}
    assert [moment == renewed for moment in parcels.column("lease_expires_at")] == [True, False, False, True]


def test_an_expired_lease_that_nobody_took_may_be_renewed(parcels: Parcels) -> None:
    parcels.add(1)
    owner, _ = parcels.claim("w")
    parcels.clock.advance(3600)
    assert parcels.beat(owner, 1) == set()
    assert parcels.recover() == []


def test_rows_finish_by_several_paths_and_their_leases_end(parcels: Parcels) -> None:
    parcels.add(1, 2, 3)
    owner, _ = parcels.claim("w")
    assert parcels.deliver(owner, 1, 2) == set()
    assert parcels.finish("give_up", [(3, owner)], columns={"status": "'failed'"}) == set()
    assert parcels.column("status") == ["delivered", "delivered", "failed"]
    assert parcels.column("note") == ["by w", "by w", None]
    assert parcels.column("lease_expires_at") == [None] * 3
    # Who did it stays to be seen.
    assert parcels.column("worker_id") == [owner] * 3


def test_a_finish_touches_nothing_that_is_not_owned_and_tells_what_was_lost(parcels: Parcels) -> None:
    parcels.add(1, 2, 3, 4)
    late, _ = parcels.claim("late")
    parcels.clock.advance(30)
    assert parcels.recover() == [1, 2, 3, 4]
    owner, taken = parcels.claim("next", limit=2)
    assert taken == [3, 4]
    assert parcels.deliver(owner, 4) == set()
    assert parcels.deliver(late, 1, 2, 3, 4) == {1, 2, 3, 4}
    assert parcels.column("status") == ["pending", "pending", "running", "delivered"]
    assert parcels.column("note")[3] == "by next"
    assert parcels.deliver(owner, 1, 3) == {1}
    assert parcels.column("status") == ["pending", "pending", "delivered", "delivered"]


def test_finishing_twice_changes_nothing_the_second_time(parcels: Parcels) -> None:
    parcels.add(1)
    owner, _ = parcels.claim("w")
    parcels.deliver(owner, 1)
    before = parcels.column("updated_at")
    parcels.clock.advance(1)
    assert parcels.deliver(owner, 1) == {1}
    assert parcels.column("updated_at") == before


def test_a_row_that_is_given_back_is_claimed_by_the_next_and_nothing_is_held_against_it(parcels: Parcels) -> None:
    parcels.add(1, 2)
    owner, _ = parcels.claim("w")
    assert parcels.release(owner, 1, 2) == set()
    assert parcels.column("status") == ["pending", "pending"]
    assert parcels.column("lost") == [0, 0]
    assert parcels.column("note") == ["given back", "given back"]
    for column in ("worker_id", "worker_heartbeat_at", "lease_expires_at"):
        assert parcels.column(column) == [None, None]
    assert parcels.claim("next")[1] == [1, 2]


def test_a_row_that_is_not_owned_cannot_be_given_back(parcels: Parcels) -> None:
    parcels.add(1, 2, 3)
    late, _ = parcels.claim("late")
    parcels.clock.advance(30)
    parcels.recover()
    owner, _ = parcels.claim("next", limit=2)
    assert parcels.release(late, 1, 2, 3) == {1, 2, 3}
    assert parcels.column("worker_id") == [None, owner, owner]


def test_a_claim_can_be_narrowed(parcels: Parcels) -> None:
    parcels.add(1, 5, 3)
    claimed = parcels.write(
        lambda conn: leases.claim(conn, PARCELS, "w#1", lease=LEASE, limit=100, only="weight IN (1, 3)")
    )
    assert sorted(row[0] for row in claimed) == [1, 3]
    assert parcels.has_work()
    assert not parcels.has_work("weight IN (1, 3)")


def test_there_is_work_while_a_row_may_be_claimed_or_is_stale(parcels: Parcels) -> None:
    assert not parcels.has_work()
    parcels.add(1)
    assert parcels.has_work()
    owner, _ = parcels.claim("w")
    assert not parcels.has_work()
    parcels.clock.advance((LEASE - 1) / SECOND)
    assert not parcels.has_work()
    parcels.clock.advance(1 / SECOND)
    # Whoever looks for some of the rows sees to all the stale ones.
    assert parcels.has_work("weight = 7")
    parcels.beat(owner, 1)
    assert not parcels.has_work()
    parcels.write(lambda conn: conn.run("UPDATE parcels SET lease_expires_at = NULL"))
    assert parcels.has_work()
    assert parcels.recover() == [1]
    assert not parcels.has_work("weight = 7")


def test_nothing_to_do_is_nothing_done(parcels: Parcels) -> None:
    assert parcels.beat("w#1") == set()
    assert parcels.deliver("w#1") == set()
    assert parcels.recover() == []


def test_a_lease_is_stale_at_its_very_last_moment(parcels: Parcels) -> None:
    parcels.add(1)
    parcels.claim("w")
    parcels.clock.advance((LEASE - 1) / SECOND)
    assert parcels.recover() == []
    parcels.clock.advance(1 / SECOND)
    assert parcels.recover() == [1]


def test_a_running_row_without_a_lease_is_stale(parcels: Parcels) -> None:
    parcels.add(1)
    parcels.claim("w")
    parcels.write(lambda conn: conn.run("UPDATE parcels SET lease_expires_at = NULL, worker_id = NULL"))
    assert parcels.recover() == [1]
    assert parcels.column("note") == [PARCELS.recovery_error(None)]


def test_recovery_ends_the_ownership_and_says_whose_it_was(parcels: Parcels) -> None:
    parcels.add(1)
    for lost, becomes in ((1, "pending"), (2, "failed")):
        owner, _ = parcels.claim("w")
        parcels.clock.advance(30)
        assert parcels.recover() == [1]
        assert parcels.column("note") == [PARCELS.recovery_error(owner)]
        assert (parcels.column("status"), parcels.column("lost")) == ([becomes], [lost])
    for column in ("worker_id", "worker_heartbeat_at", "lease_expires_at"):
        assert parcels.column(column) == [None]


def test_recovery_leaves_the_living_alone_and_goes_in_batches(parcels: Parcels) -> None:
    parcels.add(*[1] * 7)
    owner, _ = parcels.claim("w")
    parcels.clock.advance(30)
    parcels.beat(owner, 2, 6)
    assert parcels.recover(limit=3) == [1, 3, 4]
    assert parcels.recover(limit=3) == [5, 7]
    assert parcels.recover(limit=3) == []


def test_only_the_leases_of_the_dead_worker_are_ended(parcels: Parcels) -> None:
    names = ["w", "w1", "w-1", "w.", "W", "wx#".rstrip("#")]
    parcels.add(*[1] * len(names))
    for name in names:
        parcels.claim(name, limit=1)
    assert parcels.expire("w") == 1
    assert parcels.recover() == [1]
    assert parcels.expire("w") == 0
    assert parcels.expire("nobody") == 0


def test_a_worker_whose_lease_was_ended_may_not_go_on_once_it_is_recovered(parcels: Parcels) -> None:
    parcels.add(1)
    owner, _ = parcels.claim("w")
    parcels.expire("w")
    parcels.recover()
    assert parcels.beat(owner, 1) == {1}
    assert parcels.deliver(owner, 1) == {1}


@pytest.mark.parametrize(
    "write",
    [
        lambda conn: leases.finish(conn, PARCELS, "give_up", [(1, "w#1")], columns={"note": "'x'"}),
        lambda conn: leases.finish(conn, PARCELS, "deliver", [(1, "w#1")], columns={"weight": "0"}),
        lambda conn: leases.heartbeat(conn, PARCELS, [(1, "w#1")], lease=1, columns={"status": "'pending'"}),
    ],
    ids=["finish: another path's column", "finish: nobody's column", "heartbeat: the state"],
)
def test_a_column_that_the_path_may_not_write_is_refused(parcels: Parcels, write: Callable[[Connection], Any]) -> None:
    parcels.add(7)
    with pytest.raises(AssertionError, match="may not write"):
        parcels.write(write)
    assert (parcels.column("weight"), parcels.column("status"), parcels.column("note")) == ([7], ["pending"], [None])


def test_a_claim_that_writes_what_it_may_not_is_refused(parcels: Parcels) -> None:
    greedy = LeaseSpec(
        table="parcels",
        key="id",
        running="running",
        claimable="status = 'pending'",
        order="id",
        stale_becomes="'pending'",
        on_claim={"weight": "0"},
        writes=PARCELS.writes,
        returns=("id",),
    )
    with pytest.raises(AssertionError, match="the path claim may not write weight"):
        parcels.write(lambda conn: leases.claim(conn, greedy, "w#1", lease=LEASE, limit=1))


def test_a_path_that_the_table_does_not_have_is_refused(parcels: Parcels) -> None:
    with pytest.raises(KeyError):
        parcels.write(lambda conn: leases.finish(conn, PARCELS, "burn", [(1, "w#1")]))


def test_two_claims_of_one_row_in_one_batch_are_told_apart(parcels: Parcels) -> None:
    """A worker may hold the end of an old claim and the end of a new one of the same row."""
    parcels.add(1)
    late, _ = parcels.claim("w")
    parcels.clock.advance(30)
    parcels.recover()
    owner, _ = parcels.claim("w")
    rows = [(1, late, "old"), (1, owner, "new")]
    lost = parcels.write(lambda conn: leases.finish(conn, PARCELS, "deliver", rows, given=("note",), columns=DELIVERED))
    assert lost == {(1, late)}
    assert parcels.column("note") == ["new"]
