"""Scans: of a tree that has something of everything, of the same tree after changes, and of folders that are gone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance import trees
from kurabito.conformance.scenarios import rescans
from kurabito.conformance.stage import ScenarioStage, listed

HOUR: Final = 3600 * SECOND
HASHED: Final = {
    "hash_algorithm": "blake3",
    "content_hash": bytes(range(32)),
    "edge_hash": bytes(32),
    "shared_inode": 7,
    "needs_hash": 0,
}
"""What the kit gives files before the second scan, to see where it stays."""
RETURNED: Final = ("raw/a.mkv", "a.PART", "keep.tmp")
"""Files that were missing and are there again: as it was, as another file, and one that may be either."""
LINKS: Final = ("links/1", "links/2")
"""Two names of one file, which move."""
MOVES: Final = {"before": HOUR, "after": -HOUR, "near": 0}
"""When a file that moves was last known, as the kit says, by what its birth is then."""


def scan(stage: ScenarioStage) -> None:
    """Have every kind of scan done by one plane."""
    stage.needs("scan")
    # A later minor version only adds: what a plane does not know must not disturb it.
    stage.write("UPDATE protocol_version SET minor = 7")
    for table in ("library_files", "library_roots", "jobs", "scan_sessions"):
        stage.write(f"ALTER TABLE {table} ADD COLUMN of_a_later_version text")
    folder = stage.library(1, ignored=listed(trees.IGNORED))
    stage.recording.planted = trees.plant_odd_tree(folder, stage.folder / "outside")
    _move_state_into(stage, folder)
    _add_links_and_folders(stage, folder)
    other = stage.library(2)
    trees.write(other, b"of the same size", b"q" * 100)
    stage.job("other", "scan", 2)
    stage.let_reference_work()
    # Of a job that is over: its session is ended by the next scan of the library.
    stage.insert("scan_sessions", job_id="elsewhere", library_id=1, started_at=stage.now() - HOUR)
    stage.insert("scan_sessions", job_id="of another library", library_id=2, started_at=stage.now() - HOUR)
    stage.recording.seen["tree before"] = trees.listing(folder, besides=stage.state)
    stage.start_plane()
    scan_as(stage, "first", 1, "VER-3")
    stage.recording.seen["tree after"] = trees.listing(folder, besides=stage.state)
    _change(stage, folder)
    # What one counted that failed is no count of the library.
    counted = {"total_paths": 1, "started_at": stage.now(), "finished_at": stage.now()}
    stage.insert("scan_sessions", job_id="failed", library_id=1, status="failed", **counted)
    scan_as(stage, "second", 1)
    _scan_what_is_gone(stage)
    _go_on(stage)
    rescans.scan_again(stage)


def scan_as(stage: ScenarioStage, name: str, library: int, rule: str = "JOB-3") -> None:
    """Have a library scanned by a job of this name, and keep what came of it."""
    stage.job(name, "scan", library)
    stage.wait_for_job(name, rule)
    stage.reach(name)


def _move_state_into(stage: ScenarioStage, folder: Path) -> None:
    """The state folder may lie anywhere, also in a library."""
    stage.state = folder / "state of kurabito"
    stage.state.mkdir()
    trees.write(stage.state, b"thumbs/a.jpg", b"no file of a library")
    stage.recording.planted.append(trees.Planted(b"state of kurabito/thumbs/a.jpg", None, "SCAN-4"))


def _add_links_and_folders(stage: ScenarioStage, folder: Path) -> None:
    """One file with two names; and folders behind the last file, which count like others."""
    first, second = LINKS
    trees.write(folder, first.encode(), b"a file with two names")
    (folder / second).hardlink_to(folder / first)
    stage.recording.planted += [trees.Planted(name.encode(), name, "SCAN-4") for name in LINKS]
    (folder / "\U0001f4c1" / "in it").mkdir(parents=True)


def _change(stage: ScenarioStage, folder: Path) -> None:
    """Change, remove, move and bring back files between two scans."""
    now = stage.now()
    # As long ago as what the kit writes: a plane that does not renew this time is seen.
    stage.write("UPDATE library_files SET updated_at = :at", at=now - HOUR)
    assigned = ", ".join(f"{name} = :{name}" for name in HASHED)
    for path in (
        "a.mkv",
        "plain.mkv",
        "a0",
        "deep/er/and/deeper/x.bin",
        ".hidden",
        "c1.log",
        *RETURNED,
        "back\\slash",
    ):
        stage.write(
            f"UPDATE library_files SET {assigned}, hashed_at = :at WHERE library_id = 1 AND relative_path = :path",
            **HASHED,
            at=now + HOUR,
            path=path,
        )
    trees.write(folder, b"a.mkv", b"changed" * 30, trees.OLD_NS + 1)
    (folder / "plain.mkv").unlink()
    # As if it had been put back while the scan went on.
    (folder / "c1.log").unlink()
    stage.write("UPDATE library_files SET updated_at = :at WHERE relative_path = 'c1.log'", at=now + HOUR)
    (folder / "moved").mkdir()
    for path, (birth, moment) in zip(("a0", "deep/er/and/deeper/x.bin", ".hidden"), MOVES.items(), strict=True):
        (folder / path).rename(folder / "moved" / birth)
        stage.write("UPDATE library_files SET hashed_at = :at WHERE relative_path = :path", at=now + moment, path=path)
    for number, path in enumerate(LINKS, start=1):
        (folder / path).rename(folder / "moved" / f"link {number}")
    for path in RETURNED:
        stage.write("UPDATE library_files SET is_missing = 1 WHERE relative_path = :path", path=path)
    stage.write("UPDATE library_files SET hashed_at = :at WHERE relative_path = 'keep.tmp'", at=now)
    trees.write(folder, b"a.PART", b"another file", trees.OLD_NS + 2)
    trees.write(folder, b"new", b"n" * 77)
    # In a database that was taken over from another program these may not be there.
    stage.write("UPDATE library_files SET inode = NULL, device = NULL WHERE relative_path = 'back\\slash'")
    # A file that shares its size with no other one has no use for a hash, and would lose it.
    for row in stage.rows("library_files", "library_id = 1 AND content_hash IS NOT NULL"):
        trees.write(folder, b"partners/%d" % row["id"], b"p" * row["size_bytes"])
    for path in ("a.mkv", "a.PART"):
        trees.write(folder, f"partners/of {path}".encode(), b"p" * (folder / path).stat().st_size)


def _scan_what_is_gone(stage: ScenarioStage) -> None:
    """Folders that are empty or not there, though files of them are known; and a library that is gone itself."""
    stage.library(3)
    stage.file(3, "known.mkv")
    scan_as(stage, "empty", 3)
    (stage.recording.folders[3] / "only" / "folders").mkdir(parents=True)
    scan_as(stage, "only folders", 3)
    stage.library(4, folder=stage.folder / "never there")
    stage.file(4, "known.mkv")
    scan_as(stage, "unavailable", 4)
    scan_as(stage, "removed", 999)


def _go_on(stage: ScenarioStage) -> None:
    """Jobs whose earlier owner died: one after everything but the last word, one in the middle of its walk."""
    now = stage.now()
    # The jobs that an earlier owner had are claimed like others.
    stage.insert(
        "scan_sessions", job_id="said", library_id=1, status="succeeded", started_at=now, finished_at=now, files_seen=5
    )
    scan_as(stage, "said", 1)
    folder = stage.library(5)
    for name in (b"a", b"z"):
        trees.write(folder, name, b"resumed")
    earlier = os.stat(folder / "a")  # noqa: PTH116
    known = {"size_bytes": 7, "mtime_ns": trees.OLD_NS, "inode": earlier.st_ino, "device": earlier.st_dev}
    # Not as it is on the disk: behind `resume_after` it is not looked at any more.
    stage.file(5, "a", **{**known, "size_bytes": 5})
    stage.insert(
        "scan_sessions", job_id="resumed", library_id=5, started_at=now, files_seen=1, bytes_seen=7, resume_after="m"
    )
    scan_as(stage, "resumed", 5)
