"""Checkpoints, cleanups of thumbnails, and inspections."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.upkeep import INSPECTED
from kurabito.protocol.leased.checkpoints import FIRST_WAIT
from kurabito.protocol.leased.retries import FIRST_WAIT as FIRST_RETRY

CHECKPOINTS: Final = "checkpoints"
CLEANUPS: Final = "cleanups"
INSPECTIONS: Final = "inspections"
_NUMBERS: Final = ("checkpoint_busy", "checkpoint_log_frames", "checkpointed_frames")
_CHANCE: Final = 1.25
"""How much longer a plane may wait, so that not always the same one comes first."""


def _checkpoint(run: Recording, moment: str, number: int) -> Row:
    return run.rows(moment, "wal_maintenance_jobs", id=number)[0]


@check("CKPT-1", CHECKPOINTS)
def a_checkpoint_is_done_when_it_is_due(run: Recording) -> Iterator[str]:
    for number in (1, 2):
        row = _checkpoint(run, "recovered", number)
        # A passive one moves what it can, which may be nothing.
        is_whole = number == 1 or row["checkpoint_log_frames"] == row["checkpointed_frames"]
        if row["status"] != "completed" or not is_whole:
            yield f"checkpoint {number} is {row['status']}, with {row['checkpointed_frames']} frames moved"


@check("CKPT-2", CHECKPOINTS)
def what_sqlite_answered_is_stored(run: Recording) -> Iterator[str]:
    for moment, number, busy in (("busy", 1, 0), ("busy", 2, 1), ("recovered", 2, 0)):
        row = _checkpoint(run, moment, number)
        if any(row[column] is None for column in _NUMBERS) or row["checkpoint_busy"] != busy:
            yield f"checkpoint {number} has {[row[column] for column in _NUMBERS]}, and checkpoint_busy was to be {busy}"


@check("CKPT-3", CHECKPOINTS)
def a_busy_checkpoint_is_put_off(run: Recording) -> Iterator[str]:
    row = _checkpoint(run, "busy", 2)
    if (row["status"], row["error_code"], row["retry_count"]) != ("retryable", "WAL_BUSY", 1) or not row["worker_id"]:
        yield f"it is {row['status']} with {row['error_code']}, retry_count {row['retry_count']}, {row['worker_id']}"
    elif abs(row["retry_after"] - row["finished_at"] - FIRST_WAIT) > SECOND:
        yield f"it is tried again after {(row['retry_after'] - row['finished_at']) / SECOND:g} s"


@check("CKPT-4", CHECKPOINTS)
def a_stale_checkpoint_is_put_off(run: Recording) -> Iterator[str]:
    row = _checkpoint(run, "recovered", 3)
    if (row["error_code"], row["worker_id"], row["retry_count"]) != ("LEASE_EXPIRED", None, 2):
        yield f"it has {row['error_code']}, the owner {row['worker_id']} and retry_count {row['retry_count']}"
    elif abs(row["retry_after"] - row["updated_at"] - 2 * FIRST_WAIT) > SECOND:
        yield f"it is tried again after {(row['retry_after'] - row['updated_at']) / SECOND:g} s"


@check("CLEAN-1", CLEANUPS)
def a_cleanup_waits_for_its_turn(run: Recording) -> Iterator[str]:
    for row in run.rows("cleaned", "thumbnail_cleanup_jobs"):
        if row["group_key"] != "gone" and row["status"] != "pending":
            yield f"the cleanup of {row['group_key']!r} was not due, and is {row['status']}"


@check("CLEAN-2", CLEANUPS)
def a_group_is_removed(run: Recording) -> Iterator[str]:
    (job,) = run.rows("cleaned", "thumbnail_cleanup_jobs", group_key="gone")
    left = [row["output_path"] for row in run.rows("cleaned", "thumbnails", group_key="gone")]
    if job["status"] != "completed" or left:
        yield f"the cleanup is {job['status']}, and left the rows of {left}"
    others = {row["group_key"] for row in run.rows("cleaned", "thumbnails")}
    if not others >= {"busy", "later"}:
        yield f"of other groups only the rows of {sorted(others)} are left"
    thumbs = run.folders[1].parent / "state" / "thumbs"
    if (thumbs / "drawn.jpg").exists() or not (thumbs / "of another.jpg").exists():
        yield "the picture of the group is there, or that of another group is gone"


@check("CLEAN-3", CLEANUPS)
def nothing_outside_is_removed(run: Recording) -> Iterator[str]:
    if not (run.folders[1].parent / "outside" / "victim").exists():
        yield "a file was removed that lies outside of the folder of thumbnails"


@check("CLEAN-4", CLEANUPS)
def no_file_of_a_library_is_removed(run: Recording) -> Iterator[str]:
    if not (run.folders[1] / "film.jpg").exists():
        yield "a cleanup removed a file of a library"


def _inspection(run: Recording, number: int) -> Row:
    return run.rows("inspected", "inspections", id=number)[0]


@check("INSPECT-1", INSPECTIONS)
def files_are_listed_in_order(run: Recording) -> Iterator[str]:
    for number, expected in ((1, sorted(INSPECTED)), (2, ["a.mkv"])):
        rows = run.rows("inspected", "inspected_files", inspection_id=number)
        found = [row["relative_path"] for row in sorted(rows, key=lambda row: row["position"])]
        if found != expected or sorted(row["position"] for row in rows) != list(range(len(expected))):
            yield f"inspection {number} lists {found} instead of {expected}"


@check("INSPECT-2", INSPECTIONS)
def what_is_not_seen_is_told(run: Recording) -> Iterator[str]:
    for number, expected in ((3, ("pending", "ROOT_UNAVAILABLE")), (4, ("failed", "PATH_ESCAPES"))):
        row = _inspection(run, number)
        if (row["status"], row["error_code"]) != expected:
            yield f"inspection {number} is {row['status']} with {row['error_code']} instead of {expected}"


@check("INSPECT-3", INSPECTIONS)
def a_crowd_is_not_listed(run: Recording) -> Iterator[str]:
    row, files = _inspection(run, 6), run.rows("inspected", "inspected_files", inspection_id=6)
    if (row["status"], row["error_code"]) != ("failed", "TOO_MANY_FILES") or files:
        yield f"an inspection of too many files is {row['status']} with {row['error_code']}, and lists {len(files)}"


@check("INSPECT-4", INSPECTIONS)
def counts_are_those_of_the_rows(run: Recording) -> Iterator[str]:
    for number in (1, 2):
        row, files = _inspection(run, number), run.rows("inspected", "inspected_files", inspection_id=number)
        counted = (len(files), sum(file["size_bytes"] for file in files))
        if (row["status"], row["file_count"], row["total_bytes"]) != ("completed", *counted):
            yield f"inspection {number} is {row['status']} with {row['file_count']} files instead of {counted[0]}"


@check("WAIT-1", INSPECTIONS)
def what_passes_is_tried_again(run: Recording) -> Iterator[str]:
    row = _inspection(run, 3)
    if row["status"] != "pending" or row["tries"] != 1 or row["retry_after"] is None:
        yield f"it is {row['status']} after {row['tries']} tries"
    elif not FIRST_RETRY - SECOND <= row["retry_after"] - row["updated_at"] <= FIRST_RETRY * _CHANCE + SECOND:
        yield f"it is tried again after {(row['retry_after'] - row['updated_at']) / SECOND:g} s"
    elif row["finished_at"] is not None:
        yield "it is tried again, and has a finished_at"


@check("WAIT-3", INSPECTIONS)
def facts_name_the_folder(run: Recording) -> Iterator[str]:
    for number in (3, 4, 6):
        row = _inspection(run, number)
        if json.loads(row["error_facts"] or "{}").get("folder") != row["folder"]:
            yield f"inspection {number} has {row['error_code']} with the facts {row['error_facts']}"


@check("WAIT-2", INSPECTIONS)
def a_third_lost_worker_is_the_last(run: Recording) -> Iterator[str]:
    row = _inspection(run, 5)
    if (row["status"], row["error_code"], row["lost_leases"]) != ("failed", "WORKER_LOST", 3):
        yield f"it is {row['status']} with {row['error_code']} after {row['lost_leases']} lost workers"
