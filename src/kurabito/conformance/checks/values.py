"""Times, counts, enum-like columns, paths and progress: they hold for every write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.journal import NotedWrite
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.clocks import SKEWED
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.tables import TABLES

_ENUMS: Final = {table.name: {column: set(kind) for column, kind in table.values.items()} for table in TABLES}
_YEAR: Final = 366 * 86400 * SECOND
_SLOW: Final = 60 * SECOND
"""A transaction may take so long between reading the clock and writing."""
_NOW: Final = frozenset(
    "created_at updated_at started_at finished_at heartbeat_at worker_heartbeat_at hashed_at hash_last_error_at left_at".split()
)
"""Columns that say when something was written or happened just then."""
_COUNTS: Final = ("size_bytes", "bytes_size", "total_bytes", "processed_items", "files_seen", "directories_seen")
_COUNTS_TOO: Final = ("bytes_seen", "added_count", "changed_count", "moved_count", "removed_count", "error_count")
_SESSIONS: Final = "scan_sessions"


def _new_values(run: Recording) -> Iterator[tuple[NotedWrite, str]]:
    return ((write, column) for write in run.writes for column in sorted(write.changed))


@check("VALUE-1")
def times_are_in_microseconds(run: Recording) -> Iterator[str]:
    for write, column in _new_values(run):
        value = write.new[column]
        is_time = column.endswith("_at") and write.table != "protocol_version"
        if is_time and value is not None and (not isinstance(value, int) or abs(value - write.at) > _YEAR):
            yield f"{column} is no time in microseconds: {write}"


@check("VALUE-1", SKEWED)
@check("VALUE-1")
def now_is_now(run: Recording) -> Iterator[str]:
    for write, column in _new_values(run):
        value = write.new[column]
        if column in _NOW and value is not None and abs(value - write.at) > _SLOW:
            yield f"{column} is {(value - write.at) / SECOND:.0f} s away from now: {write}"


@check("VALUE-2")
def counts_are_not_negative(run: Recording) -> Iterator[str]:
    for write, column in _new_values(run):
        if column in (*_COUNTS, *_COUNTS_TOO) and write.new[column] is not None and write.new[column] < 0:
            yield f"{column} is negative: {write}"


@check("VALUE-3")
def enums_have_legal_values(run: Recording) -> Iterator[str]:
    for write, column in _new_values(run):
        legal = _ENUMS[write.table].get(column)
        if legal and write.new[column] is not None and write.new[column] not in legal:
            yield f"{column} has no value {write.new[column]!r}: {write}"


@check("VALUE-5")
def errors_have_a_code_and_a_message(run: Recording) -> Iterator[str]:
    for write in run.writes:
        if "error_code" not in write.new or write.operation == "DELETE":
            continue
        code, message = write.new["error_code"], write.new.get("error_message")
        if code is not None and code not in set(ErrorCode):
            yield f"{code!r} is no code: {write}"
        if code is None and message is not None and write.table != _SESSIONS:
            yield f"a message without a code: {write}"


@check("VALUE-6")
def updated_at_is_written(run: Recording) -> Iterator[str]:
    for write in run.writes:
        if write.operation != "UPDATE" or "updated_at" not in write.new:
            continue
        # A plane that is known to be dead has its leases ended, and nothing else written.
        if write.changed - {"lease_expires_at"} and abs(write.new["updated_at"] - write.at) > _SLOW:
            yield f"updated_at was not written: {write}"


@check("PATH-1")
def paths_stay_below_their_library(run: Recording) -> Iterator[str]:
    for write in run.writes_to("library_files", "trash_entries"):
        if "relative_path" in write.changed:
            parts = write.new["relative_path"].split("/")
            if any(part in ("", ".", "..") for part in parts) or "\0" in parts or TRASH_FOLDER in parts[:-1]:
                yield f"{write.new['relative_path']!r} is no path of a file below its library"


@check("PROGRESS-1")
def progress_is_a_fraction(run: Recording) -> Iterator[str]:
    for write in run.writes_to("jobs"):
        if not 0 <= write.new["progress"] <= 1 or write.new["processed_items"] < 0:
            yield f"progress is {write.new['progress']}, processed_items {write.new['processed_items']}: {write}"
        if write.new["status"] == "completed" and write.new["progress"] != 1:
            yield f"a job is completed with the progress {write.new['progress']}: {write}"


@check("PROGRESS-1", "scanning")
def a_scan_counts_files_and_folders(run: Recording) -> Iterator[str]:
    job, session = run.job("first", "first"), run.rows("first", _SESSIONS, job_id="first")[-1]
    seen = session["files_seen"] + session["directories_seen"]
    if job["processed_items"] != seen:
        yield f"the scan saw {seen} files and folders, and processed_items is {job['processed_items']}"
