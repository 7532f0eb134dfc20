"""The runner alone, with work made up for it on a table that exists only here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kurabito.clock import SECOND, ManualClock
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.db import Database, LeaseSpec, leases, open_database
from kurabito.errors import LeaseLost

SENT = "send"
PARCELS = LeaseSpec(
    table="parcels",
    key="id",
    running="running",
    claimable="status = 'waiting'",
    order="id",
    stale_becomes="'waiting'",
    on_recover={"note": ":error"},
    writes={
        leases.CLAIM: leases.LEASE_COLUMNS | {"status", "worker_id"},
        leases.HEARTBEAT: leases.LEASE_COLUMNS,
        leases.RECOVER: leases.LEASE_COLUMNS | {"status", "worker_id", "note"},
        SENT: leases.LEASE_COLUMNS | {"status", "note"},
    },
    returns=("id", "city"),
    types={"note": "text"},
)
SCHEMA = """
CREATE TABLE parcels (
    id                  bigint PRIMARY KEY,
    city                text NOT NULL,
    status              text NOT NULL DEFAULT 'waiting',
    note                text,
    worker_id           text,
    worker_heartbeat_at bigint,
    lease_expires_at    bigint,
    updated_at          bigint
)
"""


class Sending(LeasedWork[LeasedRow]):
    """Sends parcels. `meanwhile` is called with each row before it is settled."""

    spec = PARCELS
    noun = "parcel"
    row_type = LeasedRow

    def __init__(self, meanwhile: Callable[[LeasedRow], object] = lambda _: None) -> None:
        self.meanwhile = meanwhile
        self.sent: list[str] = []
        self.prepared = self.rested = self.interrupted = 0

    def prepare(self) -> None:
        self.prepared += 1

    def do(self, row: LeasedRow) -> None:
        self.meanwhile(row)
        row.check()
        note = f"to {row.values['city']}"
        publish = lambda: self.sent.append(row.values["city"])  # noqa: E731
        row.settle(SENT, [note], given=("note",), columns={"status": "'sent'", "note": ":note"}, publish=publish)

    def interrupt(self) -> None:
        self.interrupted += 1

    def rest(self) -> None:
        self.rested += 1


class SendingAll(Sending):
    """The same, with the next row claimed by the transaction that settles one."""

    claims_next = True


class Depot:
    def __init__(self, database: Database, clock: ManualClock) -> None:
        self.database = database
        self.clock = clock

    def add(self, *cities: str) -> None:
        for number, city in enumerate(cities, 1):
            values = {"id": number, "city": city}
            self.run("INSERT INTO parcels (id, city) VALUES (:id, :city)", values)

    def run(self, sql: str, values: dict[str, Any] | None = None) -> None:
        self.database.write_blocking(lambda conn: conn.run(sql, values or {}))

    def ask(self, columns: str) -> list[Any]:
        sql = f"SELECT {columns} FROM parcels ORDER BY id"
        return self.database.read_blocking(lambda conn: list(conn.all(sql)))

    def runner(self, work: Sending, **options: Any) -> Runner[LeasedRow]:
        return Runner(self.database, work, name="plane", **{"heartbeat": 60.0, **options})


@pytest.fixture
def depot(url: str) -> Iterator[Depot]:
    clock = ManualClock()
    database = open_database(url, clock=clock)
    database.open()
    database.write_blocking(lambda conn: conn.script(SCHEMA))
    yield Depot(database, clock)
    database.close()


def test_a_row_is_claimed_worked_on_and_settled(depot: Depot) -> None:
    depot.add("Uji", "Nara")
    work = Sending(lambda row: seen.append((row.id, *depot.ask("status"))))
    seen: list[Any] = []
    runner = depot.runner(work)
    assert runner.work()
    assert seen == [(1, ("running",), ("waiting",))]
    assert depot.ask("status, note, lease_expires_at") == [("sent", "to Uji", None), ("waiting", None, None)]
    assert runner.work()
    assert not runner.work()
    assert work.sent == ["Uji", "Nara"]
    # Nothing is prepared, and nothing given back, by a look that finds nothing.
    assert (work.prepared, work.rested) == (2, 0)


def test_the_next_row_may_be_claimed_with_the_end_of_the_last(depot: Depot) -> None:
    depot.add("Uji", "Nara", "Otsu")
    work = SendingAll()
    assert depot.runner(work).work()
    assert work.sent == ["Uji", "Nara", "Otsu"]
    assert depot.ask("status") == [("sent",)] * 3


def test_work_takes_only_the_rows_that_it_is_for_and_sees_to_all_stale_ones(depot: Depot) -> None:
    depot.add("Uji", "Nara")
    depot.database.write_blocking(lambda conn: leases.claim(conn, PARCELS, "dead#1", lease=SECOND, limit=1))
    work = Sending()
    work.only = "city = 'Otsu'"
    runner = depot.runner(work)
    assert not runner.work()
    assert depot.ask("status") == [("running",), ("waiting",)]
    depot.clock.advance(1)
    assert not runner.work()
    assert depot.ask("status") == [("waiting",), ("waiting",)]
    assert work.sent == []


def test_a_runner_that_is_stopped_gives_its_row_back_and_claims_no_other(depot: Depot) -> None:
    depot.add("Uji", "Nara")
    work = SendingAll(lambda _: runner.stop())
    runner = depot.runner(work)
    assert runner.work()
    lease = "status, worker_id, worker_heartbeat_at, lease_expires_at, note"
    assert depot.ask(lease) == [("waiting", None, None, None, None)] * 2
    assert (work.sent, work.interrupted) == ([], 1)
    assert not runner.work()
    assert work.rested == 1


def test_a_runner_that_is_stopped_while_it_claims_gives_the_row_back(
    depot: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    depot.add("Uji")
    work = Sending()
    runner = depot.runner(work)
    claim = runner._claim

    def claim_and_stop(conn: Any) -> Any:
        row = claim(conn)
        runner.stop()
        return row

    monkeypatch.setattr(runner, "_claim", claim_and_stop)
    assert runner.work()
    assert depot.ask("status, worker_id") == [("waiting", None)]
    assert work.sent == []


def test_a_lease_is_kept_while_the_work_takes_long(depot: Depot) -> None:
    depot.add("Uji")

    def wait_for_heartbeat(_: LeasedRow) -> None:
        depot.clock.advance(20)
        renewed = depot.clock.now() + 30 * SECOND
        while depot.ask("lease_expires_at") != [(renewed,)]:
            pass

    assert depot.runner(Sending(wait_for_heartbeat), heartbeat=0.01).work()
    assert depot.ask("status") == [("sent",)]


def test_a_row_that_is_lost_interrupts_the_work_and_nothing_is_published(depot: Depot) -> None:
    depot.add("Uji")
    interrupted = threading.Event()

    def lose(row: LeasedRow) -> None:
        depot.run("UPDATE parcels SET worker_id = 'other#1'")
        assert interrupted.wait(30)
        assert row.wait(30)
        with pytest.raises(LeaseLost):
            row.check()

    work = Sending(lose)
    work.interrupt = interrupted.set  # type: ignore[method-assign]
    assert depot.runner(work, heartbeat=0.01).work()
    assert depot.ask("status, worker_id, note") == [("running", "other#1", None)]
    assert work.sent == []


def test_a_row_that_another_has_by_now_cannot_be_given_back(depot: Depot) -> None:
    depot.add("Uji")

    def lose_and_stop(_: LeasedRow) -> None:
        depot.run("UPDATE parcels SET worker_id = 'other#1'")
        runner.stop()

    runner = depot.runner(Sending(lose_and_stop))
    assert runner.work()
    assert depot.ask("status, worker_id") == [("running", "other#1")]


def test_a_result_that_cannot_be_published_is_not_settled(depot: Depot) -> None:
    depot.add("Uji", "Nara")
    work = SendingAll()

    def fail(row: LeasedRow) -> None:
        if row.values["city"] == "Uji":
            work.sent = None  # type: ignore[assignment]

    work.meanwhile = fail
    with pytest.raises(AttributeError):
        depot.runner(work).work()
    assert depot.ask("status") == [("running",), ("waiting",)]
    # What nobody renews is taken from it, and done by the next.
    depot.clock.advance(30)
    again = SendingAll()
    assert depot.runner(again).work()
    assert again.sent == ["Uji", "Nara"]
