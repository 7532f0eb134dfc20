"""Hashes: copies, files that only look alike, and rows and files that are not what they were."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.digests import edge_sample, whole_digest
from kurabito.conformance.errors import NotApplicable, ScenarioStuck
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.conformance.subject import LEASE_SECONDS, Subject
from kurabito.db import Connection, Dialect
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import HASH_DOUBLINGS, LONGEST_PATH, READ_WHOLE

PIPE: Final = "due/pipe"
_MOST_NAMED: Final = 5

FAILURES_BEFORE: Final = MappingProxyType(
    {"due/vanished": 0, "due/vanished often": 3, "due/vanished always": HASH_DOUBLINGS + 2}
)
"""How often files could not be read before."""
TROUBLE: Final = (
    *FAILURES_BEFORE,
    "due/changed",
    "due/replaced",
    "due/linked folder/secret",
    "due/link",
    PIPE,
)
"""Files that a scan saw and that are no longer what it saw."""
SAMPLED_BEFORE: Final = "large/sampled before"
READ_BEFORE, MEETS_IT = "large/read before", "large/meets it"
"""A file that was read whole without a sample, and one of its size in another library."""
TOO_LONG: Final = "due/" + "long/" * (LONGEST_PATH // 5) + "secret"
HOSTILE: Final = (
    *("../outside/secret", "due/../../outside/secret", "/etc/hostname"),
    *(f"{TRASH_FOLDER}/secret", TOO_LONG),
)
RELABELLED, REWRITTEN, TOUCHED = 5, 6, 7
"""Libraries with one file that takes a while: the library has another algorithm by then, the row another mtime, or the file."""
WHILE: Final = "takes a while"
_SLOW_FILE: Final = 1 << 30
_OFTEN: Final = 0.01
_BEATS_SELDOM: Final = MappingProxyType({"KURABITO_HEARTBEAT_SECONDS": f"{LEASE_SECONDS / 2:g}"})
"""So that a row which is renewed was renewed by the work."""


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
    for folder, path in zip(folders, (MEETS_IT, READ_BEFORE), strict=True):
        trees.write(folder, path.encode(), b"w" * (READ_WHOLE + 3))
    _plant_trouble(folders[0], stage.folder / "outside")
    for number in (1, 2):
        stage.job(f"prepare {number}", "scan", number)
        stage.let_reference_work()
    _cause_trouble(stage, folders[0])
    stage.library(3, folder=stage.folder / "not there", algorithm=algorithms[0])
    stage.file(3, "known", needs_hash=1)
    in_its_place = stage.folder / "no folder"
    in_its_place.write_bytes(b"a file where a library was")
    stage.library(4, folder=in_its_place, algorithm=algorithms[0])
    stage.file(4, "known", needs_hash=1)
    stage.reach("due")
    stage.recording.seen["tree before"] = trees.listing(folders[0])
    plane = stage.start_plane(**_BEATS_SELDOM)
    for number in (1, 2, 3, 4):
        stage.job(f"hash {number}", "hash", number)
        _wait_for_hash(stage, number)
        stage.reach(f"hash {number}")
    stage.recording.seen["tree after"] = trees.listing(folders[0])
    _change_meanwhile(stage, plane, algorithms[0])


def _wait_for_hash(stage: ScenarioStage, library: int) -> None:
    try:
        stage.wait_for_job(f"hash {library}", "HASH-9")
    except ScenarioStuck as stuck:
        rows = stage.rows("library_files", "library_id = :id AND needs_hash = 1 AND is_missing = 0", id=library)
        left = [row["relative_path"] for row in rows if row["hash_retry_after"] is None]
        # Files may be read in any order, so a pipe that is left is what stopped it sooner than anything else.
        rule = "PATH-5" if PIPE in left else stuck.rule
        told = f"{PIPE!r} is a pipe and was not settled; " if PIPE in left else ""
        raise ScenarioStuck(rule, f"{told}files that were still due: {left[:_MOST_NAMED]}; {stuck.evidence}") from None


def _change_meanwhile(stage: ScenarioStage, plane: Subject, algorithm: str) -> None:
    """Change a file, or what is known of it, while it is read. Had the plane not begun, it would do as it is told now."""
    other = next(one.value for one in HashAlgorithm if one != algorithm)
    for library in (RELABELLED, REWRITTEN, TOUCHED):
        folder = stage.library(library, has_holes=True, algorithm=algorithm, hash_policy="all")
        trees.write_hole(folder, WHILE, _SLOW_FILE)
        seen = (folder / WHILE).stat()
        known = {"size_bytes": seen.st_size, "mtime_ns": seen.st_mtime_ns, "inode": seen.st_ino, "device": seen.st_dev}
        stage.file(library, WHILE, needs_hash=1, **known)
        stage.job(f"hash {library}", "hash", library)
        stage.wait_for_claim(f"hash {library}")
        stage.wait_for(
            partial(_is_under_way, stage, plane, folder / WHILE, library),
            "HASH-9",
            f"a read of {WHILE!r}",
            every=_OFTEN,
        )
        stage.freeze(plane)
        if library == RELABELLED:
            stage.write("UPDATE library_roots SET algorithm = :algorithm WHERE id = :id", algorithm=other, id=library)
        else:
            os.utime(folder / WHILE, ns=(trees.OLD_NS, trees.OLD_NS))
        if library == REWRITTEN:
            stage.write(
                "UPDATE library_files SET mtime_ns = :mtime WHERE library_id = :id", mtime=trees.OLD_NS, id=library
            )
        plane.thaw()
        stage.wait_for_job(f"hash {library}", "HASH-6" if library == TOUCHED else "HASH-7")
        stage.reach(f"hash {library}")


def _is_under_way(stage: ScenarioStage, plane: Subject, path: Path, library: int) -> bool:
    """Whether a file is read, or the job that was to read it is over already."""
    return plane.has_open(path) or not stage.rows("jobs", "id = :id AND status = 'running'", id=f"hash {library}")


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
    for name in (*FAILURES_BEFORE, PIPE, "due/link"):
        (folder / name).unlink()
    # Alike in all but its inode, which is another one while both are there.
    trees.write(folder, b"due/another", b"trouble" * 3)
    (due / "another").rename(due / "replaced")
    trees.write(folder, b"due/changed", b"changed" * 3, trees.OLD_NS + 1)
    (due / "link").symlink_to(outside / "secret")
    os.mkfifo(folder / PIPE)
    (due / "linked folder" / "secret").unlink()
    (due / "linked folder").rmdir()
    (due / "linked folder").symlink_to(outside)
    for path, count in FAILURES_BEFORE.items():
        failed = "UPDATE library_files SET hash_error_count = :count WHERE relative_path = :path"
        stage.write(failed, path=path, count=count)
    stage.write(
        "UPDATE library_files SET hash_retry_after = :at WHERE relative_path = 'due/later'", at=stage.now() + HOUR
    )
    stage.write("UPDATE library_files SET is_missing = 1 WHERE relative_path = 'due/missing'")
    _settle_a_twin(stage)
    _read_a_twin(stage)
    trees.write(folder / TRASH_FOLDER, b"secret", b"trouble" * 3)
    stage.database.write_blocking(allow_any_path)
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


def _read_a_twin(stage: ScenarioStage) -> None:
    """As a plane leaves it that takes no samples."""
    (library,) = stage.rows("library_roots", "id = 2")
    stage.write(
        "UPDATE library_files SET needs_hash = 0, hash_algorithm = :algorithm, content_hash = :content, "
        "hashed_size_bytes = size_bytes, hashed_mtime_ns = mtime_ns, hashed_at = :at "
        "WHERE library_id = 2 AND relative_path = :path",
        algorithm=library["algorithm"],
        content=bytes.fromhex(whole_digest(stage.recording.folders[2] / READ_BEFORE, library["algorithm"])),
        at=stage.now(),
        path=READ_BEFORE,
    )


def allow_any_path(conn: Connection) -> None:
    """A row from before the database looked at paths may be there."""
    if conn.dialect is Dialect.POSTGRES:
        conn.script("ALTER TABLE library_files DROP CONSTRAINT path_below_library")
