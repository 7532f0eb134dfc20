"""Two libraries on a real disk, in both databases, with a control plane, and data planes that die when they are told to."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from tests.support.programs import spoken_to

from kurabito.app.tasks import FOLLOW_UPS
from kurabito.clock import SECOND, ManualClock, SystemClock
from kurabito.db import Connection, Dialect, leases, migrate
from kurabito.db.migrate import PRODUCT
from kurabito.db.postgres.roles import ensure_role
from kurabito.library import libraries
from kurabito.library.deletion import policy
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash
from kurabito.library.libraries import LibrarySettings
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import ScanQueueService, TaskPriority
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode
from kurabito.protocol.leased.jobs import JOBS
from kurabito.protocol.rights import DATA_PLANE, READABLE
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue

PROGRAM = Path(__file__).with_name("plane_program.py")
ROLE = "kurabito_dataplane"
PLANE = "plane"
LEASE = 30.0
FILES = 120
"""Files of each library at the beginning."""
TABLES = (
    "jobs",
    "scan_sessions",
    "scan_findings",
    "library_files",
    "duplicate_groups",
    "deletion_plans",
    "deletion_steps",
    "deletion_log",
    "trash_entries",
    "library_roots",
    "tasks",
)
GROUPED = (
    "SELECT hash_algorithm, content_hash, count(*), sum(size_bytes), count(DISTINCT (device || ' ' || inode)) "
    "FROM hashed_files GROUP BY hash_algorithm, content_hash"
)
SUMMARY = "SELECT hash_algorithm, content_hash, file_count, total_size_bytes, copies FROM duplicate_groups"
# Few contents of few sizes, so that most files have equals and others of their size; some are large enough to be sampled.
CONTENTS = [bytes([65 + number]) * (10 + number % 5) for number in range(20)]
CONTENTS += [bytes([97 + number]) * (90_000 + number % 2) for number in range(4)]
CONTENTS += [b"k" * 50_000 + bytes([97 + number]) + b"k" * 60_000 for number in range(3)]


class Planes:
    """Starts data planes one after the other, without the cost of a new interpreter for each."""

    def __init__(self, process: subprocess.Popen[str], url: str, state: Path) -> None:
        self._process = process
        self._order = {"url": url, "role": ROLE, "state": str(state), "name": PLANE}

    def work(self, **moment: float | str) -> str:
        """Have a data plane do what there is to do, until a moment if one is given; how it ended."""
        return self._ask({**self._order, **moment})

    def wake(self, pid: int) -> str:
        """Have one go on that stands still; how it ended."""
        return self._ask({"wake": pid})

    def _ask(self, order: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


class Collection:
    """What is kept, and the control plane over it. Nothing happens by itself."""

    def __init__(self, queue: SqlQueue, clock: ManualClock, folder: Path) -> None:
        self.database = queue.database
        self.clock = clock
        self.folders = {1: folder / "films", 2: folder / "series"}
        self.plans = DeletionPlans(queue.database, allowed=True)
        self.trash = Trash(queue.database, days=0.0, may_purge=True)
        self._queue = queue
        self._scans = ScanQueueService(queue)
        self._reconciler = Reconciler(queue, follow_ups=FOLLOW_UPS, clock=clock)

    async def tick(self) -> None:
        """Let the control plane do what is to be done now."""
        await self._reconciler.tick()

    async def ask_for_scans(self, *wanted: int) -> None:
        for library in wanted or self.folders:
            await self._scans.submit_task(library, TaskPriority.NORMAL)
        await self.tick()

    async def finish(self, planes: Planes) -> None:
        """Let data planes that nobody kills do all there is."""
        await self.tick()
        while await self.ask("SELECT 1 FROM jobs WHERE status = 'pending'"):
            assert planes.work() == "done"
            await self.tick()

    async def lose_worker(self) -> None:
        """What the supervisor does when its data plane is dead, and what follows."""
        await self.database.write(lambda conn: leases.expire(conn, JOBS, PLANE))
        self._let_pass(LEASE)
        await self.tick()

    async def pass_the_lease(self) -> None:
        """Let as much time pass as nobody may be silent for; the control plane notices."""
        self._let_pass(2 * LEASE)
        await self.tick()

    def _let_pass(self, seconds: float) -> None:
        """From now on the machine's clock, by which the data planes live: on a busy machine ours is far behind it."""
        behind = max(SystemClock().now() - self.clock.now(), 0) / SECOND
        self.clock.advance(behind + seconds)

    async def order_deletion(self, chance: random.Random) -> None:
        """Remove some duplicates, or bring some back, or purge."""
        entries = (await self.trash.entries(limit=100)).items
        match chance.randrange(6):
            case 0 if entries:
                for entry in chance.sample(entries, min(len(entries), 6)):
                    await self.trash.restore(entry.id)
            case 1 if entries:
                await self.trash.purge()
            case _:
                mode = chance.choice([DeleteMode.TRASH, DeleteMode.TRASH, DeleteMode.HARDLINK])
                keys = [f"{algorithm}:{digest.hex()}" for algorithm, digest in await self.reclaimable()]
                plan = await self.plans.make(
                    KeepRules(), mode=mode, group_keys=sorted(chance.sample(keys, min(len(keys), 3)))
                )
                await self.plans.apply(plan.id, dry_run=False, confirm=True)

    async def reclaimable(self) -> list[tuple[str, bytes]]:
        found = await self.ask("SELECT hash_algorithm, content_hash FROM duplicate_groups WHERE copies > 1")
        return sorted((algorithm, bytes(digest)) for algorithm, digest in found)

    async def ask(self, sql: str) -> list[tuple[Any, ...]]:
        return await self.database.read(lambda conn: conn.all(sql))

    async def waiting(self, kind: str) -> bool:
        """Whether a job of this kind waits for a data plane."""
        return bool(await self.ask(f"SELECT 1 FROM jobs WHERE kind = '{kind}' AND status = 'pending'"))

    async def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that the planes share, row by row."""
        return {table: sorted(await self.ask(f"SELECT * FROM {table}"), key=repr) for table in TABLES}

    def write(self, library: int, path: str, content: bytes) -> None:
        file = self.folders[library] / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # A new file and not the old one written over: other names may lead to that one.
        file.unlink(missing_ok=True)
        file.write_bytes(content)

    def change(self, library: int, chance: random.Random, round_: int) -> None:
        """What keepers do between two scans."""
        for number in range(FILES - len(self.in_place(library))):
            self.write(library, f"more {round_}/{number:03}.mkv", chance.choice(CONTENTS))
        for path in chance.sample(sorted(self.in_place(library)), 40):
            file = self.folders[library] / path
            match chance.randrange(5):
                case 0:
                    file.unlink()
                case 1:
                    file.rename(file.with_name(f"moved {round_} {file.name}"))
                case 2:
                    self.write(library, path, chance.choice(CONTENTS))
                case _:
                    self.write(library, f"new {round_}/{file.name}", chance.choice(CONTENTS))

    def in_place(self, library: int) -> dict[str, tuple[int, ...]]:
        """What a scan should come to know: path, size, mtime, inode, device."""
        found: dict[str, tuple[int, ...]] = {}
        for folder, folders, names in os.walk(self.folders[library]):
            if TRASH_FOLDER in folders:
                folders.remove(TRASH_FOLDER)
            for name in names:
                path = Path(folder, name)
                seen = path.stat()
                key = str(path.relative_to(self.folders[library]))
                found[key] = (seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_dev)
        return found

    def contents(self) -> Counter[bytes]:
        """How many files in place have each content."""
        return Counter(
            (folder / path).read_bytes() for library, folder in self.folders.items() for path in self.in_place(library)
        )

    def on_disk(self) -> dict[str, tuple[int, int, bytes]]:
        """Every file, in the trash too: inode, mtime, content."""
        files = [path for folder in self.folders.values() for path in folder.rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    async def check(self) -> None:
        """Nothing waits, and the database says exactly what is on the disk."""
        assert await self.ask("SELECT id, kind, status FROM jobs WHERE finished_at IS NULL") == []
        await self.check_files()
        await self.check_hashes()
        await self.check_trash()

    async def check_files(self) -> None:
        known: defaultdict[int, dict[str, tuple[int, ...]]] = defaultdict(dict)
        columns = "library_id, relative_path, size_bytes, mtime_ns, inode, device"
        for library, path, *cells in await self.ask(f"SELECT {columns} FROM library_files WHERE is_missing = 0"):
            known[library][path] = tuple(cells)
        for library in self.folders:
            assert known[library] == self.in_place(library)
        assert await self.ask("SELECT * FROM scan_findings") == []
        assert await self.ask("SELECT id FROM scan_sessions WHERE status = 'running'") == []

    async def check_hashes(self) -> None:
        rows = await self.ask(
            "SELECT library_id, relative_path, needs_hash, content_hash FROM library_files WHERE is_missing = 0"
        )
        counted = self.contents()
        for library, path, needs_hash, content_hash in rows:
            content = (self.folders[library] / path).read_bytes()
            assert not needs_hash
            if content_hash is None:
                assert counted[content] == 1, "it has an equal and nobody read it"
            else:
                assert bytes(content_hash) == blake3(content).digest()
        grouped, summary = await self.ask(GROUPED), await self.ask(SUMMARY)
        assert sorted(map(_plain, summary)) == sorted(map(_plain, grouped))

    async def check_trash(self) -> None:
        assert await self.ask("SELECT * FROM deletion_log WHERE state = 'intent'") == []
        held = await self.ask("SELECT library_id, trash_path FROM trash_entries WHERE left_at IS NULL")
        lying = {
            str(path)
            for folder in self.folders.values()
            for path in folder.rglob(f"{TRASH_FOLDER}/*")
            if path.is_file() and path.suffix != ".json"
        }
        assert {str(self.folders[library] / path) for library, path in held} == lying


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (row[0], bytes(row[1]), *map(int, row[2:]))


def add_libraries(conn: Connection, folders: dict[int, Path]) -> None:
    for library, folder in folders.items():
        folder.mkdir()
        assert libraries.add(conn, folder, LibrarySettings(name=folder.name)).id == library


@pytest.fixture
async def collection(url: str, tmp_path: Path) -> AsyncIterator[Collection]:
    clock = ManualClock(SystemClock().now())
    async with open_queue(url, clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        if queue.database.dialect is Dialect.POSTGRES:
            assert ensure_role(queue.database, ROLE, DATA_PLANE, READABLE)
        collection = Collection(queue, clock, tmp_path)
        queue.database.write_blocking(lambda conn: add_libraries(conn, collection.folders))
        queue.database.write_blocking(lambda conn: policy.store(conn, allowed=True))
        chance = random.Random(4)
        for library in collection.folders:
            for number in range(FILES):
                collection.write(library, f"show {number % 7}/{number:03}.mkv", chance.choice(CONTENTS))
        yield collection


@pytest.fixture(scope="module")
def plane_program() -> Iterator[subprocess.Popen[str]]:
    """What forks the planes; for all tests of a file, because it takes long to load."""
    with spoken_to(PROGRAM) as process:
        yield process


@pytest.fixture
def planes(plane_program: subprocess.Popen[str], url: str, tmp_path: Path) -> Planes:
    return Planes(plane_program, url, tmp_path / "state")
