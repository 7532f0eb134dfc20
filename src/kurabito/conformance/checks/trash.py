"""The trash: its shape, its sidecars, and what leaves it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from typing import Any, Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.checks.removals import REMOVING, entries_by_pair
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.scenarios.removals import (
    ABANDONED,
    BEGUN,
    EMPTY,
    OTHER,
    REASON,
    SECOND_NAME,
    STRANGE,
)
from kurabito.conformance.scenarios.traps import AWAY, OCCUPANT, UNREAD, UNREAD_PATH
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.terms import SIDECAR_FORMAT

_A_MOMENT: Final = 600 * SECOND
"""Between a sidecar and its entry, on a machine that has much to do."""


@check("TRASH-1", REMOVING)
def the_trash_has_its_place_and_shape(run: Recording) -> Iterator[str]:
    for pair, entry in entries_by_pair(run, "removed").items():
        if entry["trash_path"] != f"{TRASH_FOLDER}/{entry['id']}" or len(entry["id"]) != 32:
            yield f"trash_path of {pair!r} is {entry['trash_path']!r}"
    trash = run.folders[1] / TRASH_FOLDER
    if trash.exists() and stat.S_IMODE(trash.stat().st_mode) != 0o700:
        yield f"the trash folder has the mode {stat.S_IMODE(trash.stat().st_mode):o}"


@check("TRASH-3", REMOVING)
def a_sidecar_lies_beside(run: Recording) -> Iterator[str]:
    files = run.files("dry")
    for pair in ("plain", "deep/er/down", "last"):
        entry = entries_by_pair(run, "removed").get(pair)
        if entry is None:
            continue
        path = run.folders[1] / f"{entry['trash_path']}.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        for key, value in _sidecar_of(run, entry, files[f"go/{pair}"]).items():
            if found.get(key) != value:
                yield f"the sidecar of {pair!r} says {key} = {found.get(key)!r} instead of {value!r}"
        if not entry["trashed_at"] - _A_MOMENT <= found.get("trashed_at", 0) <= entry["trashed_at"]:
            yield f"the sidecar of {pair!r} says trashed_at = {found.get('trashed_at')}, and its entry {entry['trashed_at']}"


def _sidecar_of(run: Recording, entry: Row, file: Row) -> dict[str, Any]:
    (step,) = run.rows("removed", "deletion_log", id=entry["id"])
    return {
        "kurabito_trash": SIDECAR_FORMAT,
        **{key: file[key] for key in ("size_bytes", "mtime_ns", "hash_algorithm", "content_hash")},
        "path": entry["relative_path"],
        "library": str(run.folders[1]),
        "reason": REASON,
        "kept_path": str(run.folders[1] / step["kept_path"]),
        "plan_id": step["plan_id"],
    }


@check("TRASH-4", REMOVING)
def a_purge_leaves_a_copy(run: Recording) -> Iterator[str]:
    entries = entries_by_pair(run, "purged")
    purged = entries.get("purged")
    for pair, what in (("last", "is gone"), ("rotten", "has another content, under the same size and mtime")):
        last = entries.get(pair)
        if last and (last["left_at"] is not None or not (run.folders[1] / last["trash_path"]).exists()):
            yield f"the last copy of a content was purged: the other one {what}"
    if purged and (purged["left_as"] != "purged" or (run.folders[1] / purged["trash_path"]).exists()):
        yield "a file that has another copy was not purged"


@check("TRASH-5", REMOVING)
def a_restored_file_is_back(run: Recording) -> Iterator[str]:
    entry, row = entries_by_pair(run, "restored").get("restored"), run.files("restored")["go/restored"]
    if not (run.folders[1] / "go/restored").exists() or row["is_missing"]:
        yield "a file that was restored is not there, or its row is missing"
    if entry is None or entry["left_as"] != "restored" or entry["left_at"] is None:
        yield "the entry of a file that was restored did not leave the trash"
    elif (run.folders[1] / f"{entry['trash_path']}.json").exists():
        yield "the sidecar of a file that was restored stayed"
    if (run.folders[1] / "go/occupied").read_bytes() != OCCUPANT:
        yield "a restored file took the place of another one"


@check("TRASH-5", REMOVING)
def a_file_without_a_hash_is_restored(run: Recording) -> Iterator[str]:
    known = run.files("odd", 2)[UNREAD_PATH]
    (entry,) = run.rows("odd", "trash_entries", id=UNREAD)
    if known["id"] != entry["file_id"] or known["is_missing"] or not (run.folders[2] / UNREAD_PATH).exists():
        yield f"a file that was never hashed was restored, and its row is {known}"
    if entry["left_as"] != "restored":
        yield "the entry of a file that was never hashed did not leave the trash"


@check("TRASH-7", REMOVING)
def a_purge_goes_on_after_a_refusal(run: Recording) -> Iterator[str]:
    job = run.job("purged", "purge")
    if job["status"] != "completed":
        yield f"a purge with a refused entry is {job['status']} with {job['error_code']}"


@check("TRASH-7", REMOVING)
def a_restore_tells_of_a_refusal(run: Recording) -> Iterator[str]:
    job = run.job("restored", "restore")
    if (job["status"], job["error_code"]) != ("failed", "TARGET_EXISTS") or not job["error_message"]:
        yield f"a restore with a refused entry is {job['status']} with {job['error_code']}"
    restored = entries_by_pair(run, "restored").get("restored")
    if restored and restored["left_at"] is None:
        yield "a restore did not go on with the next entry after a refusal"


@check("TRASH-9", REMOVING)
def without_its_folder_no_trash_is_empty(run: Recording) -> Iterator[str]:
    (entry,) = run.rows("odd", "trash_entries", id=AWAY)
    if entry["left_at"] is not None:
        yield f"the disk of an entry is not mounted, and it is said to have left the trash as {entry['left_as']}"
    for name, status in (("restore away", "failed"), ("purge away", "completed")):
        told = [(row["state"], row["error_code"]) for row in run.rows("odd", "deletion_log", job_id=name)]
        if told != [("refused", "ROOT_UNAVAILABLE")] or run.job("odd", name)["status"] != status:
            yield f"without the trash folder {name!r} is {run.job('odd', name)['status']}, and its log has {told}"
    if any(run.folders[3].iterdir()):
        yield "something was made in the folder of a library whose disk is not mounted"


@check("TRASH-8", REMOVING)
def second_names_are_seen_to(run: Recording) -> Iterator[str]:
    begun, abandoned = (run.folders[number] / TRASH_FOLDER for number in (1, 2))
    for trash, name in (
        (begun, BEGUN + SECOND_NAME),
        (begun, BEGUN + EMPTY),
        (abandoned, ABANDONED + SECOND_NAME),
    ):
        if (trash / name).exists():
            yield f"the second name {name!r}, which a dead plane had left, lies in the trash yet"
    if not (run.folders[2] / "two").exists():
        yield "a file that had only a second name in the trash is gone"
    for trash, name in ((begun, BEGUN + STRANGE), (abandoned, OTHER + SECOND_NAME)):
        if not (trash / name).exists():
            yield f"the file {name!r} in the trash has no other name, and is gone"


@check("TRASH-8", "killed")
def kills_leave_no_second_names(run: Recording) -> Iterator[str]:
    if "delete" not in run.moments:
        raise NotApplicable("the plane does not list delete.trash")
    ids = {row["id"] for row in run.rows("delete", "trash_entries")}
    trash = run.folders[1] / TRASH_FOLDER
    for path in trash.iterdir() if trash.exists() else ():
        if path.name.removesuffix(".json") not in ids:
            yield f"after kills {path.name!r} lies in the trash, and is neither a file of an entry nor its sidecar"
