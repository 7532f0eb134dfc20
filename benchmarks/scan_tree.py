"""A scan of 200,000 files, from the claim of its job to its end, against `find -printf` of the same tree.

Most of the files are small and share their size with others, as subtitles and pictures do; the rest are large and unique.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Final

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.dataplane import garbage
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.dataplane.scan.walkers import Walkers
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE
from processes import BenchmarkBroken

FIRST: Final = Target(3.0, more_is_better=False)
RESCAN: Final = Target(2.0, more_is_better=False)
_PER_FOLDER: Final = 20
_ADD_LIBRARY: Final = (
    "INSERT INTO library_roots (name, root_path, created_at, updated_at) VALUES ('tree', :path, :now, :now)"
)
_ADD_JOB: Final = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES (:id, 'scan', 1, :now, :now)"


def run(options: Options) -> Outcome:
    """A first scan and one of a library that did not change, each in turn with `find`."""
    files = options.size(200_000, quick=2000)
    # As a data plane does at its start.
    garbage.look_rarely()
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as name:
        folder = Path(name)
        _make_tree(folder / "tree", files)
        # No side pays for what another finds in the cache.
        _find(folder)
        with _library(folder, "known") as known:
            _scan(known, files)
            sides = [
                Side("find", "find -printf '%P %s %T@ %i %D'", lambda: timed(lambda: _find(folder))),
                Side("first scan", "SQLite, empty before", lambda: _first(folder, files), ours=True),
                Side("rescan", "SQLite, nothing changed", lambda: _scan(known, files), ours=True),
            ]
            found, first, again = interleave(sides, options, turns=3)
    rows = [
        compare(f"scan {files:,} files", [first, found], "s", " s", FIRST, options),
        compare(f"rescan {files:,} files, nothing changed", [again, found], "s", " s", RESCAN, options),
    ]
    return Outcome(rows, settings_of([found, first, again]))


def _make_tree(root: Path, files: int) -> None:
    chance = random.Random(4)
    for number in range(files):
        place = number // _PER_FOLDER
        folder = root / f"show {place // 40:04}" / f"season {place % 40:02}"
        if number % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        size = chance.randrange(1, 5000) if number % 2 else chance.randrange(10**8, 10**9)
        # A file with a hole: it takes no room.
        with (folder / f"episode {number:06} [1080p].mkv").open("wb") as file:
            os.truncate(file.fileno(), size)


def _find(folder: Path) -> None:
    subprocess.run(
        ["find", str(folder / "tree"), "-printf", "%P\\t%s\\t%T@\\t%i\\t%D\\n"], stdout=subprocess.DEVNULL, check=True
    )


def timed(work: Callable[[], object]) -> dict[str, float]:
    """How long it took, and what it cost the processors: that says more on a machine that is busy with something else."""
    spent, began = _spent(), time.perf_counter()
    work()
    return {"s": time.perf_counter() - began, "s of CPU": _spent() - spent}


def _spent() -> float:
    """What this process used of the processors, and those that it started and that have ended."""
    used = [getrusage(whose) for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _first(folder: Path, files: int) -> dict[str, float]:
    with _library(folder, uuid.uuid4().hex) as library:
        return _scan(library, files)


@dataclass(frozen=True)
class _Library:
    """A database of its own, with the tree as its only library."""

    owner: Database
    plane: Database
    state: Path


@contextmanager
def _library(folder: Path, name: str) -> Iterator[_Library]:
    url = f"sqlite:///{folder / name}.db"
    with ExitStack() as stack:
        for file in (f"{name}.db", f"{name}.db-wal", f"{name}.db-shm"):
            stack.callback((folder / file).unlink, missing_ok=True)
        owner, plane = open_database(url), open_database(url, rights=DATA_PLANE)
        owner.open()
        stack.callback(owner.close)
        migrate(owner, PRODUCT)
        owner.write_blocking(lambda conn: conn.run(_ADD_LIBRARY, {"path": str(folder / "tree")}))
        plane.open()
        stack.callback(plane.close)
        plane.write_blocking(lambda conn: planes.announce(conn, "benchmark", [], "1", 3600.0))
        yield _Library(owner, plane, folder / "state")


def _scan(library: _Library, files: int) -> dict[str, float]:
    library.owner.write_blocking(lambda conn: conn.run(_ADD_JOB, {"id": uuid.uuid4().hex}))
    walkers = Walkers()
    scanner = Scanner(library.state, walkers=walkers)

    def scan() -> None:
        Runner(library.plane, JobWork({JobKind.SCAN: scanner}), name="benchmark").work()
        # What the processes that help used of the processors counts once they have ended.
        walkers.close()

    figures = timed(scan)
    if library.owner.read_blocking(_known) != (files, files):
        raise BenchmarkBroken(f"the scan did not find {files} files")
    return figures


def _known(conn: Connection) -> tuple[int, ...] | None:
    return conn.one(
        "SELECT (SELECT count(*) FROM library_files WHERE is_missing = 0), "
        "(SELECT files_seen FROM scan_sessions ORDER BY id DESC LIMIT 1)"
    )


if __name__ == "__main__":
    run_alone("scan_tree", run)
