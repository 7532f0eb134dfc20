"""Whatever happens on the disk between scans, afterwards the table equals the tree."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Dying, Shelf

PATHS = ["a", "b.mkv", "c.mkv", "a/b.mkv", "a/c/d.mkv", "a0", "é/x.mkv", "e/f/g.mkv", "e/f.mkv"]

path = st.sampled_from(PATHS)
step = st.one_of(
    st.tuples(st.just("write"), path, st.integers(0, 4)),
    st.tuples(st.just("touch"), path, st.just(0)),
    st.tuples(st.just("remove"), path, st.just(0)),
    st.tuples(st.just("move"), path, path),
    st.tuples(st.just("link"), path, path),
    st.tuples(st.just("scan"), st.just(""), st.integers(0, 8)),
    st.tuples(st.just("hash"), st.just(""), st.just(0)),
)
Step = tuple[str, str, int | str]


class Disk:
    """Does things to files; every change of a file gives it another time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._time = 1

    def do(self, what: str, path: str, how: int | str) -> None:
        target = self.folder / path
        try:
            match what:
                case "write":
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self._time += 1
                    target.write_bytes((str(self._time) * 9)[: int(how)].encode())
                    os.utime(target, ns=(0, self._time))
                case "touch":
                    self._time += 1
                    os.utime(target, ns=(0, self._time))
                case "remove" if target.is_dir():
                    shutil.rmtree(target)
                case "remove":
                    target.unlink()
                case "move":
                    (self.folder / str(how)).parent.mkdir(parents=True, exist_ok=True)
                    target.rename(self.folder / str(how))
                case "link":
                    (self.folder / str(how)).parent.mkdir(parents=True, exist_ok=True)
                    os.link(target, self.folder / str(how))
        except OSError:
            # There is no such file, or a folder where one should be: then nothing happens.
            pass


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(step, max_size=25))
def test_after_any_sequence_of_changes_and_scans_the_table_equals_the_tree(
    shelf: Shelf, dying: type[Dying], steps: list[Step]
) -> None:
    shutil.rmtree(shelf.folder)
    shelf.folder.mkdir()
    for table in ("library_files", "scan_sessions", "scan_findings", "jobs"):
        shelf.change(f"DELETE FROM {table}")
    disk = Disk(shelf.folder)
    for what, path, how in [*steps, ("scan", "", 0)]:
        if what == "scan":
            scan_and_check(shelf, dying, int(how))
        elif what == "hash":
            hash_files(shelf)
        else:
            disk.do(what, path, how)


def scan_and_check(shelf: Shelf, dying: type[Dying], dies_after: int) -> None:
    before = shelf.known()
    job = shelf.begin()
    if dies_after:
        scanner = dying(shelf.state, transactions=dies_after, chunk=2)
        shelf.work(scanner)
        if scanner.left < 0:
            shelf.again(job)
            shelf.work()
    else:
        shelf.work()
    ((status, code),) = shelf.ask("SELECT status, error_code FROM jobs WHERE id = :id", id=job)
    if before and not shelf.on_disk():
        assert (status, code) == ("failed", "ROOT_EMPTY")
        assert shelf.known() == before
        return
    assert (status, code) == ("completed", None)
    assert shelf.known() == shelf.on_disk()
    assert shelf.ask("SELECT * FROM scan_findings") == []
    check_hashes(shelf)


def check_hashes(shelf: Shelf) -> None:
    rows = shelf.files("size_bytes, needs_hash, content_hash")
    sizes = Counter(size for size, _, _ in rows.values())
    for path, (size, needs_hash, content_hash) in rows.items():
        if size and sizes[size] > 1:
            assert bool(needs_hash) == (content_hash is None)
        else:
            assert (needs_hash, content_hash) == (0, None)
        if content_hash is not None:
            assert content_hash == sha256((shelf.folder / path).read_bytes()).digest()


def hash_files(shelf: Shelf) -> None:
    """As a hash job would, where the file is still what the scan saw."""
    for path, cells in shelf.files("size_bytes, mtime_ns, inode, device", "is_missing = 0 AND needs_hash = 1").items():
        if shelf.on_disk().get(path) == cells:
            digest = sha256((shelf.folder / path).read_bytes()).digest()
            shelf.change(
                "UPDATE library_files SET needs_hash = 0, hash_algorithm = 'sha256', content_hash = :digest "
                "WHERE library_id = :library AND relative_path = :path",
                digest=digest,
                library=shelf.id,
                path=path,
            )
