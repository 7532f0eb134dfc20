"""A hash job over large files, from its claim to its finish, against `b3sum` on the same files in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Connection, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE
from processes import BenchmarkBroken

_ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, hash_policy, created_at, updated_at) "
    "VALUES (1, 'files', :path, 'all', :now, :now)"
)
_ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, inode, device, created_at, updated_at) "
    "VALUES (1, :path, :size, :mtime, :inode, :device, :now, :now)"
)
_ADD_JOB = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES ('job', 'hash', 1, :now, :now)"
_HASHES = "SELECT relative_path, content_hash FROM library_files"


def run(options: Options) -> Outcome:
    """Measure both sides."""
    files, size = options.size(300, quick=8), 8 << 20
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        folder = Path(scratch) / "files"
        folder.mkdir()
        for number in range(files):
            (folder / f"{number:03}.bin").write_bytes(os.urandom(size))
        expected = _hashes_by_b3sum(folder) if shutil.which("b3sum") else None
        executor = HashFiles()
        settings = "a process per core, kept from one job to the next"
        sides = [Side("kurabito", settings, lambda: ours(folder, expected, executor), ours=True)]
        if expected is not None and not options.ours_only:
            sides.append(Side("b3sum", "its defaults", lambda: b3sum(folder)))
        measured = interleave(sides, options)
    workload = f"hash {files} files of {size >> 20} MiB"
    return Outcome([compare(workload, measured, "GB/s", " GB/s", Target(1.0), options)], settings_of(measured))


def ours(folder: Path, expected: Mapping[str, str] | None, executor: HashFiles) -> Mapping[str, float]:
    """One hash job in a database of its own."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        url = f"sqlite:///{scratch}/files.db"
        database, plane = open_database(url), open_database(url, rights=DATA_PLANE)
        database.open()
        migrate(database, PRODUCT)
        database.write_blocking(lambda conn: _fill(conn, folder))
        plane.open()
        plane.write_blocking(lambda conn: planes.announce(conn, "bench", [], "1", 3600.0))
        began = time.perf_counter()
        Runner(plane, JobWork({JobKind.HASH: executor}), name="bench").work()
        seconds = time.perf_counter() - began
        found = {path: content.hex() for path, content in database.read_blocking(lambda conn: conn.all(_HASHES))}
        plane.close()
        database.close()
    if expected is not None and found != expected:
        raise BenchmarkBroken("the hashes are not those of b3sum")
    return {"GB/s": _size(folder) / seconds / 1e9}


def b3sum(folder: Path) -> Mapping[str, float]:
    """The same files, all named on one command line."""
    began = time.perf_counter()
    _hashes_by_b3sum(folder)
    return {"GB/s": _size(folder) / (time.perf_counter() - began) / 1e9}


def _hashes_by_b3sum(folder: Path) -> dict[str, str]:
    names = sorted(path.name for path in folder.iterdir())
    output = subprocess.run(["b3sum", *names], cwd=folder, check=True, capture_output=True, text=True).stdout
    return {name: digest for digest, name in (line.split("  ", 1) for line in output.splitlines())}


def _fill(conn: Connection, folder: Path) -> None:
    conn.run(_ADD_LIBRARY, {"path": str(folder)})
    for path in folder.iterdir():
        seen = path.stat()
        conn.run(
            _ADD_FILE,
            {
                "path": path.name,
                "size": seen.st_size,
                "mtime": seen.st_mtime_ns,
                "inode": seen.st_ino,
                "device": seen.st_dev,
            },
        )
    conn.run(_ADD_JOB)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


if __name__ == "__main__":
    run_alone("hash_files", run)
