"""Faults of registration, versions and rights."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

from tests.conformance.planes.faults.fault import also_at_end, edit, fault, nothing, put, unrestricted

from kurabito.dataplane import main
from kurabito.dataplane.leasing.plane_locks import PlaneLocks
from kurabito.dataplane.plane import DataPlane
from kurabito.dataplane.scan.queries import SQL as SCAN
from kurabito.errors import DatabaseUnavailable
from kurabito.protocol import planes
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


@fault("PLANE-1")
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


@fault("VALUE-1")
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


@fault("PROGRESS-1")
def makes_too_much_progress() -> None:
    jobs.PROGRESS_COLUMNS["progress"] = ":progress + 2"


@fault("PROGRESS-1")
def is_done_at_half_way() -> None:
    jobs.FINISH_COLUMNS["progress"] = "0.5"


@fault("JOB-3")
def cancels_what_is_done() -> None:
    jobs.FINISH_COLUMNS["status"] = "CASE WHEN :status = 'completed' THEN 'cancelled' ELSE :status END"
