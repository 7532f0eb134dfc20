"""Hashes: copies, files that only look alike, and rows and files that are not what they were."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.digests import edge_sample
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.db import Connection, Dialect
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import READ_WHOLE

FAILURES_BEFORE: Final = 3
"""How often one file could not be read before."""
TROUBLE: Final = (
    "due/vanished",
    "due/vanished often",
    "due/changed",
    "due/linked folder/secret",
    "due/link",
    "due/pipe",
)
"""Files that a scan saw and that are no longer what it saw."""
SAMPLED_BEFORE: Final = "large/sampled before"
HOSTILE: Final = ("../outside/secret", "due/../../outside/secret", "/etc/hostname")


def hash_files(stage: ScenarioStage) -> None:
    """Have a plane hash one library with each algorithm that it has, the first with candidates only, the second whole."""
    algorithms = [one.value for one in HashAlgorithm if f"hash.{one}" in stage.capabilities]
    if not algorithms:
        raise NotApplicable("the plane lists no hash")
    folders = []
    for number, algorithm in enumerate((algorithms[0], algorithms[-1]), start=1):
        folder = stage.library(number, algorithm=algorithm, hash_policy=("candidates", "all")[number - 1])
        trees.plant_copies(folder)
        folders.append(folder)
    trees.write(folders[1], b"large/only here", b"o" * (READ_WHOLE + 1))
    trees.write(folders[1], SAMPLED_BEFORE.encode(), b"s" * (READ_WHOLE + 2))
    _plant_trouble(folders[0], stage.folder / "outside")
    for number in (1, 2):
        stage.job(f"prepare {number}", "scan", number)
        stage.let_reference_work()
    _cause_trouble(stage, folders[0])
    stage.library(3, folder=stage.folder / "not there", algorithm=algorithms[0])
    stage.file(3, "known", needs_hash=1)
    stage.reach("due")
    stage.start_plane()
    for number in (1, 2, 3):
        stage.job(f"hash {number}", "hash", number)
        stage.wait_for_job(f"hash {number}", "HASH-9")
        stage.reach(f"hash {number}")


def _plant_trouble(folder: Path, outside: Path) -> None:
    for path in TROUBLE:
        trees.write(folder, path.encode(), b"trouble" * 3)
    for name in (b"due/later", b"due/missing"):
        trees.write(folder, name, b"trouble" * 3)
    trees.write(outside, b"secret", b"trouble" * 3)


def _cause_trouble(stage: ScenarioStage, folder: Path) -> None:
    """Change files behind the back of their rows, and rows behind the back of their files."""
    due = folder / "due"
    outside = stage.folder / "outside"
    for name in ("vanished", "vanished often", "link", "pipe"):
        (due / name).unlink()
    trees.write(folder, b"due/changed", b"changed" * 3, trees.OLD_NS + 1)
    (due / "link").symlink_to(outside / "secret")
    os.mkfifo(due / "pipe")
    (due / "linked folder" / "secret").unlink()
    (due / "linked folder").rmdir()
    (due / "linked folder").symlink_to(outside)
    stage.write(
        "UPDATE library_files SET hash_error_count = :count WHERE relative_path = 'due/vanished often'",
        count=FAILURES_BEFORE,
    )
    stage.write(
        "UPDATE library_files SET hash_retry_after = :at WHERE relative_path = 'due/later'", at=stage.now() + HOUR
    )
    stage.write("UPDATE library_files SET is_missing = 1 WHERE relative_path = 'due/missing'")
    _settle_a_twin(stage)
    stage.database.write_blocking(_allow_any_path)
    for path in HOSTILE:
        stage.file(1, path, size_bytes=21, mtime_ns=trees.OLD_NS, needs_hash=1)


def _settle_a_twin(stage: ScenarioStage) -> None:
    """As an earlier job left it: sampled, and without a twin at that time."""
    path = stage.recording.folders[1] / "large/two"
    stage.write(
        "UPDATE library_files SET needs_hash = 0, edge_hash = :sample WHERE library_id = 1 AND relative_path = 'large/two'",
        sample=edge_sample(path),
    )
    # The policy was another one then; it has no twin, and is read all the same.
    stage.write(
        "UPDATE library_files SET needs_hash = 1, edge_hash = :sample WHERE library_id = 2 AND relative_path = :path",
        sample=edge_sample(stage.recording.folders[2] / SAMPLED_BEFORE),
        path=SAMPLED_BEFORE,
    )


def _allow_any_path(conn: Connection) -> None:
    """A row from before the database looked at paths may be there."""
    if conn.dialect is Dialect.POSTGRES:
        conn.script("ALTER TABLE library_files DROP CONSTRAINT path_below_library")
