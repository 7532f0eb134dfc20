"""Steps of plans: what is refused, what is done, and what is mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.digests import digest_of
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.kills import STEPS
from kurabito.conformance.scenarios.removals import ABANDONED, BEGUN, DRY_TRASH, REFUSED, TAKEN
from kurabito.conformance.scenarios.traps import DISCARDED, DISCARDED_CONTENT, DISCARDED_PATH, OCCUPANT
from kurabito.protocol.deletion import TRASH_FOLDER

REMOVING: Final = "removing"
_REAL: Final = "not allowed"
"""The job waits first, because nothing may be removed yet."""
_OF_THE_FILE: Final = ("library_id", "relative_path", "size_bytes", "hash_algorithm", "content_hash")
"""What an entry of the trash says as the file's row does."""


def _log(run: Recording, moment: str, job: str) -> dict[str, Row]:
    """What a job wrote down, by the name of the pair."""
    return {row["relative_path"].removeprefix("go/"): row for row in run.rows(moment, "deletion_log", job_id=job)}


def entries_by_pair(run: Recording, moment: str) -> dict[str, Row]:
    """What lies or lay in the trash, by the name of the pair."""
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
    if run.rows("dry", "trash_entries", library_id=1):
        yield "a dry run moved a file to the trash"
    if run.seen[DRY_TRASH]:
        yield "a dry run made a trash folder"
    touched = [w for w in run.writes_to("library_files", before="dry") if w.row["library_id"] == 1]
    yield from (f"a dry run wrote to a file: {write}" for write in touched)


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
    yield from _refused_by(run, "DELETE-7")


@check("DELETE-9", REMOVING)
def a_step_that_is_done_is_written_down(run: Recording) -> Iterator[str]:
    log, entries, files = _log(run, "removed", _REAL), entries_by_pair(run, "removed"), run.files("removed")
    known = run.files("dry")
    for pair in TAKEN:
        row = log.get(pair)
        if row is None or row["state"] != "done" or row["finished_at"] is None:
            yield f"the step {pair!r} is not done: {row and row['error_message']}"
        elif pair not in entries or entries[pair]["id"] != row["id"]:
            yield f"the step {pair!r} is done, and has no entry with its id in trash_entries"
        elif not files[f"go/{pair}"]["is_missing"]:
            yield f"the step {pair!r} is done, and its file is not missing"
        else:
            yield from _differences(entries[pair], known[f"go/{pair}"])


def _differences(entry: Row, file: Row) -> Iterator[str]:
    told = {"file_id": file["id"], **{name: file[name] for name in _OF_THE_FILE}}
    for column, value in told.items():
        if entry[column] != value:
            yield f"the entry of {entry['relative_path']!r} has {column} = {entry[column]!r} instead of {value!r}"


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
        row, entry = run.files("removed")[f"go/{pair}"], entries_by_pair(run, "removed")[pair]
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
    if (run.folders[2] / TRASH_FOLDER / f"{ABANDONED}.json").exists():
        yield "a file that a dead plane had moved to the trash was put back, and its sidecar stayed"


@check("DELETE-12", REMOVING)
def what_its_keeper_deleted_is_listed_when_it_cannot_go_back(run: Recording) -> Iterator[str]:
    row = run.rows("dry", "deletion_log", id=DISCARDED)[0]
    if row["state"] != "done" or row["finished_at"] is None:
        yield f"a deleted file stays in the trash, and its step is {row['state']} with {row['error_code']}"
    entries = run.rows("dry", "trash_entries", id=DISCARDED)
    told = {
        "file_id": 0,
        "library_id": 2,
        "relative_path": DISCARDED_PATH,
        "size_bytes": len(DISCARDED_CONTENT),
        "content_hash": digest_of(DISCARDED_CONTENT, "sha256"),
        "is_discarded": 1,
    }
    found = [{column: entry[column] for column in told} for entry in entries]
    if found != [told]:
        yield f"trash_entries tells {found} of it instead of {told}"
    lying, folder = run.folders[2] / TRASH_FOLDER / DISCARDED, run.folders[2]
    if not lying.exists() or lying.read_bytes() != DISCARDED_CONTENT:
        yield "the deleted file is not in the trash any more"
    if (folder / DISCARDED_PATH).read_bytes() != OCCUPANT:
        yield "the file that has its name by now is gone"


@check("DELETE-13", "a pool")
def a_file_in_a_pool_is_no_copy_of_itself(run: Recording) -> Iterator[str]:
    (row,) = run.rows("pool", "deletion_log", job_id="pool")
    if (row["state"], row["error_code"]) != ("refused", "SAME_FILE"):
        yield f"a file that is its own copy, seen through a pool, is {row['state']} with {row['error_code']}"
    if not run.seen["is on the disk"]:
        yield "the only copy of a file left its place, because a pool showed it a second time"


@check("DELETE-8", "killed")
@check("DELETE-11", "killed")
def a_killed_removal_loses_nothing(run: Recording) -> Iterator[str]:
    if "delete" not in run.moments:
        raise NotApplicable("the plane does not list delete.trash")
    folder, entries = run.folders[1], {row["id"]: row for row in run.rows("delete", "trash_entries")}
    for row in run.rows("delete", "deletion_log", job_id="delete"):
        here, there = folder / row["relative_path"], folder / str(row["trash_path"])
        if row["state"] != "done" or here.exists() or not there.exists() or row["id"] not in entries:
            yield f"after kills the step of {row['relative_path']!r} is {row['state']}, and its file or its entry is not there"
        if not (folder / row["kept_path"]).exists():
            yield f"after kills the copy {row['kept_path']!r}, which was to stay, is gone"
    steps = len({row["position"] for row in run.rows("delete", "deletion_log", job_id="delete")})
    if steps != STEPS:
        yield f"after kills {steps} steps of {STEPS} are written down"
