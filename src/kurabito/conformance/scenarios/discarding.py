"""Files that their keeper deleted: one that was never hashed, one that changed since, and one that is purged without a copy."""

from __future__ import annotations

import json
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.scenarios import traps
from kurabito.conformance.scenarios.removals import delete
from kurabito.conformance.stage import ScenarioStage

GONE: Final = "alone.mkv"
CHANGED: Final = "changed.mkv"
BEGUN: Final = "begun.mkv"
"""An owner before moved it to the trash, and did not say so."""
BEGUN_AS: Final = "9a" * 16
CONTENT: Final = b"there is no other copy of this"
SIDECAR: Final = "the sidecar of a deleted file"


def discard(stage: ScenarioStage) -> None:
    """Have files moved to the trash that have no copy, and then purged."""
    stage.needs("delete.discard", "delete.trash")
    folder = stage.library(1)
    for name in (GONE, CHANGED, BEGUN):
        trees.write(folder, name.encode(), CONTENT)
        seen = (folder / name).stat()
        known = {"size_bytes": seen.st_size, "mtime_ns": seen.st_mtime_ns, "inode": seen.st_ino, "device": seen.st_dev}
        stage.file(1, name, needs_hash=0, **known)
    files = [_named(row) for row in stage.rows("library_files")]
    trees.write(folder, CHANGED.encode(), CONTENT + b", and it changed")
    lying = traps.leave_in_trash(stage, folder, BEGUN, BEGUN_AS)
    traps.intend_discard(stage, BEGUN_AS, "discard", len(files), lying.library, BEGUN)
    stage.insert("deletion_policy", id=1, allow_delete=1, updated_at=stage.now())
    delete(stage, "discard", {"discard": files})
    stage.start_plane()
    stage.wait_for_job("discard")
    for entry in stage.rows("trash_entries", "relative_path = :path", path=GONE):
        sidecar = folder / f"{entry['trash_path']}.json"
        stage.recording.seen[SIDECAR] = json.loads(sidecar.read_text()) if sidecar.exists() else {}
    stage.reach("discarded")
    delete(stage, "purge", {"purge": [row["id"] for row in stage.rows("trash_entries")]})
    stage.wait_for_job("purge")
    stage.reach("purged")


def _named(row: Any) -> dict[str, Any]:
    """A file as the payload names it."""
    plain = {name: row[name] for name in ("library_id", "size_bytes", "mtime_ns")}
    return {"file_id": row["id"], "path": row["relative_path"], **plain}
