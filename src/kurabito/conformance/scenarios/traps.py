"""Traps for removals: copies that lie where none may stay, names that lead elsewhere, files that are in other hands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.conformance import trees
from kurabito.conformance.digests import digest_of
from kurabito.conformance.scenarios.hashes import allow_any_path
from kurabito.conformance.stage import ScenarioStage
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import SIDECAR_FORMAT

BOTH_GO: Final = "both go"
"""The plan removes either file because the other one stays."""
_IN_TRASH: Final = "kept in a trash"
_IN_OTHER_HANDS: Final = "in other hands"
_PIPE: Final = "a pipe"
_LINKED: Final = {"go": "through a link", "keep": "kept through a link"}
"""Folders on the way to the one that goes and to the one that stays, which are links by the time of the removal."""
REFUSED: Final = {
    _IN_TRASH: ("KEPT_IN_DOUBT", "DELETE-4"),
    f"{_LINKED['go']}/file": ("FILE_MISSING", "DELETE-4"),
    f"{_LINKED['keep']}/file": ("KEPT_MISSING", "DELETE-4"),
    _PIPE: ("FILE_MISSING", "DELETE-4"),
    BOTH_GO: ("KEPT_IN_DOUBT", "DELETE-3"),
    _IN_OTHER_HANDS: ("KEPT_IN_DOUBT", "DELETE-7"),
}
"""Pairs whose copy must stay, by the code and the rule."""
KEPT: Final = {_IN_TRASH: f"keep/{TRASH_FOLDER}/{_IN_TRASH}"}
"""Where the copy that stays is, of pairs that have it in an unusual place."""
OCCUPANT: Final = b"another file"
"""What has the name of a file that is to come back."""
DISCARDED: Final = "78" * 16
"""The id of a deleted file that a dead plane had moved to the trash."""
DISCARDED_PATH: Final = "discarded"
DISCARDED_CONTENT: Final = b"its keeper deleted it"
AWAY: Final = "09" * 16
"""The id of an entry whose disk is not mounted: its library's folder is empty."""
UNREAD: Final = "34" * 16
"""The id of an entry whose file was never hashed as one of its library."""
UNREAD_PATH: Final = "unread"
_UNREAD_CONTENT: Final = b"no scan had this file hashed"


class LyingFile(NamedTuple):
    """A file in the trash."""

    library: int
    content_hash: str
    """SHA-256."""


def lay(stage: ScenarioStage) -> None:
    """Spoil pairs after they were hashed and before a plan is made of them."""
    folder = stage.recording.folders[1]
    _move_into_trash(stage, folder)
    for side, name in _LINKED.items():
        _lead_elsewhere(folder / side / name, stage.folder / "elsewhere" / name)
    (folder / "go" / _PIPE).unlink()
    os.mkfifo(folder / "go" / _PIPE)
    _have_another_job_remove_it(stage)


def _move_into_trash(stage: ScenarioStage, folder: Path) -> None:
    """As a plane left it that took a trash folder for one of the library."""
    kept = folder / KEPT[_IN_TRASH]
    kept.parent.mkdir()
    (folder / "keep" / _IN_TRASH).rename(kept)
    stage.database.write_blocking(allow_any_path)
    stage.write(
        "UPDATE library_files SET relative_path = :path WHERE relative_path = :before",
        path=KEPT[_IN_TRASH],
        before=f"keep/{_IN_TRASH}",
    )


def _lead_elsewhere(folder: Path, place: Path) -> None:
    """Have a link where a folder was; the same file is found behind it."""
    place.parent.mkdir(exist_ok=True)
    folder.rename(place)
    folder.symlink_to(place)


def _have_another_job_remove_it(stage: ScenarioStage) -> None:
    """A job that lost its plane before it moved the file, and that is not claimed again yet."""
    lost = {"status": "retryable", "error_code": "LEASE_EXPIRED", "error_message": "lost"}
    stage.job("elsewhere", "delete", None, payload='{"plan": 98}', dry_run=0, **lost)
    intent = "12" * 16
    stage.insert(
        "deletion_log",
        id=intent,
        job_id="elsewhere",
        plan_id=98,
        position=1,
        action="trash",
        state="intent",
        library_id=1,
        relative_path=f"keep/{_IN_OTHER_HANDS}",
        kept_library_id=1,
        kept_path="keep/a third copy",
        trash_path=f"{TRASH_FOLDER}/{intent}",
        created_at=stage.now(),
    )


def abandon_discard(stage: ScenarioStage, folder: Path) -> None:
    """As a plane leaves it that dies after it moved what its keeper deleted; another file has the name by now."""
    stage.job("dead discard", "delete", None, payload='{"discard": []}', dry_run=0, status="failed")
    seen = leave_in_trash(stage, folder, DISCARDED_PATH, DISCARDED)
    trees.write(folder, DISCARDED_PATH.encode(), OCCUPANT)
    intend_discard(stage, DISCARDED, "dead discard", 1, seen.library, DISCARDED_PATH)


def leave_in_trash(stage: ScenarioStage, folder: Path, path: str, entry: str) -> LyingFile:
    """Move a file to the trash with its sidecar, and write nothing down."""
    trash = folder / TRASH_FOLDER
    trash.mkdir(mode=0o700, exist_ok=True)
    content, seen = (folder / path).read_bytes(), (folder / path).stat()
    lying = LyingFile(
        next(number for number, place in stage.recording.folders.items() if place == folder),
        digest_of(content, HashAlgorithm.SHA256),
    )
    sidecar = {
        "kurabito_trash": SIDECAR_FORMAT,
        "path": path,
        "size_bytes": seen.st_size,
        "mtime_ns": seen.st_mtime_ns,
        "hash_algorithm": HashAlgorithm.SHA256.value,
        "content_hash": lying.content_hash,
        "trashed_at": stage.now(),
        "library": str(folder),
        "reason": "discarded",
        "kept_path": "",
        "plan_id": None,
    }
    (trash / f"{entry}.json").write_text(json.dumps(sidecar))
    (folder / path).rename(trash / entry)
    return lying


def intend_discard(stage: ScenarioStage, entry: str, job: str, position: int, library: int, path: str) -> None:
    """Write down that a file is about to be discarded."""
    stage.insert(
        "deletion_log",
        id=entry,
        job_id=job,
        position=position,
        action="trash",
        state="intent",
        library_id=library,
        relative_path=path,
        trash_path=f"{TRASH_FOLDER}/{entry}",
        created_at=stage.now(),
    )


def lay_entries(stage: ScenarioStage) -> None:
    """Have entries in the trash that another plane left there, when the keeper had deleted their files."""
    folder = stage.recording.folders[2]
    path = f"{TRASH_FOLDER}/{UNREAD}"
    trees.write(folder, path.encode(), _UNREAD_CONTENT)
    trees.write(folder, f"{path}.json".encode(), b"{}")
    seen = (folder / path).stat()
    known = {"size_bytes": seen.st_size, "mtime_ns": seen.st_mtime_ns, "inode": seen.st_ino, "device": seen.st_dev}
    stage.file(2, UNREAD_PATH, is_missing=1, **known)
    (row,) = stage.rows("library_files", "library_id = 2 AND relative_path = :path", path=UNREAD_PATH)
    _insert_entry(stage, UNREAD, row["id"], 2, UNREAD_PATH)
    stage.library(3)
    _insert_entry(stage, AWAY, 0, 3, "away")


def _insert_entry(stage: ScenarioStage, entry: str, file: int, library: int, path: str) -> None:
    stage.insert(
        "trash_entries",
        id=entry,
        file_id=file,
        library_id=library,
        relative_path=path,
        trash_path=f"{TRASH_FOLDER}/{entry}",
        size_bytes=len(_UNREAD_CONTENT),
        hash_algorithm=HashAlgorithm.SHA256.value,
        content_hash=bytes.fromhex(digest_of(_UNREAD_CONTENT, HashAlgorithm.SHA256)),
        trashed_at=stage.now(),
        is_discarded=1,
    )
