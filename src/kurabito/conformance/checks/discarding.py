"""Files that their keeper deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kurabito.conformance.checks.registry import check
from kurabito.conformance.digests import digest_of
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.discarding import BEGUN, BEGUN_AS, CHANGED, CONTENT, GONE, SIDECAR
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.terms import SIDECAR_FORMAT

DISCARDING: Final = "discarding"
_WENT: Final = (GONE, BEGUN)


@check("DELETE-14", DISCARDING)
def what_its_keeper_deleted_goes_to_the_trash(run: Recording) -> Iterator[str]:
    log = {row["relative_path"]: row for row in run.rows("discarded", "deletion_log", job_id="discard")}
    columns = ("action", "state", "error_code", "plan_id", "kept_path")
    found = {path: tuple(row[column] for column in columns) for path, row in log.items()}
    expected = {
        GONE: ("trash", "done", None, None, None),
        CHANGED: ("trash", "refused", "FILE_CHANGED", None, None),
        BEGUN: ("trash", "done", None, None, None),
    }
    if found != expected:
        yield f"the log has {found} instead of {expected}"
    entries = run.rows("discarded", "trash_entries")
    for entry in entries:
        if not entry["is_discarded"] or entry["successor_path"] is not None or entry["size_bytes"] != len(CONTENT):
            yield f"the entry of {entry['relative_path']!r} is {entry}"
        elif entry["content_hash"] != digest_of(CONTENT, entry["hash_algorithm"]):
            yield "the hash of its entry is not that of its content"
    missing = {row["relative_path"]: row["is_missing"] for row in run.rows("discarded", "library_files")}
    if len(entries) != len(_WENT) or missing != {**dict.fromkeys(_WENT, 1), CHANGED: 0}:
        yield f"there are {len(entries)} entries in the trash, and the library has {missing}"
    if BEGUN_AS not in {entry["id"] for entry in entries}:
        yield f"what an owner before had begun as {BEGUN_AS} has no entry with that id"
    yield from _sidecar(run)
    if (run.folders[1] / GONE).exists() or not (run.folders[1] / CHANGED).exists():
        yield "the file is where it was, or another one is gone"
    left = [entry["left_as"] for entry in run.rows("purged", "trash_entries")]
    trash = run.folders[1] / TRASH_FOLDER
    if left != ["purged"] * len(_WENT) or (trash.exists() and any(trash.iterdir())):
        yield f"without another copy it was not purged: {left}"


def _sidecar(run: Recording) -> Iterator[str]:
    found = run.seen.get(SIDECAR) or {}
    told = {
        "kurabito_trash": SIDECAR_FORMAT,
        "path": GONE,
        "size_bytes": len(CONTENT),
        "content_hash": digest_of(CONTENT, str(found.get("hash_algorithm") or "blake3")),
        "reason": "discarded",
        "kept_path": "",
        "plan_id": None,
    }
    for key, value in told.items():
        if key not in found or found[key] != value:
            yield f"the sidecar of a deleted file says {key} = {found.get(key)!r} instead of {value!r}"
