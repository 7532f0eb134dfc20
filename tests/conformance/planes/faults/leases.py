"""Faults of claims, heartbeats and ends."""

from __future__ import annotations

import threading
from typing import Any

from tests.conformance.planes.faults.fault import also_at_end, fault, nothing, put

from kurabito.dataplane.leasing.leased_row import LeasedRow, LeaseKeeper
from kurabito.db import leases
from kurabito.db.grace import Grace
from kurabito.db.leases import lease, recovery
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased import jobs
from kurabito.protocol.leased.jobs import JOBS


@fault("LEASE-1", check="a claim begins a lease")
def claims_for_too_long() -> None:
    claim = leases.claim
    put(leases, "claim", lambda *args, **given: claim(*args, **{**given, "lease": given["lease"] * 9}))


@fault("LEASE-1", check="the first is claimed first")
def takes_the_last_job_first() -> None:
    put(JOBS, "order", "created_at DESC, id DESC")


@fault("LEASE-1")
def does_not_say_when_it_began() -> None:
    put(JOBS, "on_claim", {})


@fault("LEASE-2")
def has_one_owner_for_all() -> None:
    put(leases, "new_owner", lambda worker: f"{worker}#0123456789abcdef")


@fault("LEASE-2")
def has_short_tokens() -> None:
    numbers = iter(range(10**6))
    put(leases, "new_owner", lambda worker: f"{worker}#{next(numbers)}")


@fault("LEASE-3")
def never_heartbeats() -> None:
    put(LeaseKeeper, "_run", lambda keeper: keeper._ending.wait())


@fault("LEASE-3", check="a long job is renewed in time")
def renews_for_half_as_long() -> None:
    heartbeat = leases.heartbeat
    put(leases, "heartbeat", lambda *args, **given: heartbeat(*args, **{**given, "lease": given["lease"] // 2}))


@fault("LEASE-3", check="a heartbeat is fenced")
def skips_the_fence() -> None:
    put(lease, "_fence", lambda _: "1 = 1")


@fault("LEASE-4", check="findings are fenced")
def stores_without_its_lease() -> None:
    def write(row: Any, fn: Any, *, durable: bool = True) -> Any:
        return row._database.write_blocking(fn, durable=durable)

    put(LeasedRow, "write", write)
    put(LeasedRow, "check", nothing)


@fault("LEASE-4", check="the work renews its lease")
def leaves_renewals_to_its_thread() -> None:
    def write(row: Any, fn: Any, *, durable: bool = True) -> Any:
        row.check()
        return row._database.write_blocking(fn, durable=durable)

    put(LeasedRow, "write", write)


@fault("LEASE-4", check="a transaction begins with the lease", scenario="scanning", on_postgres=True)
def renews_behind_what_it_stored() -> None:
    # Of a hash another check would tell.
    write = LeasedRow.write

    def write_and_renew(row: Any, fn: Any, *, durable: bool = True) -> Any:
        if row.values.get("kind") != JobKind.SCAN:
            return write(row, fn, durable=durable)

        def late(conn: Any) -> Any:
            found = fn(conn)
            row._renew(conn)
            return found

        return row._database.write_blocking(late, durable=durable)

    put(LeasedRow, "write", write_and_renew)


@fault("LEASE-5")
def keeps_its_lease_at_the_end() -> None:
    jobs.FINISH_COLUMNS["lease_expires_at"] = ":now + 1000000"


@fault("LEASE-5")
def does_not_say_when_it_ended() -> None:
    jobs.FINISH_COLUMNS["finished_at"] = "NULL"


@fault("LEASE-6")
def never_recovers() -> None:
    put(leases, "recover", lambda *_, **__: [])


@fault("LEASE-6")
def forgets_leases_without_an_end() -> None:
    put(recovery, "EXPIRED", ("lease_expires_at <= :now",))


@fault("LEASE-6")
def puts_stale_jobs_back() -> None:
    put(JOBS, "stale_becomes", "'pending'")


@fault("LEASE-7", check="rows of living owners stay")
def takes_the_jobs_of_the_living() -> None:
    put(recovery, "EXPIRED", ("lease_expires_at IS NULL", "lease_expires_at <= :now OR worker_id LIKE 'living#%'"))
    put(Grace, "taken", lambda _, __, stale: list(stale))


@fault("LEASE-7", check="only legal moves are made")
def writes_to_what_is_over() -> None:
    also_at_end("UPDATE jobs SET processed_items = processed_items + 1 WHERE status = 'completed'")


@fault("LEASE-8")
def goes_on_after_its_lease() -> None:
    stores_without_its_lease()


@fault("LEASE-8", check="a lost job is left")
def finishes_what_was_cancelled() -> None:
    lost = LeasedRow._lost
    done: set[str] = set()
    lock = threading.Lock()

    def finish(row: Any) -> Any:
        with lock:
            if row.id not in done:
                done.add(row.id)
                update = "UPDATE jobs SET status = 'completed', updated_at = :now WHERE id = :id"
                threading.Thread(
                    target=row._database.write_blocking, args=(lambda conn: conn.run(update, {"id": row.id}),)
                ).start()
        return lost(row)

    put(LeasedRow, "_lost", finish)


@fault("LEASE-9")
def gives_back_with_an_error() -> None:
    put(JOBS, "on_release", {"error_code": "'WORKER_FAILURE'", "error_message": "'stopped'"})


@fault("LEASE-9")
def keeps_what_it_did_not_finish() -> None:
    put(LeasedRow, "release", lambda _: None)


@fault("LEASE-10")
def takes_up_what_was_put_aside() -> None:
    put(JOBS, "claimable", "status IN ('pending', 'retryable')")


@fault("LEASE-3", check="a job of another is left")
def fences_by_the_status_alone() -> None:
    put(lease, "_fence", lambda spec: f"{spec.is_running} AND :owner <> ''")
