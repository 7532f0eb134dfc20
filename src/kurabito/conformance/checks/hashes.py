"""Digests, samples, twins, and files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.digests import digest_of, edge_sample, whole_digest
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios import kills
from kurabito.conformance.scenarios.hashes import (
    FAILURES_BEFORE,
    HOSTILE,
    MEETS_IT,
    PIPE,
    RELABELLED,
    REWRITTEN,
    SAMPLED_BEFORE,
    TOUCHED,
    TROUBLE,
    WHILE,
)
from kurabito.conformance.scenarios.leases import HUGE_FILE
from kurabito.protocol.terms import HASH_DOUBLINGS, HASH_RETRY_SECONDS, READ_WHOLE

HASHING: Final = "hashing"
_LIBRARIES: Final = (1, 2)
_SHOWN: Final = 60
"""Characters of a path that may be very long."""


def _hashed(run: Recording, library: int) -> dict[str, Row]:
    """The rows after the library's job, but those that were disturbed."""
    files = run.files(f"hash {library}", library)
    return {path: row for path, row in files.items() if not path.startswith("due/") and path not in HOSTILE}


@check("HASH-1")
def a_hash_has_32_bytes_and_an_algorithm(run: Recording) -> Iterator[str]:
    for write in run.writes_to("library_files"):
        row = write.new
        if row and (row["content_hash"] is None) != (row["hash_algorithm"] is None):
            yield f"content_hash and hash_algorithm are not written together: {write}"
        for column in ("content_hash", "edge_hash"):
            if row.get(column) is not None and len(row[column]) != 64:
                yield f"{column} has not 32 bytes: {write}"


@check("HASH-2", HASHING)
def a_hash_is_that_of_the_content(run: Recording) -> Iterator[str]:
    for library in _LIBRARIES:
        algorithm = run.rows("due", "library_roots", id=library)[0]["algorithm"]
        for path, row in _hashed(run, library).items():
            if row["content_hash"] is None:
                continue
            if row["hash_algorithm"] != algorithm:
                yield f"{path!r} is hashed with {row['hash_algorithm']} in a library with {algorithm}"
            elif row["content_hash"] != whole_digest(run.folders[library] / path, algorithm):
                yield f"the hash of {path!r} is not the {algorithm} digest of its content"


@check("HASH-3", HASHING)
def what_is_read_whole(run: Recording) -> Iterator[str]:
    for library in _LIBRARIES:
        for path, row in _hashed(run, library).items():
            is_read = row["size_bytes"] <= READ_WHOLE or library == 2
            if is_read and run.files("due", library)[path]["needs_hash"] and row["content_hash"] is None:
                yield f"{path!r} of library {library} was to be read whole, and has no hash"
    for path, row in run.files("hash 2", 1).items():
        if row["edge_hash"] and row["content_hash"] is None and not row["needs_hash"]:
            yield f"{path!r} was settled by its sample; then a file of its size was read whole, and it does not wait again"


@check("HASH-4", HASHING)
def a_sample_is_that_of_both_ends(run: Recording) -> Iterator[str]:
    for library in _LIBRARIES:
        for path, row in _hashed(run, library).items():
            if row["edge_hash"] is not None and row["edge_hash"] != edge_sample(run.folders[library] / path).hex():
                yield f"edge_hash of {path!r} is not the sample of its ends"


@check("HASH-5", HASHING)
def twins_are_read(run: Recording) -> Iterator[str]:
    files = run.files("hash 1", 1)
    for path in ("large/one", "large/two", "large/same-ends"):
        if files[path]["content_hash"] is None:
            yield f"{path!r} has a twin by size and sample, and was not read"
    if files[MEETS_IT]["content_hash"] is None:
        yield f"{MEETS_IT!r} has a twin that has no sample and was read whole, and was not read"
    if files["large/other-ends"]["needs_hash"]:
        yield "'large/other-ends' has no twin, and still waits"
    if run.files("hash 2", 2)[SAMPLED_BEFORE]["content_hash"] is None:
        yield f"{SAMPLED_BEFORE!r} has a sample and no twin, and all files of its library are to be read; it was not"


@check("PLANE-5", HASHING)
def only_equal_files_have_equal_hashes(run: Recording) -> Iterator[str]:
    contents: dict[str, bytes] = {}
    for path, row in _hashed(run, 1).items():
        content = (run.folders[1] / path).read_bytes()
        if row["content_hash"] is not None and contents.setdefault(row["content_hash"], content) != content:
            yield f"{path!r} has the hash of a file whose content is another"


@check("HASH-10", HASHING)
def a_folder_that_is_gone_blames_no_file(run: Recording) -> Iterator[str]:
    for library, what in ((3, "the folder is not there"), (4, "a file is where the folder was")):
        job = run.job(f"hash {library}", f"hash {library}")
        if (job["status"], job["error_code"]) != ("failed", "ROOT_UNAVAILABLE"):
            yield f"{what}, and the job is {job['status']} with {job['error_code']}"
        if run.files(f"hash {library}", library) != run.files("due", library):
            yield f"{what}, and something was written about its files"


@check("HASH-6", HASHING)
def a_file_that_changed_has_no_hash(run: Recording) -> Iterator[str]:
    for path, what in (("due/changed", "another mtime"), ("due/replaced", "another inode")):
        row = run.files("hash 1", 1)[path]
        if row["content_hash"] is not None:
            yield f"a file with {what} than its row was hashed"
        elif not str(row["hash_last_error"]).startswith("FILE_CHANGED"):
            yield f"a file with {what} than its row has the error {row['hash_last_error']!r}"


@check("HASH-6", HASHING)
def what_changes_while_it_is_read_has_no_hash(run: Recording) -> Iterator[str]:
    row = run.files(f"hash {TOUCHED}", TOUCHED)[WHILE]
    if row["content_hash"] is not None:
        yield "a file that got another mtime while it was read was hashed"
    elif not str(row["hash_last_error"]).startswith("FILE_CHANGED"):
        yield f"a file that got another mtime while it was read has the error {row['hash_last_error']!r}"


@check("HASH-2", HASHING)
@check("HASH-7", HASHING)
def another_algorithm_is_noticed(run: Recording) -> Iterator[str]:
    moment = f"hash {RELABELLED}"
    (library,) = run.rows(moment, "library_roots", id=RELABELLED)
    row = run.files(moment, RELABELLED)[WHILE]
    if row["hash_algorithm"] not in (None, library["algorithm"]):
        yield f"the library had {library['algorithm']} when a hash with {row['hash_algorithm']} was written"


@check("HASH-7", HASHING)
@check("HASH-8", HASHING)
def a_row_of_another_file_is_left(run: Recording) -> Iterator[str]:
    row = run.files(f"hash {REWRITTEN}", REWRITTEN)[WHILE]
    if row["hash_last_error"] is not None:
        yield f"a row told of another file by the time its reading failed, and got {row['hash_last_error']!r}"
    elif row["content_hash"] is not None and row["hashed_mtime_ns"] != row["mtime_ns"]:
        yield "a row told of another file by the time it was read, and got the hash of the earlier one"


@check("LEASE-4", HASHING)
def the_work_renews_its_lease(run: Recording) -> Iterator[str]:
    """Whatever the database: between the claim and the first finding there is a renewal, and no thread was due for one."""
    for library in _LIBRARIES:
        claimed = renewed = False
        for write in run.writes:
            if write.table == "jobs" and write.row["id"] == f"hash {library}":
                renewed = claimed
                claimed = True
            elif write.table == "library_files" and claimed:
                if not renewed:
                    yield f"the first finding of 'hash {library}' came without a renewal since the claim: {write}"
                break


@check("HASH-7", HASHING)
def what_was_read_is_written_whole(run: Recording) -> Iterator[str]:
    for library in _LIBRARIES:
        for path, row in _hashed(run, library).items():
            if row["content_hash"] is None:
                continue
            if (row["hashed_size_bytes"], row["hashed_mtime_ns"]) != (row["size_bytes"], row["mtime_ns"]):
                yield f"{path!r}: hashed_size_bytes or hashed_mtime_ns is not that of the file"
            errors = ("hash_last_error", "hash_last_error_at", "hash_retry_after")
            if not row["hashed_at"] or row["needs_hash"] or any(row[column] is not None for column in errors):
                yield f"{path!r} was read, and still waits, has an error, or no hashed_at"


@check("HASH-8", HASHING)
def what_cannot_be_read_is_put_off(run: Recording) -> Iterator[str]:
    for path, before in {**FAILURES_BEFORE, "due/changed": 0}.items():
        row = run.files("hash 1", 1)[path]
        counts = path != "due/changed"
        code = "FILE_UNREADABLE" if counts else "FILE_CHANGED"
        if not str(row["hash_last_error"]).startswith(f"{code}: "):
            yield f"{path!r} has the error {row['hash_last_error']!r} instead of {code}"
        if row["hash_last_error"] is None or not row["needs_hash"] or row["hash_retry_after"] is None:
            yield f"{path!r} could not be read, and has no error, no hash_retry_after, or does not wait"
            continue
        if row["hash_error_count"] != before + counts:
            yield f"hash_error_count of {path!r} is {row['hash_error_count']} instead of {before + counts}"
        waits = (row["hash_retry_after"] - row["hash_last_error_at"]) / SECOND
        expected = HASH_RETRY_SECONDS * 2 ** min(before, HASH_DOUBLINGS)
        if abs(waits - expected) > 1:
            yield f"{path!r} is tried again after {waits:g} s instead of {expected}"


@check("HASH-9", HASHING)
def nothing_that_is_due_is_left(run: Recording) -> Iterator[str]:
    for library in _LIBRARIES:
        job = run.job(f"hash {library}", f"hash {library}")
        if job["status"] != "completed":
            yield f"the job is {job['status']}: {job['error_message']}"
        for path, row in run.files(f"hash {library}", library).items():
            if row["needs_hash"] and not row["is_missing"] and row["hash_retry_after"] is None:
                yield f"{path!r} was due, and the job ended without having settled it"
    for path in ("due/later", "due/missing"):
        if run.files("hash 1", 1)[path] != run.files("due", 1)[path]:
            yield f"{path!r} was not due, and was written"
    for path, row in run.files("due", 2).items():
        after = run.files("hash 1", 2)[path]
        # A twin in the library that is hashed may have woken it (HASH-3, HASH-5).
        if changed := {name for name in row if row[name] != after[name]} - {"needs_hash", "updated_at"}:
            yield f"{', '.join(sorted(changed))} of {path!r} in another library were written"


@check("PATH-3", HASHING)
def no_path_leads_out(run: Recording) -> Iterator[str]:
    files = run.files("hash 1", 1)
    for path in (*HOSTILE, *(path for path in TROUBLE if "link" in path)):
        if files[path]["content_hash"] is not None or files[path]["edge_hash"] is not None:
            yield f"{path[:_SHOWN]!r} leads out of the library, and was read"
    # A link that was followed leads to a file that is another one.
    linked = {path: "FILE_UNREADABLE" for path in TROUBLE if "link" in path}
    for path, code in {**dict.fromkeys(HOSTILE, "PATH_ESCAPES"), **linked}.items():
        if not str(files[path]["hash_last_error"]).startswith(code):
            yield f"{path[:_SHOWN]!r} has the error {files[path]['hash_last_error']!r} instead of {code}"


@check("PATH-5", HASHING)
def a_pipe_stops_no_plane(run: Recording) -> Iterator[str]:
    row = run.files("hash 1", 1)[PIPE]
    if row["content_hash"] is not None or not str(row["hash_last_error"]).startswith("FILE_UNREADABLE: "):
        yield "a pipe is where a file was, and it was hashed or passed over"


@check("HASH-7", "killed")
@check("HASH-9", "killed")
def a_killed_hash_comes_to_the_same_end(run: Recording) -> Iterator[str]:
    contents = kills.planted()
    for path, row in run.files("hash").items():
        if row["needs_hash"]:
            yield f"after kills {path!r} still waits"
        elif row["content_hash"] != digest_of(contents[path], "blake3"):
            yield f"after kills {path!r} has a wrong hash"


@check("HASH-11", "leases")
def a_large_file_is_unsettled_until_its_end(run: Recording) -> Iterator[str]:
    for write in run.writes_to("library_files"):
        row = write.new
        if row.get("relative_path") == HUGE_FILE and (not row["needs_hash"] or row["content_hash"] is not None):
            yield f"a file that was not read to its end is settled: {write}"
