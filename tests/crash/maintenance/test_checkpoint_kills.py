"""Data planes are killed at seeded random moments of a checkpoint; it is done all the same, and nothing is lost."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.support.programs import spoken_to

from kurabito.app.dataplane_process import supervised_plane
from kurabito.clock import ManualClock
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.maintenance.integrity import damages
from kurabito.maintenance.wal import CheckpointReason, WalMaintenance
from kurabito.protocol.leased.checkpoints import CheckpointMode, WalStatus
from kurabito.reasons import Reason
from kurabito.settings import Settings

PROGRAM = Path(__file__).with_name("checkpoint_program.py")
PLANE = "plane"
MOMENTS = 11
"""About so many has a checkpoint."""
FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, 0, 0)"
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = open_database(f"sqlite:///{tmp_path / 'kurabito.db'}", clock=ManualClock())
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    with spoken_to(PROGRAM) as process:
        yield process


@pytest.mark.parametrize(
    "kills", [20, pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])], ids=["20", "300"]
)
async def test_a_checkpoint_outlives_the_data_planes_that_die_on_it(
    database: Database, program: subprocess.Popen[str], tmp_path: Path, kills: int
) -> None:
    file = tmp_path / "kurabito.db"
    clock = database.clock  # type: ignore[attr-defined]
    chance = random.Random(f"checkpoints {kills}")
    maintenance = WalMaintenance(database, file, interval=900, limit=10**9, may_truncate=True)
    supervisor = supervised_plane(Settings(state=tmp_path, database=f"sqlite:///{file}"), database)

    def work(**moment: float) -> str:
        assert program.stdin is not None
        assert program.stdout is not None
        order = {"url": f"sqlite:///{file}", "name": PLANE, "now": clock.now(), **moment}
        program.stdin.write(json.dumps(order) + "\n")
        program.stdin.flush()
        return program.stdout.readline().strip()

    rounds = killed = completed = 0
    while killed < kills:
        rounds += 1
        file_row = {"path": f"{rounds} {'x' * 2000}"}
        await database.write(lambda conn, row=file_row: conn.run(FILE, row))  # type: ignore[misc]
        job = await maintenance.request(chance.choice(list(CheckpointMode)), Reason(CheckpointReason.ASKED), force=True)
        if chance.random() < 0.7:
            outcome = work(kill_at=chance.randint(1, MOMENTS))
        else:
            outcome = work(kill_after=chance.uniform(0.0005, 0.02))
        assert outcome in ("killed", "done")
        killed += outcome == "killed"
        # What its supervisor does when it is dead, and what follows.
        await supervisor._queue.expire_worker(PLANE)
        await supervisor._queue.recover()
        assert (await maintenance.metrics()).counts[WalStatus.RUNNING] == 0
        clock.advance(3600)
        if chance.random() < 0.5:
            # Else another one is killed on the same checkpoint.
            assert work() == "done"
            done = await maintenance.latest()
            assert (done.id, done.status) == (job.id, WalStatus.COMPLETED)
            completed += 1
    clock.advance(3600)
    assert work() == "done"
    counts = (await maintenance.metrics()).counts
    assert sum(counts.values()) == counts[WalStatus.COMPLETED] >= completed > 0
    assert damages(database, thorough=True) == []
    assert await database.read(lambda conn: conn.all("SELECT count(*) FROM library_files")) == [(rounds,)]
