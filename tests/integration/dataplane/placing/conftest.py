"""Downloads in a folder of their own, and a data plane that brings them into libraries."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.placing.work import PlacementWork

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

ADD = """
INSERT INTO placements (library_id, mode, fallbacks, source_root, source_path, size_bytes, source_mtime_ns, target_path, content,
                        reserve_bytes, replaces_path, replaces_size_bytes, replaces_mtime_ns, trash_id, created_at, updated_at)
VALUES (:library, :mode, :fallbacks, :root, :source, :size, :mtime_ns, :target, :content, :reserve, :replaces, :old_size,
        :old_mtime_ns, :trash_id, :now, :now)
RETURNING id
"""


@dataclass
class Desk:
    """Files that were downloaded, and the libraries that they go into."""

    shelf: Shelf
    downloads: Path

    def download(self, name: str, content: bytes = b"episode one") -> Path:
        path = self.downloads / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def ask(
        self,
        source: Path | None,
        target: str,
        *modes: str,
        library: int = 1,
        content: bytes | None = None,
        reserve: int = 0,
        within: bool = False,
        replaces: Path | None = None,
    ) -> int:
        """Want a file placed; with `within` the source is one of the library's own."""
        old = None if replaces is None else replaces.stat()
        found = None if source is None else source.stat()
        root = None if source is None or within else self.downloads
        base = self.shelf.path("", library) if within else self.downloads
        values = {
            "library": library,
            "mode": modes[0],
            "fallbacks": json.dumps(modes[1:]),
            "root": None if root is None else str(root),
            "source": None if source is None else str(source.relative_to(base)),
            "size": len(content or b"") if found is None else found.st_size,
            "mtime_ns": found and found.st_mtime_ns,
            "target": target,
            "content": content,
            "reserve": reserve,
            "replaces": None if replaces is None else str(replaces.relative_to(self.shelf.path("", library))),
            "old_size": old and old.st_size,
            "old_mtime_ns": old and old.st_mtime_ns,
            "trash_id": None if replaces is None else uuid4().hex,
        }
        row = self.shelf.database.write_blocking(lambda conn: conn.one(ADD, values))
        assert row is not None
        return int(row[0])

    def runner(self, name: str = "plane") -> Runner[Any]:
        return Runner(self.shelf.plane, PlacementWork(), name=name, heartbeat=60.0)

    def work(self) -> None:
        """Have everything done that is due."""
        self.runner().work()

    def row(self, placement: int) -> dict[str, Any]:
        names = "status, method, error_code, error_facts, tries, retry_after, lost_leases, content_hash"
        ((*values,),) = self.shelf.all(f"SELECT {names} FROM placements WHERE id = :id", id=placement)
        row = dict(zip(names.split(", "), values, strict=True))
        return {**row, "error_facts": json.loads(row["error_facts"] or "{}")}

    def outcome(self, placement: int) -> tuple[Any, ...]:
        row = self.row(placement)
        return row["status"], row["method"], row["error_code"]

    def names(self, library: int = 1) -> set[str]:
        """The names of all files of a library, hidden ones too."""
        root = self.shelf.path("", library)
        return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}

    def known(self, library: int = 1) -> dict[str, tuple[Any, ...]]:
        sql = "SELECT relative_path, size_bytes, needs_hash, content_hash FROM library_files WHERE library_id = :id AND is_missing = 0"
        return {path: tuple(rest) for path, *rest in self.shelf.all(sql, id=library)}


@pytest.fixture
def desk(shelf: Shelf) -> Desk:
    folder = shelf.folder / "downloads"
    folder.mkdir()
    return Desk(shelf, folder)


@pytest.fixture
def small_disk(desk: Desk) -> Iterator[Path]:
    """The first library on a file system of its own, with room for 1 MiB."""
    folder = desk.shelf.path("", 1)
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
