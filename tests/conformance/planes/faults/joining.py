"""Faults of registration, versions and rights."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tests.conformance.planes.faults.fault import also_at_end, edit, fault, nothing, put, unrestricted

from kurabito.clock import SystemClock
from kurabito.dataplane import main
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.plane_locks import PlaneLocks
from kurabito.dataplane.plane import DataPlane
from kurabito.dataplane.scan.queries import SQL as SCAN
from kurabito.db import open_database
from kurabito.db.postgres.database import PostgresDatabase
from kurabito.db.sqlite.connection import SqliteConnection
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.errors import DatabaseUnavailable
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased import jobs
from kurabito.protocol.version import SPOKEN, ProtocolVersion


@fault("VER-1")
def joins_another_major() -> None:
    put(main, "check", nothing)
    put(planes, "check", nothing)


@fault("VER-1")
def leaves_another_major_in_silence() -> None:
    def leave(_: Any) -> None:
        raise SystemExit(0)

    put(main, "check", leave)


@fault("VER-2")
def registers_another_version() -> None:
    put(planes, "SPOKEN", ProtocolVersion(SPOKEN.major + 1, 0))


@fault("VER-3")
def stumbles_over_a_later_minor() -> None:
    def look(conn: Any) -> None:
        if conn.value("SELECT minor FROM protocol_version") > SPOKEN.minor:
            raise DatabaseUnavailable("the database is too new")

    put(main, "check", look)


@fault("VER-4")
def lists_words_of_its_own() -> None:
    put(main, "_capabilities", lambda *_: ["everything"])


@fault("PLANE-1", check="only listed columns are written")
def writes_a_policy_column() -> None:
    also_at_end("UPDATE jobs SET lost_leases = lost_leases + 1 WHERE status = 'running'")


@fault("PLANE-2")
def writes_a_policy_table() -> None:
    also_at_end("UPDATE library_roots SET last_scanned_at = 5")


@fault("PLANE-3")
def makes_a_job() -> None:
    also_at_end(
        "INSERT INTO jobs (id, kind, payload, status, created_at, updated_at) "
        "VALUES (hex(randomblob(8)), 'delete', '{}', 'failed', 1, 1)"
    )


@fault("PLANE-4")
def deletes_sessions() -> None:
    also_at_end("DELETE FROM scan_sessions WHERE status = 'failed'")


@fault("PLANE-8")
def leaves_without_a_word() -> None:
    put(planes, "depart", lambda *_: True)


@fault("PLANE-8")
def ends_with_an_error() -> None:
    run = main.run

    async def run_and_fail(*args: Any, **kwargs: Any) -> None:
        await run(*args, **kwargs)
        raise SystemExit(3)

    put(main, "run", run_and_fail)


@fault("REG-1")
def does_not_register() -> None:
    put(planes, "announce", nothing)


@fault("REG-2")
def registers_once() -> None:
    async def wait(plane: Any) -> None:
        while not plane._stopping.is_set():
            await asyncio.sleep(0.1)

    put(DataPlane, "_beat", wait)


@fault("REG-2")
def registers_for_too_long() -> None:
    edit(planes._SQL, "announce", ":now + CAST(:lease AS bigint)", ":now + 60 * CAST(:lease AS bigint)")


@fault("REG-3")
def has_an_odd_name() -> None:
    put(main, "fresh_worker_name", lambda: "plane of mine!")
    put(PlaneLocks, "held", lambda *_: nullcontext())


@fault("REG-4")
def says_lines_as_text() -> None:
    edit(planes._SQL, "announce", ":lines", "'scan and hash'")


@fault("VALUE-1", check="times are in microseconds")
def writes_seconds() -> None:
    jobs.FINISH_COLUMNS["finished_at"] = ":now / 1000000"


@fault("VALUE-2")
def counts_below_nothing() -> None:
    edit(SCAN, "count_in_session", "changed_count + :changed", "changed_count + :changed - 1000")


@fault("VALUE-3")
def writes_upper_case() -> None:
    unrestricted("ignore_check_constraints = ON")
    edit(SCAN, "end_session", "status = :status", "status = upper(:status)")


@fault("VALUE-5")
def has_codes_of_its_own() -> None:
    jobs.FINISH_COLUMNS["error_code"] = "CASE WHEN :error_code IS NULL THEN NULL ELSE 'E42' END"


@fault("VALUE-5")
def says_a_message_without_a_code() -> None:
    jobs.FINISH_COLUMNS["error_message"] = "'well done'"


@fault("VALUE-6")
def forgets_updated_at() -> None:
    edit(SCAN, "mark_missing", ", updated_at = :now", "")


@fault("PROGRESS-1", check="progress is a fraction")
def makes_too_much_progress() -> None:
    jobs.PROGRESS_COLUMNS["progress"] = ":progress + 2"


@fault("PROGRESS-1")
def is_done_at_half_way() -> None:
    jobs.FINISH_COLUMNS["progress"] = "0.5"


@fault("JOB-3")
def cancels_what_is_done() -> None:
    jobs.FINISH_COLUMNS["status"] = "CASE WHEN :status = 'completed' THEN 'cancelled' ELSE :status END"


@fault("VALUE-1", check="now is now")
def lives_an_hour_ahead() -> None:
    now = SqliteConnection.now
    put(SqliteConnection, "now", lambda conn: now(conn) + 3600 * 1_000_000)


@fault("VALUE-1", on_postgres=True)
def goes_by_its_own_clock() -> None:
    put(main, "open_database", lambda *args, **given: open_database(*args, **given, clock=SystemClock()))


@fault("VER-5")
def completes_what_it_does_not_know() -> None:
    init = JobWork.__init__
    put(JobWork, "__init__", lambda work, executors: init(work, {**executors, JobKind.THUMBNAIL: nothing}))


@fault("PLANE-6")
def ends_when_the_database_is_busy() -> None:
    init = SqliteDatabase.__init__
    put(SqliteDatabase, "__init__", lambda database, *args, **given: init(database, *args, **given, patience=0.05))

    def beat(row: Any) -> bool:
        try:
            row._database.write_blocking(row._renew)
        except DatabaseUnavailable:
            os._exit(1)
        return True

    put(LeasedRow, "_beat", beat)


@fault("PLANE-7", on_postgres=True)
def ends_with_its_connection() -> None:
    put(PostgresDatabase, "_may_try_again", lambda *_: False)

    async def beat(plane: Any) -> None:
        while not await plane._clock.wait(plane._stopping, plane._heartbeat):
            try:
                await plane._announce()
            except DatabaseUnavailable:
                os._exit(1)

    put(DataPlane, "_beat", beat)


@fault("PLANE-9")
def never_looks_again() -> None:
    async def rest(plane: Any, _: Any) -> None:
        await plane._stopping.wait()

    put(DataPlane, "_rest", rest)


@fault("REG-5")
def leaves_its_lock_open() -> None:
    @contextmanager
    def touched(locks: Any, name: str) -> Iterator[None]:
        locks.folder.mkdir(parents=True, exist_ok=True)
        (locks.folder / f"{name}.lock").touch()
        yield

    async def see_to_none(_: Any) -> list[str]:
        return []

    put(PlaneLocks, "held", touched)
    put(PlaneLocks, "expire_dead", see_to_none)


@fault("REG-6")
def takes_the_living_for_dead() -> None:
    async def expire(locks: Any) -> list[str]:
        for path in locks.folder.glob("living.lock"):
            await locks._expire(path.stem)
        return []

    put(PlaneLocks, "expire_dead", expire)


@fault("REG-6")
def leaves_the_jobs_of_the_dead() -> None:
    put(planes, "expire", lambda conn, name: int(planes.depart(conn, name)))
