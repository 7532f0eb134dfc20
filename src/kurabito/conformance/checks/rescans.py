"""Scans that could not see everything, a trash that is older than its library, and candidates when nothing changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kurabito.conformance.checks.registry import check
from kurabito.conformance.checks.scans import SCANNING
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.rescans import (
    ADOPTED,
    CLOSED,
    LATER,
    LINE_BREAK,
    PLACED,
    TRASHED,
)
from kurabito.protocol.terms import NAMED_PROBLEMS


def _need_closed_folders(run: Recording) -> None:
    if run.seen["reads everything"]:
        raise NotApplicable("no folder is closed to root; on SQLite the plane is started without that right")


@check("SCAN-5", SCANNING)
def what_may_not_be_read_is_told(run: Recording) -> Iterator[str]:
    _need_closed_folders(run)
    session = run.rows("incomplete", "scan_sessions", job_id="incomplete")[-1]
    told = (session["status"], session["error_code"], session["error_count"])
    if told != ("succeeded", "SCAN_INCOMPLETE", CLOSED):
        yield f"{CLOSED} folders may not be read, and the session is {told[0]} with {told[1]} and {told[2]} errors"
    first = LINE_BREAK.replace("\n", "\\n")
    names = (first, *(f"closed {number}" for number in range(1, CLOSED)))
    named = sum(f"{name}/" in str(session["error_message"]) for name in names)
    if named != NAMED_PROBLEMS:
        yield f"error_message names {named} of them instead of {NAMED_PROBLEMS}"
    for write in run.writes_to("scan_sessions"):
        row = write.new
        if row.get("job_id") == "incomplete" and row["status"] == "running" and row["error_message"]:
            lines = row["error_message"].split("\n")
            if broken := [line for line in lines if line[:1] not in ("'", '"')]:
                yield f"a line of error_message begins with no quoted path, but is {broken[0]!r}"


@check("SCAN-8", SCANNING)
def without_all_folders_nothing_is_missing(run: Recording) -> Iterator[str]:
    _need_closed_folders(run)
    if run.files("incomplete", 6)["gone"]["is_missing"]:
        yield "some folders could not be read, and a file that was not seen was marked missing"


@check("TRASH-6", SCANNING)
def only_a_trash_that_tells_of_itself_is_taken_over(run: Recording) -> Iterator[str]:
    entries = {row["id"]: row for row in run.rows("with a trash", "trash_entries", library_id=7)}
    later = {row["id"]: row for row in run.rows("another policy", "trash_entries", id=LATER)}
    if not entries:
        raise NotApplicable("the plane takes no trash over, as it may")
    yield from (
        f"the trash of {name} has no sidecar of its size, and has an entry" for name in entries.keys() - {ADOPTED}
    )
    for row in filter(None, (entries.get(ADOPTED), later.get(LATER))):
        if (row["file_id"], row["size_bytes"], row["left_at"]) != (0, len(TRASHED), None):
            yield f"the entry of a trash that was taken over has file_id {row['file_id']} and {row['size_bytes']} bytes"


@check("SCAN-11", SCANNING)
def a_trash_is_taken_over_once(run: Recording) -> Iterator[str]:
    if not run.rows("with a trash", "trash_entries", library_id=7):
        raise NotApplicable("the plane takes no trash over, as it may")
    if not all(row["left_as"] for row in run.rows("another policy", "trash_entries", id=ADOPTED)):
        yield "a library that was not new any more had its trash taken over: an entry that had left is back"
    writes = run.writes_to("library_files", "trash_entries", before="with a trash")
    tables = [write.table for write in writes if write.row["library_id"] == 7 and write.operation == "INSERT"]
    if tables != sorted(tables, reverse=True):
        yield "the trash was taken over after the walk had begun"


@check("CAND-2", SCANNING)
def another_policy_is_noticed(run: Recording) -> Iterator[str]:
    if not run.files("another policy", 7)["alone"]["needs_hash"]:
        yield "the library hashes all files by now; nothing else changed, and a file of it does not wait for a hash"


@check("CAND-2", SCANNING)
def a_placed_file_is_noticed(run: Recording) -> Iterator[str]:
    if not run.files("placed", 7)[PLACED]["needs_hash"]:
        yield "a file was placed into the library since its last scan; nothing else changed, and it does not wait for a hash"


@check("CAND-3", SCANNING)
def what_has_a_size_of_its_own_does_not_wait(run: Recording) -> Iterator[str]:
    for moment in ("first", "second", "nothing new"):
        rows = [row for row in run.rows(moment, "library_files") if not row["is_missing"]]
        sizes = Counter(row["size_bytes"] for row in rows)
        for row in rows:
            if row["needs_hash"] and (sizes[row["size_bytes"]] == 1 or not row["size_bytes"]):
                yield f"after the scan {moment!r} the file {row['relative_path']!r} waits, and can have no duplicate"
