"""Files brought into a library by a data plane: hard links against `cp -al` and bare commits, copies against `cp`."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol import planes
from kurabito.protocol.rights import DATA_PLANE
from processes import BenchmarkBroken

COPIED: Final = "GB/s"
_IN_FOLDER: Final = 25
_ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'files', :path, :now, :now)"
)
_ADD = (
    "INSERT INTO placements (library_id, mode, source_root, source_path, size_bytes, source_mtime_ns, target_path, created_at, "
    "updated_at) VALUES (1, :mode, :root, :source, :size, :mtime_ns, :target, :now, :now)"
)
_LEFT = "SELECT count(*) FROM placements WHERE status <> 'completed'"
_TOUCH = "UPDATE library_roots SET updated_at = :now WHERE id = 1"


def run(options: Options) -> Outcome:
    """Measure links and copies, each beside what the system's own program needs."""
    files, size = options.size(10_000, quick=100), options.size(256 << 20, quick=1 << 20)
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-", dir=os.environ.get("BENCH_DISK")) as scratch:
        folder = Path(scratch)
        _make_many(folder / "many", files)
        _make_large(folder / "large", size)
        links = interleave(
            [
                Side(
                    "kurabito",
                    "up to 256 files in a transaction, every folder synced",
                    lambda: link_ours(folder),
                    ours=True,
                ),
                Side(
                    "2x cp -al + commits",
                    "two commits for each file, one of them durable; the links of cp are not synced",
                    lambda: link_theirs(folder, files),
                ),
            ],
            options,
        )
        copies = interleave(
            [
                Side("kurabito", "hashed with BLAKE3 on the way", lambda: copy_ours(folder), ours=True),
                Side(
                    "cp",
                    "--reflink=never, then sync of the file and its folder; ours also commits three times",
                    lambda: copy_theirs(folder),
                ),
            ],
            options,
        )
    rows = [
        compare(f"link {files:,} files", links, "s", " s", Target(1.0, more_is_better=False), options),
        compare(f"copy {size >> 20} MiB", copies, COPIED, " GB/s", Target(0.9), options),
    ]
    return Outcome(rows, settings_of([*links, *copies]))


def link_ours(folder: Path) -> Mapping[str, float]:
    """Placements of every file, from the claim to the finish."""
    return {"s": _place(folder, folder / "many", "link")}


def link_theirs(folder: Path, files: int) -> Mapping[str, float]:
    """Twice what `cp -al` needs, and as many commits as placements make."""
    with _scratch(folder) as scratch:
        os.sync()
        began = time.perf_counter()
        subprocess.run(["cp", "-al", str(folder / "many"), str(scratch / "linked")], check=True)
        linking = time.perf_counter() - began
    with _database(folder) as (database, _, _):
        began = time.perf_counter()
        for _ in range(files):
            database.write_blocking(lambda conn: conn.run(_TOUCH), durable=False)
            database.write_blocking(lambda conn: conn.run(_TOUCH))
        commits = time.perf_counter() - began
    return {"s": 2 * linking + commits}


def copy_ours(folder: Path) -> Mapping[str, float]:
    """A placement of one large file."""
    size = sum(path.stat().st_size for path in (folder / "large").iterdir())
    return {COPIED: size / _place(folder, folder / "large", "copy") / 1e9}


def copy_theirs(folder: Path) -> Mapping[str, float]:
    """The same by `cp`, on the disk as ours is."""
    (source,) = (folder / "large").iterdir()
    with _scratch(folder) as scratch:
        target = scratch / "copied"
        os.sync()
        began = time.perf_counter()
        subprocess.run(["cp", "--reflink=never", str(source), str(target)], check=True)
        subprocess.run(["sync", str(target), str(scratch)], check=True)
        seconds = time.perf_counter() - began
    return {COPIED: source.stat().st_size / seconds / 1e9}


def _place(folder: Path, source: Path, mode: str) -> float:
    with _database(folder) as (database, plane, library):
        database.write_blocking(lambda conn: _ask(conn, source, mode))
        runner = Runner(plane, PlacementWork(), name="bench")
        # What others wrote is not waited for in our time.
        os.sync()
        began = time.perf_counter()
        while runner.work():
            pass
        seconds = time.perf_counter() - began
        left = database.read_blocking(lambda conn: conn.value(_LEFT))
        if left or not any(library.iterdir()):
            raise BenchmarkBroken(f"{left} files were not placed")
    return seconds


def _ask(conn: Connection, source: Path, mode: str) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            found, name = path.stat(), str(path.relative_to(source))
            seen = {"size": found.st_size, "mtime_ns": found.st_mtime_ns}
            conn.run(_ADD, {"mode": mode, "root": str(source), "source": name, "target": name, **seen})


@contextmanager
def _database(folder: Path) -> Iterator[tuple[Database, Database, Path]]:
    with _scratch(folder) as scratch:
        url, library = f"sqlite:///{scratch}/bench.db", scratch / "library"
        library.mkdir()
        database, plane = open_database(url), open_database(url, rights=DATA_PLANE)
        database.open()
        migrate(database, PRODUCT)
        database.write_blocking(lambda conn: conn.run(_ADD_LIBRARY, {"path": str(library)}))
        plane.open()
        plane.write_blocking(lambda conn: planes.announce(conn, "bench", [], "1", 3600.0))
        yield database, plane, library
        plane.close()
        database.close()


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder on the same disk."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        yield Path(scratch)


def _make_many(folder: Path, files: int) -> None:
    for number in range(files):
        path = folder / f"Show {number // _IN_FOLDER}" / f"Episode {number % _IN_FOLDER:02}.mkv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % number)


def _make_large(folder: Path, size: int) -> None:
    folder.mkdir()
    block = os.urandom(1 << 20)
    with (folder / "large.mkv").open("wb") as file:
        for _ in range(size >> 20):
            file.write(block)


if __name__ == "__main__":
    run_alone("placing", run)
