"""Scans that meet what is not usual: folders that may not be read, a trash that is older than its library, another policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.scenarios import scans
from kurabito.conformance.stage import ScenarioStage
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.terms import NAMED_PROBLEMS, SIDECAR_FORMAT

CLOSED: Final = NAMED_PROBLEMS + 2
"""Folders that may not be read: more than are named."""
ADOPTED, OTHER_SIZE, NO_SIDECAR, LATER = ("a1" * 16, "b2" * 16, "c3" * 16, "d4" * 16)
"""Files in the trash, by what is special about them."""
TRASHED: Final = b"in the trash"
PLACED: Final = "placed.mkv"
LINE_BREAK: Final = "closed\n0"
"""The first of the folders that may not be read."""
_INCOMPLETE, _NEW = 6, 7


def scan_again(stage: ScenarioStage) -> None:
    """Have them done by the plane that runs."""
    _scan_what_may_not_be_read(stage)
    folder = stage.library(_NEW)
    trees.write(folder, b"alone", b"a size that no other file has, however long one looks for it")
    for name, sidecar in ((ADOPTED, {}), (OTHER_SIZE, {"size_bytes": 1})):
        _put_into_trash(folder, name, **sidecar)
    trees.write(folder / TRASH_FOLDER, NO_SIDECAR.encode(), TRASHED)
    scans.scan_as(stage, "with a trash", _NEW)
    _put_into_trash(folder, LATER)
    # A database may say so of what lies there all the same.
    stage.write(
        "UPDATE trash_entries SET left_as = 'restored', left_at = :at WHERE id = :id", id=ADOPTED, at=stage.now()
    )
    scans.scan_as(stage, "nothing new", _NEW)
    stage.write(
        "UPDATE library_roots SET hash_policy = 'all', updated_at = :at WHERE id = :id", id=_NEW, at=stage.now()
    )
    scans.scan_as(stage, "another policy", _NEW)
    _place(stage, folder)
    scans.scan_as(stage, "placed", _NEW)


def _place(stage: ScenarioStage, folder: Path) -> None:
    """As a plane leaves a file that it placed: known to the library, and compared with no other one."""
    trees.write(folder, PLACED.encode(), b"placed")
    seen, now = (folder / PLACED).stat(), stage.now()
    known = {"size_bytes": seen.st_size, "mtime_ns": seen.st_mtime_ns, "inode": seen.st_ino, "device": seen.st_dev}
    stage.file(_NEW, PLACED, **known)
    stage.insert(
        "placements",
        library_id=_NEW,
        mode="copy",
        size_bytes=seen.st_size,
        target_path=PLACED,
        status="completed",
        method="copy",
        noted_at=now,
        created_at=now,
        updated_at=now,
        finished_at=now,
    )


def _scan_what_may_not_be_read(stage: ScenarioStage) -> None:
    folder = stage.library(_INCOMPLETE)
    trees.write(folder, b"there", b"there")
    stage.file(_INCOMPLETE, "gone")
    closed = [folder / LINE_BREAK, *(folder / f"closed {number}" for number in range(1, CLOSED))]
    for place in closed:
        place.mkdir(mode=0)
    try:
        scans.scan_as(stage, "incomplete", _INCOMPLETE)
    finally:
        for place in closed:
            place.chmod(0o700)


def _put_into_trash(folder: Path, name: str, **special: Any) -> None:
    """As another installation left it."""
    trees.write(folder / TRASH_FOLDER, name.encode(), TRASHED)
    told = {
        "kurabito_trash": SIDECAR_FORMAT,
        "path": f"was/here/{name}",
        "size_bytes": len(TRASHED),
        "mtime_ns": trees.OLD_NS,
        "hash_algorithm": "blake3",
        "content_hash": "5f" * 32,
        "trashed_at": 1,
        "library": "/srv/elsewhere",
        "reason": "kept_is_older",
        "kept_path": "/srv/elsewhere/kept",
        "plan_id": None,
    }
    trees.write(folder / TRASH_FOLDER, f"{name}.json".encode(), json.dumps({**told, **special}).encode())
