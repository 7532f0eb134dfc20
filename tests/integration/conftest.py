"""Libraries in real folders, known to a real database of each kind."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.planes import register

from kurabito.clock import ManualClock
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.library.deletion import policy
from kurabito.protocol.rights import DATA_PLANE

ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (:id, :name, :path, :now, :now)"
)
ADD_FILE = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
VALUES (:library_id, :path, :size, :mtime_ns, :device, :inode, 0, 0, 'sha256', :hash, :now, :now)
RETURNING id
"""


@dataclass
class Shelf:
    """Libraries 1 and 2, in folders of the test's own."""

    database: Database
    plane: Database
    folder: Path
    clock: ManualClock

    def path(self, name: str, library: int = 1) -> Path:
        return self.folder / f"library{library}" / name

    def put(self, name: str, content: bytes = b"the same", *, library: int = 1, mtime: int = 1_000) -> int:
        """Write a file and have it known; its id."""
        path = self.path(name, library)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, ns=(mtime * 10**9, mtime * 10**9))
        return self.know(name, library)

    def know(self, name: str, library: int = 1) -> int:
        """Have a file known as it is now, as a scan and a hash would; its id."""
        path = self.path(name, library)
        found = path.stat()
        values = {
            "library_id": library,
            "path": name,
            "size": found.st_size,
            "mtime_ns": found.st_mtime_ns,
            "device": found.st_dev,
            "inode": found.st_ino,
            "hash": hashlib.sha256(path.read_bytes()).digest(),
        }
        row = self.database.write_blocking(lambda conn: conn.one(ADD_FILE, values))
        assert row is not None
        return int(row[0])

    def allow_delete(self, allowed: bool) -> None:
        """Store what a control plane stores when it starts."""
        self.database.write_blocking(lambda conn: policy.store(conn, allowed=allowed))

    def run(self, sql: str, **values: Any) -> int:
        return self.database.write_blocking(lambda conn: conn.run(sql, values))

    def all(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.database.read_blocking(lambda conn: conn.all(sql, values))


@pytest.fixture
def shelf(url: str, tmp_path: Path) -> Iterator[Shelf]:
    clock = ManualClock()
    database, plane = open_database(url, clock=clock), open_database(url, clock=clock, rights=DATA_PLANE)
    database.open()
    migrate(database, PRODUCT)
    plane.open()
    shelf = Shelf(database, plane, tmp_path, clock)
    for number in (1, 2):
        folder = tmp_path / f"library{number}"
        folder.mkdir()
        shelf.run(ADD_LIBRARY, id=number, name=f"library {number}", path=str(folder))
    shelf.allow_delete(True)
    for name in ("plane", "p", "dead"):
        register(database, name)
    yield shelf
    plane.close()
    database.close()
