"""Steps, the trash, restores and purges."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.removals import ABANDONED, BEGUN, REFUSED, TAKEN
from kurabito.protocol.deletion import TRASH_FOLDER

REMOVING: Final = "removing"
_REAL: Final = "not allowed"
"""The job waits first, because nothing may be removed yet."""
_SIDECAR: Final = frozenset(
    "kurabito_trash path size_bytes mtime_ns hash_algorithm content_hash trashed_at library reason kept_path plan_id".split()
)


def _log(run: Recording, moment: str, job: str) -> dict[str, Row]:
    """What a job wrote down, by the name of the pair."""
    return {row["relative_path"].removeprefix("go/"): row for row in run.rows(moment, "deletion_log", job_id=job)}


def _entries(run: Recording, moment: str) -> dict[str, Row]:
    return {row["relative_path"].removeprefix("go/"): row for row in run.rows(moment, "trash_entries")}


@check("JOB-1", REMOVING)
def a_removal_waits_until_it_is_allowed(run: Recording) -> Iterator[str]:
    job = run.job("dry", _REAL)
    if job["status"] != "pending":
        yield f"a job that removes was {job['status']} although allow_delete is off"


@check("DELETE-1", REMOVING)
def a_removal_stops_when_it_is_not_allowed_any_more(run: Recording) -> Iterator[str]:
    before, after = (len(_done(run, moment)) for moment in ("frozen", "switched off"))
    if run.job("frozen", "switched off")["status"] != "running":
        raise NotApplicable("the plan was over before the permission could be taken away")
    job = run.job("switched off", "switched off")
    if (job["status"], job["error_code"]) != ("failed", "DELETION_NOT_ALLOWED"):
        yield f"allow_delete was switched off in the middle of a plan, and the job is {job['status']} with {job['error_code']}"
    # The step that was under way may come to its end.
    if after > before + 1:
        yield f"{after - before} files were removed after allow_delete had been switched off"


def _done(run: Recording, moment: str) -> list[Row]:
    return run.rows(moment, "deletion_log", job_id="switched off", state="done")


def _refused_by(run: Recording, rule: str) -> Iterator[str]:
    log = _log(run, "removed", _REAL)
    for pair, (code, by) in REFUSED.items():
        if by != rule:
            continue
        row = log.get(pair)
        if row is None or (row["state"], row["error_code"]) != ("refused", code):
            found = "not written down" if row is None else f"{row['state']} with {row['error_code']}"
            yield f"the step {pair!r} is {found} instead of refused with {code}"


@check("DELETE-3", REMOVING)
def what_the_database_knows_is_looked_at(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "DELETE-3")


@check("DELETE-4", REMOVING)
def what_the_disk_has_is_looked_at(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "DELETE-4")
    for pair in REFUSED:
        if pair != "vanished" and not (run.folders[1] / "go" / pair).exists():
            yield f"the file of the step {pair!r} is gone, and was to stay"


@check("DELETE-5", REMOVING)
def files_are_compared_to_the_last_byte(run: Recording) -> Iterator[str]:
    yield from _refused_by(run, "DELETE-5")
    row = run.files("removed")["go/differs"]
    if not row["needs_hash"] or row["content_hash"] is not None:
        yield "a file whose content is not what its hash says is not read again"
    if run.files("removed")["keep/differs"]["content_hash"] is None:
        yield "a file whose content is what its hash says lost its hash"


@check("DELETE-6", REMOVING)
def a_dry_run_changes_nothing(run: Recording) -> Iterator[str]:
    states = {pair: row["state"] for pair, row in _log(run, "dry", "dry").items()}
    if states != {"plain": "checked", "vanished": "refused"}:
        yield f"a dry run wrote down {states}"
    if run.rows("dry", "trash_entries"):
        yield "a dry run moved a file to the trash"


@check("DELETE-2", REMOVING)
def steps_are_taken_in_order(run: Recording) -> Iterator[str]:
    noted = [
        w.new["position"] for w in run.writes_to("deletion_log") if w.operation == "INSERT" and w.new["job_id"] == _REAL
    ]
    if noted != sorted(set(noted)):
        yield f"steps were taken in the order {noted}"


@check("DELETE-7", REMOVING)
def the_intent_comes_first(run: Recording) -> Iterator[str]:
    for write in run.writes_to("deletion_log"):
        if write.operation == "INSERT" and write.new["state"] == "done":
            yield f"a step was done without an intent before: {write}"
        if write.operation == "INSERT" and write.new["state"] == "intent" and not write.new["trash_path"]:
            yield f"an intent does not name its trash_path: {write}"


@check("DELETE-9", REMOVING)
def a_step_that_is_done_is_written_down(run: Recording) -> Iterator[str]:
    log, entries, files = _log(run, "removed", _REAL), _entries(run, "removed"), run.files("removed")
    for pair in TAKEN:
        row = log.get(pair)
        if row is None or row["state"] != "done" or row["finished_at"] is None:
            yield f"the step {pair!r} is not done: {row and row['error_message']}"
        elif pair not in entries or entries[pair]["id"] != row["id"]:
            yield f"the step {pair!r} is done, and has no entry with its id in trash_entries"
        elif not files[f"go/{pair}"]["is_missing"]:
            yield f"the step {pair!r} is done, and its file is not missing"


@check("DELETE-10", REMOVING)
def a_refusal_ends_no_job(run: Recording) -> Iterator[str]:
    job = run.job("removed", _REAL)
    if job["status"] != "completed":
        yield f"the job with refused steps is {job['status']} with {job['error_code']}"
    for pair, row in _log(run, "removed", _REAL).items():
        if row["state"] == "refused" and (row["error_code"] is None or not row["error_message"]):
            yield f"the refused step {pair!r} has no code or no message"


@check("DELETE-8", REMOVING)
def a_file_is_renamed(run: Recording) -> Iterator[str]:
    for pair in ("plain", "deep/er/down"):
        row, entry = run.files("removed")[f"go/{pair}"], _entries(run, "removed")[pair]
        path = run.folders[1] / entry["trash_path"]
        if not path.exists() or path.stat().st_ino != row["inode"]:
            yield f"what lies in the trash for {pair!r} is not the file that was there"


@check("DELETE-11", REMOVING)
def a_step_that_was_begun_is_taken_again(run: Recording) -> Iterator[str]:
    rows = [(row["id"], row["state"]) for row in run.rows("begun", "deletion_log", job_id="begun")]
    if rows != [(BEGUN, "done")]:
        yield f"a step that had been begun as {BEGUN} is written down as {rows}"
    if not run.rows("begun", "trash_entries", id=BEGUN) or not (run.folders[1] / TRASH_FOLDER / BEGUN).exists():
        yield "a step that had been begun has no entry, or its file is not in the trash"


@check("DELETE-12", REMOVING)
def what_a_dead_plane_began_is_mended(run: Recording) -> Iterator[str]:
    row = run.rows("dry", "deletion_log", id=ABANDONED)[0]
    if (row["state"], row["error_code"]) != ("refused", "WORKER_LOST"):
        yield f"a step that a dead plane had begun is {row['state']} with {row['error_code']}"
    if not (run.folders[2] / "two").exists():
        yield "a file that a dead plane had moved to the trash was not put back"


@check("DELETE-13", "a pool")
def a_file_in_a_pool_is_no_copy_of_itself(run: Recording) -> Iterator[str]:
    (row,) = run.rows("pool", "deletion_log", job_id="pool")
    if (row["state"], row["error_code"]) != ("refused", "SAME_FILE"):
        yield f"a file that is its own copy, seen through a pool, is {row['state']} with {row['error_code']}"
    if not run.seen["is on the disk"]:
        yield "the only copy of a file left its place, because a pool showed it a second time"


@check("TRASH-1", REMOVING)
def the_trash_has_its_place_and_shape(run: Recording) -> Iterator[str]:
    for pair, entry in _entries(run, "removed").items():
        if entry["trash_path"] != f"{TRASH_FOLDER}/{entry['id']}" or len(entry["id"]) != 32:
            yield f"trash_path of {pair!r} is {entry['trash_path']!r}"
    trash = run.folders[1] / TRASH_FOLDER
    if trash.exists() and stat.S_IMODE(trash.stat().st_mode) != 0o700:
        yield f"the trash folder has the mode {stat.S_IMODE(trash.stat().st_mode):o}"


@check("TRASH-3", REMOVING)
def a_sidecar_lies_beside(run: Recording) -> Iterator[str]:
    for pair in ("plain", "deep/er/down", "last"):
        entry = _entries(run, "removed").get(pair)
        if entry is None:
            continue
        path = run.folders[1] / f"{entry['trash_path']}.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        if not found.keys() >= _SIDECAR:
            yield f"the sidecar of {pair!r} lacks {sorted(_SIDECAR - found.keys())}"
        elif (found["path"], found["content_hash"]) != (f"go/{pair}", entry["content_hash"]):
            yield f"the sidecar of {pair!r} tells of {found['path']!r} with the hash {found['content_hash']}"


@check("TRASH-5", REMOVING)
def a_restored_file_is_back(run: Recording) -> Iterator[str]:
    entry, row = _entries(run, "restored").get("restored"), run.files("restored")["go/restored"]
    if not (run.folders[1] / "go/restored").exists() or row["is_missing"]:
        yield "a file that was restored is not there, or its row is missing"
    if entry is None or entry["left_as"] != "restored" or entry["left_at"] is None:
        yield "the entry of a file that was restored did not leave the trash"
    elif (run.folders[1] / f"{entry['trash_path']}.json").exists():
        yield "the sidecar of a file that was restored stayed"


@check("TRASH-4", REMOVING)
def a_purge_leaves_a_copy(run: Recording) -> Iterator[str]:
    entries = _entries(run, "purged")
    last, purged = entries.get("last"), entries.get("purged")
    if last and (last["left_at"] is not None or not (run.folders[1] / last["trash_path"]).exists()):
        yield "the last copy of a content was purged"
    if purged and (purged["left_as"] != "purged" or (run.folders[1] / purged["trash_path"]).exists()):
        yield "a file that has another copy was not purged"


@check("TRASH-7", REMOVING)
def a_purge_goes_on_after_a_refusal(run: Recording) -> Iterator[str]:
    job = run.job("purged", "purge")
    if job["status"] != "completed":
        yield f"a purge with a refused entry is {job['status']} with {job['error_code']}"
