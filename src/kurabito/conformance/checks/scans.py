"""What a scan has to see and to store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios import kills

SCANNING: Final = "scanning"
HASH_COLUMNS: Final = (
    "edge_hash hash_algorithm content_hash hashed_size_bytes hashed_mtime_ns hashed_at hash_last_error hash_last_error_at "
    "hash_retry_after shared_inode"
).split()
_SIXTY_FOUR_BITS: Final = 1 << 64


def has_no_hash(row: Row) -> bool:
    """Whether the hash columns of a row are cleared."""
    return all(row[column] is None for column in HASH_COLUMNS) and row["hash_error_count"] == 0


def _planted_by(run: Recording, rule: str) -> Iterator[str]:
    """What a scan made of that part of the tree which one rule decides about."""
    found = run.files("first")
    for one in run.planted:
        if one.rule != rule:
            continue
        text = one.name.decode(errors="backslashreplace")
        if one.text is None and text in found:
            yield f"{text!r} was to be left out, and has a row"
        elif one.text is not None and one.text not in found:
            yield f"the file {one.name!r} has no row with the path {one.text!r}"


@check("SCAN-4", SCANNING)
def ordinary_files_are_seen(run: Recording) -> Iterator[str]:
    yield from _planted_by(run, "SCAN-4")
    expected = {one.text for one in run.planted}
    yield from (
        f"{path!r} has a row and is no file of the library" for path in run.files("first") if path not in expected
    )


@check("PATH-2", SCANNING)
def names_have_their_text(run: Recording) -> Iterator[str]:
    yield from _planted_by(run, "PATH-2")


@check("IGNORE-1", SCANNING)
def ignored_names_are_passed_over(run: Recording) -> Iterator[str]:
    yield from _planted_by(run, "IGNORE-1")


@check("TRASH-2", SCANNING)
def the_trash_is_not_scanned(run: Recording) -> Iterator[str]:
    yield from _planted_by(run, "TRASH-2")


@check("PATH-4", SCANNING)
def files_are_stored_in_order(run: Recording) -> Iterator[str]:
    rows = sorted(run.files("first").values(), key=lambda row: row["id"])
    paths = [row["relative_path"] for row in rows]
    for earlier, later in pairwise(paths):
        if earlier > later:
            yield f"{later!r} was stored after {earlier!r}"


@check("VALUE-4", SCANNING)
@check("SCAN-6", SCANNING)
def rows_say_what_the_disk_says(run: Recording) -> Iterator[str]:
    names = {one.text: one.name for one in run.planted}
    for path, row in run.files("second").items():
        try:
            seen = os.lstat(os.path.join(os.fsencode(run.folders[1]), names.get(path, path.encode())))  # noqa: PTH118
        except FileNotFoundError:
            continue
        numbers = (row["inode"] or 0, row["device"] or 0)
        known = (row["size_bytes"], row["mtime_ns"], *(number % _SIXTY_FOUR_BITS for number in numbers))
        if known != (seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_dev):
            yield f"size, mtime, inode and device of {path!r} are not those of the file: {known}"


@check("SCAN-6", SCANNING)
def new_rows_have_no_hash(run: Recording) -> Iterator[str]:
    yield from (f"{path!r} is new and has a hash" for path, row in run.files("first").items() if not has_no_hash(row))
    if "new" not in run.files("second"):
        yield "a file that came between two scans has no row"


@check("SCAN-6", SCANNING)
def a_changed_file_keeps_its_row(run: Recording) -> Iterator[str]:
    before, after = run.files("first")["a.mkv"], run.files("second")["a.mkv"]
    kept = [after[column] == before[column] for column in ("id", "created_at")]
    if not all(kept):
        yield f"a file that changed has another id or created_at: {after['id']} instead of {before['id']}"


@check("VALUE-4", SCANNING)
def an_unknown_inode_is_a_difference(run: Recording) -> Iterator[str]:
    row = run.files("second")["back\\slash"]
    if row["inode"] is None or row["device"] is None or not has_no_hash(row):
        yield "a file whose inode was not known has none after a scan, or kept its hash"


@check("SCAN-10", SCANNING)
def a_changed_file_loses_its_hash(run: Recording) -> Iterator[str]:
    for path in ("a.mkv", "a.PART"):
        row = run.files("second").get(path)
        if row is None or not has_no_hash(row):
            yield f"{path!r} is another file than before, and kept something of its hash"


@check("SCAN-7", SCANNING)
def the_session_counts(run: Recording) -> Iterator[str]:
    session, files = run.rows("first", "scan_sessions", job_id="first")[-1], run.files("first")
    expected = {
        "files_seen": len(files),
        "bytes_seen": sum(row["size_bytes"] for row in files.values()),
        "added_count": len(files),
        "error_count": 0,
    }
    for column, count in expected.items():
        if session[column] != count:
            yield f"{column} of the first scan is {session[column]} instead of {count}"
    yield from _goes_back(run)


def _goes_back(run: Recording) -> Iterator[str]:
    for write in run.writes_to("scan_sessions"):
        earlier, later = write.old.get("resume_after") or "", write.new.get("resume_after") or ""
        if later < earlier:
            yield f"resume_after went back from {earlier!r} to {later!r}"


@check("SCAN-8", SCANNING)
def what_was_not_seen_is_missing(run: Recording) -> Iterator[str]:
    gone, back = run.files("second")["plain.mkv"], run.files("second")["c1.log"]
    if not gone["is_missing"] or gone["content_hash"] is None:
        yield "a file that is gone is not missing, or lost its hash"
    if back["is_missing"]:
        yield "a row that was written after the scan began was marked missing"
    yield from (f"a finding stayed: {row}" for row in run.rows("second", "scan_findings"))
    if any(row["is_missing"] for row in run.files("second", 2).values()):
        yield "a scan marked a file of another library missing"


@check("SCAN-8", SCANNING)
def nothing_is_missing_before_the_end(run: Recording) -> Iterator[str]:
    writes = list(run.writes_to("library_files", after="first", before="second"))
    last_seen = max((write.seq for write in writes if write.operation == "INSERT"), default=0)
    for write in writes:
        if write.operation == "UPDATE" and write.new["is_missing"] > write.old["is_missing"] and write.seq < last_seen:
            yield f"it was marked missing before the walk was over: {write}"


@check("SCAN-9", SCANNING)
def a_session_is_ended(run: Recording) -> Iterator[str]:
    for name in ("first", "second"):
        session = run.rows(name, "scan_sessions", job_id=name)[-1]
        paths = session["files_seen"] + session["directories_seen"]
        if session["status"] != "succeeded" or session["finished_at"] is None or session["total_paths"] != paths:
            yield f"the session of {name!r} is {session['status']} with total_paths = {session['total_paths']}"
        if session["error_code"] is not None:
            yield f"the session of {name!r} has the code {session['error_code']} and no error"
        last = max(path for path, row in run.files(name).items() if not row["is_missing"])
        if session["resume_after"] != last:
            yield f"resume_after of {name!r} is {session['resume_after']!r} at the end instead of {last!r}"


@check("SCAN-3", SCANNING)
def an_empty_folder_is_no_proof(run: Recording) -> Iterator[str]:
    for name, what in (("empty", "is empty"), ("only folders", "has folders and no file")):
        yield from _failed_as(run, name, "ROOT_EMPTY")
        if run.files(name, 3)["known.mkv"]["is_missing"]:
            yield f"a file was marked missing because its library's folder {what}"


@check("SCAN-2", SCANNING)
def a_folder_that_is_not_there(run: Recording) -> Iterator[str]:
    yield from _failed_as(run, "unavailable", "ROOT_UNAVAILABLE")
    if run.files("unavailable", 4)["known.mkv"]["is_missing"]:
        yield "a file was marked missing because its library's folder is not there"


def _failed_as(run: Recording, name: str, code: str) -> Iterator[str]:
    sessions = [("its session", row) for row in run.rows(name, "scan_sessions", job_id=name)]
    for what, row in [("the job", run.job(name, name)), *sessions]:
        if (row["status"], row["error_code"]) != ("failed", code):
            yield f"{what} is {row['status']} with {row['error_code']} instead of failed with {code}"


@check("JOB-2", SCANNING)
def a_library_that_is_gone(run: Recording) -> Iterator[str]:
    job = run.job("removed", "removed")
    if (job["status"], job["error_code"]) != ("failed", "ROOT_UNAVAILABLE"):
        yield f"a job of no library is {job['status']} with {job['error_code']}"


@check("SCAN-1", SCANNING)
def a_scan_goes_on_where_it_was(run: Recording) -> Iterator[str]:
    sessions = run.rows("resumed", "scan_sessions")
    for name in ("said", "resumed"):
        mine = [row for row in sessions if row["job_id"] == name]
        if len(mine) != 1 or mine[0]["status"] != "succeeded":
            yield f"the session of {name!r} was not taken up: {len(mine)} sessions, the last {mine[-1]['status']}"
    (other,) = run.rows("first", "scan_sessions", job_id="elsewhere")
    if (other["status"], other["error_code"]) != ("failed", "SCAN_ABANDONED") or other["finished_at"] is None:
        yield f"another session of the library that ran is {other['status']} with {other['error_code']}"
    (elsewhere,) = run.rows("first", "scan_sessions", job_id="of another library")
    if elsewhere["status"] != "running":
        yield f"a session of another library, which ran, is {elsewhere['status']}"
    if any(run.writes_to("library_files", after="removed", before="said")):
        yield "a scan whose session had succeeded wrote to library_files"
    files = run.files("resumed", 5)
    if "z" not in files or files["a"]["size_bytes"] != 5:
        yield "a scan that was taken up did not go on behind resume_after"


@check("SCAN-1", SCANNING)
def a_session_begins_with_what_the_last_one_counted(run: Recording) -> Iterator[str]:
    (first,) = run.rows("first", "scan_sessions", job_id="first")
    writes = run.writes_to("scan_sessions", after="first", before="second")
    begun = next(write.new for write in writes if write.operation == "INSERT")
    if begun["total_paths"] != first["total_paths"]:
        yield f"a session began with total_paths = {begun['total_paths']}; the last one had {first['total_paths']}"


@check("SCAN-1", "killed")
@check("SCAN-7", "killed")
def a_killed_scan_comes_to_the_same_end(run: Recording) -> Iterator[str]:
    files, there = run.files("scan"), kills.planted().keys()
    yield from (f"after kills {path!r} has no row, or is missing" for path in there - _not_missing(files))
    yield from (f"after kills {path!r} has a row, and is no file" for path in files.keys() - there)


def _not_missing(files: dict[str, Row]) -> set[str]:
    return {path for path, row in files.items() if not row["is_missing"]}
