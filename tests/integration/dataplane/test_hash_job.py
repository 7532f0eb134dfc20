"""Hashing what may have an equal, on both databases, with real files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from errno import EACCES
from hashlib import sha256
from pathlib import Path
from stat import S_IFCHR
from typing import Any

import pytest
from blake3 import blake3
from tests.support.planes import register

from kurabito.clock import ManualClock
from kurabito.dataplane.files.digest import READ_AT_ONCE
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Walk
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import Executor, JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Connection, Database, leases, open_database
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased.jobs import JOBS
from kurabito.protocol.rights import DATA_PLANE
from kurabito.protocol.terms import EDGE, READ_WHOLE

BIG = 3 * READ_WHOLE

ADD_LIBRARY = (
    "INSERT INTO library_roots (name, root_path, algorithm, hash_policy, created_at, updated_at) "
    "VALUES (:path, :path, :algorithm, :policy, :now, :now) RETURNING id"
)
ADD_FILE = (
    "INSERT INTO library_files "
    "(library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at) "
    "VALUES (:library, :path, :size, :mtime, :inode, :device, 1, :now, :now)"
)
ADD_JOB = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES (:id, 'hash', :library, :now, :now)"


@pytest.fixture
def plane(url: str, database: Database, clock: ManualClock) -> Iterator[Database]:
    """The database as a data plane has it."""
    plane = open_database(url, clock=clock, rights=DATA_PLANE)
    plane.open()
    yield plane
    plane.close()


class Shelf:
    """A library of real files, as a scan would have left it."""

    def __init__(self, folder: Path, database: Database, plane: Database, clock: ManualClock) -> None:
        self.folder = folder
        self.database = database
        self._plane = plane
        self._clock = clock
        self._jobs = 0
        self.library = 0
        register(database)

    def open(self, algorithm: str = "blake3", policy: str = "candidates") -> None:
        values = {"path": str(self.folder), "algorithm": algorithm, "policy": policy}
        row = self.database.write_blocking(lambda conn: conn.one(ADD_LIBRARY, values))
        assert row is not None
        self.library = row[0]

    def put(self, **files: bytes) -> None:
        self.folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        self.see(*files)

    def see(self, *names: str) -> None:
        """Write rows for files, all waiting to be hashed."""
        with Root(self.folder) as root:
            found = [entry for batch in Walk(root.fd).batches() for entry in batch if entry[0] in names]

        def write(conn: Connection) -> None:
            for path, size, mtime, inode, device in found:
                conn.run(
                    ADD_FILE,
                    {
                        "library": self.library,
                        "path": path,
                        "size": size,
                        "mtime": mtime,
                        "inode": inode,
                        "device": device,
                    },
                )

        self.database.write_blocking(write)

    def hash(self, executor: Executor | None = None, **options: Any) -> tuple[str, str | None]:
        """Run one hash job; its status and error code."""
        self._jobs += 1
        name = f"{self.library}-{self._jobs}"
        self.database.write_blocking(lambda conn: conn.run(ADD_JOB, {"id": name, "library": self.library}))
        executor = executor or HashFiles(clock=self._clock, **options)
        assert Runner(self._plane, JobWork({JobKind.HASH: executor}), name="plane", heartbeat=60.0).work()
        row = self.database.read_blocking(
            lambda conn: conn.one("SELECT status, error_code FROM jobs WHERE id = :id", {"id": name})
        )
        assert row is not None
        return row

    def column(self, name: str) -> dict[str, Any]:
        rows = self.database.read_blocking(
            lambda conn: conn.all(
                f"SELECT relative_path, {name} FROM library_files WHERE library_id = :library",
                {"library": self.library},
            )
        )
        return dict(rows)

    def waiting(self) -> set[str]:
        return {path for path, needed in self.column("needs_hash").items() if needed}


@pytest.fixture
def shelf(tmp_path: Path, database: Database, plane: Database, clock: ManualClock) -> Shelf:
    return Shelf(tmp_path / "shelf", database, plane, clock)


@pytest.fixture
def other_shelf(tmp_path: Path, database: Database, plane: Database, clock: ManualClock) -> Shelf:
    return Shelf(tmp_path / "other", database, plane, clock)


def groups(database: Database) -> dict[tuple[str, bytes], int]:
    rows = database.read_blocking(
        lambda conn: conn.all(
            "SELECT hash_algorithm, content_hash, file_count FROM duplicate_groups WHERE file_count > 1"
        )
    )
    return {(algorithm, bytes(content)): count for algorithm, content, count in rows}


def with_edges_of(content: bytes, middle: bytes) -> bytes:
    """Other content of the same size whose edges say nothing."""
    return content[:EDGE] + middle * (len(content) - 2 * EDGE) + content[-EDGE:]


@pytest.mark.parametrize(("algorithm", "hashed"), [("blake3", blake3), ("sha256", sha256)])
def test_equal_files_become_a_group(shelf: Shelf, algorithm: str, hashed: Any) -> None:
    small, big = os.urandom(1000), os.urandom(BIG)
    shelf.open(algorithm)
    shelf.put(a=small, b=small, c=os.urandom(1000), d=big, e=big, f=os.urandom(BIG))
    assert shelf.hash() == ("completed", None)
    assert groups(shelf.database) == {
        (algorithm, hashed(small).digest()): 2,
        (algorithm, hashed(big).digest()): 2,
    }
    assert shelf.waiting() == set()


def test_what_has_no_equal_by_its_edges_is_not_read_whole(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=os.urandom(BIG), b=os.urandom(BIG))
    assert shelf.hash() == ("completed", None)
    assert shelf.waiting() == set()
    assert set(shelf.column("content_hash").values()) == {None}
    assert None not in shelf.column("edge_hash").values()


def test_edges_alone_never_make_a_group(shelf: Shelf) -> None:
    content = os.urandom(BIG)
    shelf.open()
    shelf.put(a=content, b=with_edges_of(content, b"x"), c=with_edges_of(content, b"y"))
    shelf.hash()
    assert groups(shelf.database) == {}
    assert None not in shelf.column("content_hash").values()


@pytest.mark.parametrize("policy", ["candidates", "all"])
def test_a_file_taken_for_unique_is_read_when_a_twin_comes(shelf: Shelf, other_shelf: Shelf, policy: str) -> None:
    content = os.urandom(BIG)
    shelf.open()
    shelf.put(a=content)
    shelf.hash()
    assert shelf.column("content_hash") == {"a": None}
    other_shelf.open(policy=policy)
    other_shelf.put(b=content)
    other_shelf.hash()
    # The other library's job reads its own files only, and says that this one is wanted.
    assert shelf.waiting() == {"a"}
    shelf.hash()
    assert groups(shelf.database) == {("blake3", blake3(content).digest()): 2}


def test_a_twin_in_the_same_library_is_read_by_the_same_job(shelf: Shelf) -> None:
    content = os.urandom(BIG)
    shelf.open()
    shelf.put(a=content)
    shelf.hash()
    shelf.put(b=content)
    shelf.hash()
    assert groups(shelf.database) == {("blake3", blake3(content).digest()): 2}


def test_every_file_is_hashed_where_that_is_the_policy(shelf: Shelf) -> None:
    shelf.open(policy="all")
    shelf.put(a=os.urandom(BIG), b=b"small")
    shelf.hash()
    assert None not in shelf.column("content_hash").values()


def test_a_file_that_was_sampled_before_is_read_whole_where_that_is_the_policy_now(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=os.urandom(BIG))
    shelf.hash()
    assert shelf.column("content_hash") == {"a": None}
    wanted = ("UPDATE library_roots SET hash_policy = 'all'", "UPDATE library_files SET needs_hash = 1")
    shelf.database.write_blocking(lambda conn: [conn.run(sql) for sql in wanted])
    shelf.hash()
    assert shelf.column("content_hash") == {"a": blake3((shelf.folder / "a").read_bytes()).digest()}


def test_files_wait_when_another_algorithm_is_chosen_while_they_are_read(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")
    executor = HashFiles()

    def choose_another(job: LeasedJob) -> None:
        read = job.read

        def reading(fn: Callable[[Connection], Any]) -> Any:
            answer = read(fn)
            job.read = read  # type: ignore[method-assign]
            choosing = "UPDATE library_roots SET algorithm = 'sha256'"
            shelf.database.write_blocking(lambda conn: conn.run(choosing))
            return answer

        job.read = reading  # type: ignore[method-assign]
        executor(job)

    assert shelf.hash(choose_another) == ("completed", None)
    assert shelf.waiting() == {"a", "b"}
    shelf.hash()
    assert set(shelf.column("content_hash").values()) == {sha256(b"same").digest()}


def test_a_file_that_changed_stays_waiting(shelf: Shelf, clock: ManualClock) -> None:
    shelf.open()
    shelf.put(a=b"before", b=b"before")
    (shelf.folder / "a").write_bytes(b"after!")
    os.utime(shelf.folder / "a", ns=(1, 1))
    assert shelf.hash() == ("completed", None)
    assert shelf.waiting() == {"a"}
    assert shelf.column("hash_last_error")["a"].startswith("FILE_CHANGED")
    assert shelf.column("hash_error_count") == {"a": 0, "b": 0}
    # It is not read again and again until a scan has seen what it is now.
    assert shelf.column("hash_retry_after")["a"] > clock.now()


def test_what_cannot_be_read_is_tried_later_and_stops_nothing(shelf: Shelf, clock: ManualClock) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same", c=b"same")
    (shelf.folder / "b").unlink()
    (shelf.folder / "b").symlink_to("a")
    assert shelf.hash() == ("completed", None)
    assert shelf.waiting() == {"b"}
    assert shelf.column("hash_error_count")["b"] == 1
    assert shelf.column("hash_last_error")["b"].startswith("FILE_UNREADABLE")
    first_wait = shelf.column("hash_retry_after")["b"] - clock.now()
    shelf.hash()
    assert shelf.column("hash_error_count")["b"] == 1
    clock.advance(first_wait / 1_000_000)
    shelf.hash()
    assert shelf.column("hash_error_count")["b"] == 2
    assert shelf.column("hash_retry_after")["b"] - clock.now() == 2 * first_wait


@pytest.mark.parametrize("size", [4, BIG])
def test_what_is_no_ordinary_file_is_not_read(shelf: Shelf, size: int) -> None:
    shelf.open(policy="all")
    shelf.put(pipe=b"x" * size, folder=b"y" * size)
    for name in ("pipe", "folder"):
        (shelf.folder / name).unlink()
    os.mkfifo(shelf.folder / "pipe")
    (shelf.folder / "folder").mkdir()
    assert shelf.hash() == ("completed", None)
    assert set(shelf.column("hash_last_error").values()) == {"FILE_UNREADABLE: it is no ordinary file"}


@pytest.mark.parametrize("size", [4, BIG, READ_AT_ONCE + 1])
def test_a_device_in_the_place_of_a_file_is_none(shelf: Shelf, size: int) -> None:
    """It can be read, and has no end."""
    shelf.open(policy="all")
    shelf.put(zeroes=b"x" * size)
    (shelf.folder / "zeroes").unlink()
    try:
        os.mknod(shelf.folder / "zeroes", S_IFCHR | 0o644, os.makedev(1, 5))
        (shelf.folder / "zeroes").open("rb").close()
    except PermissionError:
        pytest.skip("this user may not make devices, or not open them here")
    assert shelf.hash() == ("completed", None)
    assert set(shelf.column("hash_last_error").values()) == {"FILE_UNREADABLE: it is no ordinary file"}


def test_a_failure_is_not_written_to_a_row_that_tells_of_another_file_by_now(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=b"before", b=b"before")
    (shelf.folder / "a").unlink()
    executor = HashFiles()

    def see_another(job: LeasedJob) -> None:
        write = job.write

        def writing(fn: Callable[[Connection], Any], **options: Any) -> Any:
            seeing = "UPDATE library_files SET size_bytes = 7, needs_hash = 0 WHERE relative_path = 'a'"
            shelf.database.write_blocking(lambda conn: conn.run(seeing))
            return write(fn, **options)

        job.write = writing  # type: ignore[method-assign]
        executor(job)

    assert shelf.hash(see_another) == ("completed", None)
    assert shelf.column("hash_last_error") == {"a": None, "b": None}


def test_a_job_ends_in_time_and_the_next_one_goes_on(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")
    assert shelf.hash(most_seconds=0.0) == ("completed", None)
    assert shelf.waiting() == {"a", "b"}
    shelf.hash()
    assert shelf.waiting() == set()


class Impatient(ManualClock):
    """Time passes whenever it is looked at."""

    def now(self) -> int:
        self.advance(1.0)
        return super().now()


LARGE = 80 << 20


@pytest.mark.parametrize(("algorithm", "hashed"), [("blake3", blake3), ("sha256", sha256)])
def test_a_job_ends_in_the_middle_of_a_large_file_and_the_next_one_goes_on_there(
    shelf: Shelf, algorithm: str, hashed: Any
) -> None:
    shelf.open(algorithm, "all")
    shelf.put(small=b"small")
    with (shelf.folder / "large").open("wb") as file:
        file.write(b"begin")
        file.truncate(LARGE)
    shelf.see("large")
    # Few of the turns that the file takes fit into one job, so that only going on comes to its end.
    executor = HashFiles(most_seconds=6.0, turn=0.0, clock=Impatient())
    assert shelf.hash(executor) == ("completed", None)
    assert shelf.waiting() == {"large"}
    for _ in range(200):
        if not shelf.waiting():
            break
        assert shelf.hash(executor) == ("completed", None)
    assert shelf.column("content_hash")["large"] == hashed(b"begin".ljust(LARGE, b"\0")).digest()
    assert not executor._pool._aside


def test_a_large_file_that_changes_between_two_jobs_is_not_taken_for_what_it_was(shelf: Shelf) -> None:
    shelf.open(policy="all")
    shelf.put()
    with (shelf.folder / "large").open("wb") as file:
        file.truncate(LARGE)
    shelf.see("large")
    executor = HashFiles(most_seconds=6.0, turn=0.0, clock=Impatient())
    assert shelf.hash(executor) == ("completed", None)
    with (shelf.folder / "large").open("r+b") as file:
        file.write(b"other")
    os.utime(shelf.folder / "large", ns=(1, 1))
    for _ in range(200):
        if "FILE_CHANGED" in (shelf.column("hash_last_error")["large"] or ""):
            break
        shelf.hash(executor)
    assert shelf.column("content_hash")["large"] is None
    assert "FILE_CHANGED" in shelf.column("hash_last_error")["large"]


def test_a_vanished_folder_fails_the_job_and_blames_no_file(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")
    shelf.folder.rename(shelf.folder.with_name("unmounted"))
    assert shelf.hash() == ("failed", "ROOT_UNAVAILABLE")
    assert shelf.column("hash_error_count") == {"a": 0, "b": 0}


@pytest.mark.parametrize("due", [True, False])
def test_a_file_in_the_place_of_the_folder_fails_the_job_and_blames_no_file(shelf: Shelf, due: bool) -> None:
    shelf.open()
    shelf.put(**({"a": b"same", "b": b"same"} if due else {}))
    if due:
        shelf.folder.rename(shelf.folder.with_name("unmounted"))
    else:
        shelf.folder.rmdir()
    shelf.folder.write_bytes(b"no folder")
    assert shelf.hash() == ("failed", "ROOT_UNAVAILABLE")
    assert set(shelf.column("hash_last_error").values()) <= {None}


def test_a_folder_that_may_not_be_opened_fails_the_job_and_blames_no_file(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")
    # The superuser may open every folder, so the operating system's answer is given here.
    opens = os.open

    def refusing(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if path == shelf.folder:
            raise PermissionError(EACCES, os.strerror(EACCES))
        return opens(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refusing)
    assert shelf.hash() == ("failed", "ROOT_UNAVAILABLE")
    assert shelf.column("hash_error_count") == {"a": 0, "b": 0}


def test_a_folder_that_is_taken_away_meanwhile_blames_no_file_either(shelf: Shelf) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")

    class Unmounted(ManualClock):
        """Asked for the second time, before the first file is read, it takes the disk away: an empty folder is left."""

        asked = 0

        def now(self) -> int:
            self.asked += 1
            if self.asked == 2:
                shelf.folder.rename(shelf.folder.with_name("unmounted"))
                shelf.folder.mkdir()
            return super().now()

    shelf._clock = Unmounted()
    assert shelf.hash() == ("failed", "ROOT_UNAVAILABLE")
    assert shelf.column("hash_error_count") == {"a": 0, "b": 0}


def test_a_lost_job_writes_nothing_more(shelf: Shelf, clock: ManualClock) -> None:
    shelf.open()
    shelf.put(a=b"same", b=b"same")

    class Slept(ManualClock):
        """Somebody takes the job away as soon as it has begun."""

        def now(self) -> int:
            clock.advance(31)
            shelf.database.write_blocking(lambda conn: leases.recover(conn, JOBS))
            return super().now()

    shelf._clock = Slept()
    assert shelf.hash() == ("retryable", "LEASE_EXPIRED")
    assert shelf.waiting() == {"a", "b"}
