"""What the guards of the database cost: a first scan and a hash of small files, with them and without them, in turn.

Only SQLite has guards that are triggers; without them is as the file was before they came. Both sides do the same work.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.conformance.journal import remove_guards
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import Executor, JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.dataplane.scan.walkers import Walkers
from kurabito.db import Connection, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE
from processes import BenchmarkBroken
from scan_tree import timed

COST: Final = Target(1.05, more_is_better=False)
"""With guards both cost the processors at most so much of what they do without them."""
CPU: Final = "s of CPU"
"""Both sides wait for the disk alike, so that a clock on the wall would only show what else the machine does."""
_ADD_LIBRARY: Final = (
    "INSERT INTO library_roots (id, name, root_path, hash_policy, created_at, updated_at) "
    "VALUES (1, 'tree', :path, 'all', :now, :now)"
)
_ADD_JOB: Final = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES (:id, :kind, 1, :now, :now)"
_INSERTED: Final = "tr_library_files_inserted"
_LOOKED_AT: Final = "new.content_hash IS NOT NULL OR new.hash_algorithm IS NOT NULL"
"""When that trigger had something to do before it was a guard, too."""


def run(options: Options) -> Outcome:
    """Measure all four."""
    files = options.size(50_000, quick=1000)
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as name:
        tree = Path(name) / "tree"
        _make_tree(tree, files)
        hashing = HashFiles()
        sides = [
            Side("scan, guarded", "SQLite", lambda: _scan(tree, files, guarded=True), ours=True),
            Side("scan, unguarded", "SQLite", lambda: _scan(tree, files, guarded=False)),
            Side("hash, guarded", "SQLite", lambda: _hash(tree, files, hashing, guarded=True), ours=True),
            Side("hash, unguarded", "SQLite", lambda: _hash(tree, files, hashing, guarded=False)),
        ]
        measured = interleave(sides, options)
    rows = [
        compare(f"{kind} {files:,} small files with guards and without", pair, CPU, f" {CPU}", COST, options)
        for kind, pair in (("scan", measured[:2]), ("hash", measured[2:]))
    ]
    return Outcome(rows, settings_of(measured))


def _make_tree(tree: Path, files: int) -> None:
    for number in range(files):
        folder = tree / f"{number // 100:04}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"episode {number:06}.srt").write_bytes(b"%d" % number)


def _scan(tree: Path, files: int, *, guarded: bool) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder, _Library(folder, tree, guarded) as library:
        figures = library.scan(Path(folder) / "state")
        library.expect("needs_hash = 1", files)
    return figures


def _hash(tree: Path, files: int, hashing: HashFiles, *, guarded: bool) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder, _Library(folder, tree, guarded) as library:
        library.scan(Path(folder) / "state")
        figures = library.measure(JobKind.HASH, hashing)
        library.expect("content_hash IS NOT NULL", files)
    return figures


class _Library(ExitStack):
    """A database of its own, with the tree as its only library."""

    def __init__(self, folder: str, tree: Path, guarded: bool) -> None:
        super().__init__()
        url = f"sqlite:///{folder}/guards.db"
        self._owner, self._plane = open_database(url), open_database(url, rights=DATA_PLANE)
        self._owner.open()
        self.callback(self._owner.close)
        migrate(self._owner, PRODUCT)
        if not guarded:
            self._owner.write_blocking(_remove_guards)
        self._owner.write_blocking(lambda conn: conn.run(_ADD_LIBRARY, {"path": str(tree)}))
        self._plane.open()
        self.callback(self._plane.close)
        self._plane.write_blocking(lambda conn: planes.announce(conn, "benchmark", [], "1", 3600.0))

    def scan(self, state: Path) -> Mapping[str, float]:
        """How long a scan takes, with the processes that help it."""
        walkers = Walkers()
        return self.measure(JobKind.SCAN, Scanner(state, walkers=walkers), walkers.close)

    def measure(self, kind: JobKind, executor: Executor, end: Callable[[], None] | None = None) -> Mapping[str, float]:
        """How long a job takes, from its claim to its end."""
        values = {"id": uuid.uuid4().hex, "kind": kind.value}
        self._owner.write_blocking(lambda conn: conn.run(_ADD_JOB, values))

        def work() -> None:
            Runner(self._plane, JobWork({kind: executor}), name="benchmark").work()
            if end is not None:
                end()

        return timed(work)

    def expect(self, condition: str, files: int) -> None:
        """Raise BenchmarkBroken unless so many files are as they should be."""
        counted = f"SELECT count(*) FROM library_files WHERE {condition}"
        if (found := self._owner.read_blocking(lambda conn: conn.value(counted))) != files:
            raise BenchmarkBroken(f"{found} of {files} files have {condition}")


def _remove_guards(conn: Connection) -> None:
    """Have the file as it was before: what refuses goes, and what keeps tables in step stays."""
    remove_guards(conn)
    text = str(conn.value(f"SELECT sql FROM sqlite_master WHERE name = '{_INSERTED}'"))
    head, _, body = text.partition("BEGIN")
    conn.script(f"DROP TRIGGER {_INSERTED}")
    conn.script(f"{head.partition('WHEN')[0]}WHEN {_LOOKED_AT} BEGIN{body}")


if __name__ == "__main__":
    run_alone("guards", run)
