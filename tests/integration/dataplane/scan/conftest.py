"""A library in a real folder, in both databases, and a data plane that may write what a data plane may."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.planes import register

from kurabito.clock import SECOND, ManualClock, SystemClock
from kurabito.dataplane.files.paths import as_text
from kurabito.dataplane.jobs import JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.dataplane.scan.walkers import Walkers
from kurabito.db import Connection, Database, Dialect, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import grants
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE, READABLE

ROLE = "kurabito_dataplane"
ADD_LIBRARY = (
    "INSERT INTO library_roots (name, root_path, hash_policy, ignored, created_at, updated_at) "
    "VALUES (:name, :path, :policy, :ignored, :now, :now)"
)
ADD_JOB = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES (:id, 'scan', :library, :now, :now)"
WALKERS = Walkers(1, few=2)
"""A process that helps with all scans here, however small they are."""


class Shelf:
    """One library and its folder."""

    def __init__(self, database: Database, plane: Database, folder: Path, clock: ManualClock) -> None:
        self.database = database
        self.plane = plane
        self.folder = folder
        self.state = folder.parent / "state"
        self.clock = clock
        self.id = 0
        register(database)

    def add_library(self, name: str, *, policy: str = "candidates", ignored: str = "[]") -> None:
        self.folder.mkdir(exist_ok=True)
        values = {"name": name, "path": as_text(str(self.folder)), "policy": policy, "ignored": ignored}
        self.database.write_blocking(lambda conn: conn.run(ADD_LIBRARY, values))
        ((self.id,),) = self.ask("SELECT id FROM library_roots WHERE name = :name", name=name)

    def write(self, path: str | bytes, content: bytes = b"x") -> None:
        whole = os.path.join(os.fsencode(self.folder), os.fsencode(path))  # noqa: PTH118 - names that are no text
        os.makedirs(os.path.dirname(whole), exist_ok=True)  # noqa: PTH103, PTH120
        with open(whole, "wb") as file:  # noqa: PTH123
            file.write(content)

    def begin(self) -> str:
        """Ask for a scan; the job's id."""
        job = uuid.uuid4().hex
        self.clock.advance(1)
        self.database.write_blocking(lambda conn: conn.run(ADD_JOB, {"id": job, "library": self.id}))
        return job

    def work(self, scanner: Any = None) -> bool:
        """Let the data plane do one job."""
        executor = scanner or Scanner(self.state, chunk=4, walkers=WALKERS)
        return Runner(self.plane, JobWork({JobKind.SCAN: executor}), name="plane", heartbeat=60.0).work()

    def again(self, job: str) -> None:
        """Return a job that lost its worker, as the control plane does."""
        self.change("UPDATE jobs SET status = 'pending', worker_id = NULL WHERE id = :id", id=job)

    def scan(self, scanner: Any = None) -> tuple[Any, ...]:
        """Scan the whole library; how the job ended."""
        job = self.begin()
        assert self.work(scanner)
        (ended,) = self.ask("SELECT status, error_code, error_message FROM jobs WHERE id = :id", id=job)
        return ended

    def ask(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.database.read_blocking(lambda conn: conn.all(sql, values))

    def change(self, sql: str, **values: Any) -> int:
        return self.database.write_blocking(lambda conn: conn.run(sql, values))

    def hash_everything(self) -> None:
        """As if a hash job had been there."""
        self.change(
            "UPDATE library_files SET needs_hash = 0, hash_algorithm = 'blake3', content_hash = :hash "
            "WHERE needs_hash = 1 AND is_missing = 0",
            hash=b"h" * 32,
        )

    def files(self, columns: str = "size_bytes", condition: str = "is_missing = 0") -> dict[str, Any]:
        """What is known: each path with one column, or several."""
        sql = f"SELECT relative_path, {columns} FROM library_files WHERE library_id = :library AND {condition}"
        return {path: cells[0] if len(cells) == 1 else tuple(cells) for path, *cells in self.ask(sql, library=self.id)}

    def missing(self) -> set[str]:
        return set(self.files(condition="is_missing = 1"))

    def session(self, columns: str) -> tuple[Any, ...]:
        """The last session."""
        return self.ask(f"SELECT {columns} FROM scan_sessions ORDER BY id DESC LIMIT 1")[0]

    def counts(self) -> dict[str, int]:
        names = ("added", "changed", "moved", "removed", "error")
        return dict(zip(names, self.session(", ".join(f"{name}_count" for name in names)), strict=True))

    def on_disk(self) -> dict[str, tuple[int, ...]]:
        """What a scan should come to know: path, size, mtime, inode, device."""
        found: dict[str, tuple[int, ...]] = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    seen = path.stat()
                    relative = as_text(str(path.relative_to(self.folder)))
                    found[relative] = (seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_dev)
        return found

    def known(self) -> dict[str, tuple[int, ...]]:
        return self.files("size_bytes, mtime_ns, inode, device")


def make_role(conn: Connection) -> None:
    if conn.one("SELECT 1 FROM pg_roles WHERE rolname = :role", {"role": ROLE}) is None:
        conn.script(f"CREATE ROLE {ROLE} NOLOGIN")
    for statement in grants(DATA_PLANE, ROLE, READABLE):
        conn.script(statement)


@pytest.fixture
def clock() -> ManualClock:
    """The time is tomorrow: the files of a test were made long before anybody knew of them."""
    return ManualClock(SystemClock().now() + 86_400 * SECOND)


@pytest.fixture
def shelf(url: str, tmp_path: Path, clock: ManualClock) -> Iterator[Shelf]:
    """A library with an empty folder."""
    database = open_database(url, clock=clock)
    database.open()
    migrate(database, PRODUCT)
    if database.dialect is Dialect.POSTGRES:
        database.write_blocking(make_role)
    plane = open_database(url, clock=clock, rights=DATA_PLANE, role=ROLE)
    plane.open()
    shelf = Shelf(database, plane, tmp_path / "shelf", clock)
    shelf.add_library("films")
    yield shelf
    plane.close()
    database.close()


@pytest.fixture
def other(shelf: Shelf, tmp_path: Path) -> Shelf:
    """A second library in the same database."""
    other = Shelf(shelf.database, shelf.plane, tmp_path / "other", shelf.clock)
    other.add_library("series")
    return other


class Interrupted(Exception):
    """Stands for the end of a process."""


class Dying(Scanner):
    """A scanner that dies with its n-th transaction."""

    def __init__(self, state: Path, *, transactions: int, chunk: int = 4) -> None:
        super().__init__(state, chunk=chunk, walkers=WALKERS)
        self.left = transactions

    def __call__(self, job: LeasedJob) -> None:
        write = job.write

        def dying(fn: Any, *, durable: bool = True) -> Any:
            self.left -= 1
            if self.left < 0:
                raise Interrupted
            return write(fn, durable=durable)

        job.write = dying  # type: ignore[method-assign]
        super().__call__(job)


@pytest.fixture
def dying(shelf: Shelf) -> type[Dying]:
    return Dying
