"""Leases that end: rows of dead owners, a job that is cancelled while its owner stands still, a plane that is asked to end."""

from __future__ import annotations

from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.protocol.enums import HashAlgorithm

SMALL_FILES: Final = 300
"""Files that are due beside one that takes too long: a plane that goes on without its lease has something to write."""
HEARTBEATS: Final = 3
_PLANES: Final = 2


def lose_leases(stage: ScenarioStage) -> None:
    """Let a plane see to stale rows, work for long, lose its job while it stands still, and be asked to end."""
    _make_library(stage)
    _leave_rows_of_others(stage)
    plane = stage.start_plane()
    stage.job("long", "hash", 1)
    owner = stage.wait_for_claim("long")["worker_id"]
    # Frozen at once, it has everything yet to write.
    stage.freeze(plane)
    stage.reach("frozen")
    stage.write("UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL WHERE id = 'long'")
    stage.reach("cancelled")
    plane.thaw()
    # Another library's, so that what is written about the first one is not about this.
    stage.job("short", "hash", 2)
    stage.wait_for_job("short", "LEASE-8")
    stage.reach("went on")
    stage.job("again", "hash", 1)
    owner = stage.wait_for_claim("again")["worker_id"]
    stage.wait_for(lambda: _heartbeats(stage, owner) >= HEARTBEATS, "LEASE-3", f"{HEARTBEATS} heartbeats")
    stage.reach("beating")
    plane.ask_to_end()
    stage.recording.exit_code = plane.wait(stage.patience)
    stage.reach("ended")


def _make_library(stage: ScenarioStage) -> None:
    algorithms = [one.value for one in HashAlgorithm if f"hash.{one}" in stage.capabilities]
    if not algorithms:
        raise NotApplicable("the plane lists no hash, which takes long enough")
    for number in (1, 2):
        folder = stage.library(number, algorithm=algorithms[0], hash_policy="all")
        for place in range(SMALL_FILES if number == 1 else 2):
            trees.write(folder, f"{place}".encode(), b"%d" % place)
        if number == 1:
            trees.write_hole(folder, "zz huge")
        stage.job(f"prepare {number}", "scan", number)
        stage.let_reference_work()


def _leave_rows_of_others(stage: ScenarioStage) -> None:
    now = stage.now()
    stage.insert(
        "data_planes",
        name="other",
        lines="[]",
        version="1",
        protocol="1.0",
        capabilities="[]",
        started_at=now,
        heartbeat_at=now,
        expires_at=now + HOUR,
    )
    leases = {"expired": now - HOUR, "without end": None, "of another": now + HOUR}
    for name, expires_at in leases.items():
        stage.job(
            name,
            "delete",
            1,
            payload='{"restore": []}',
            status="running",
            worker_id="other#0123456789abcdef",
            worker_heartbeat_at=now - HOUR,
            lease_expires_at=expires_at,
        )
    lost = {"status": "retryable", "error_code": "LEASE_EXPIRED", "error_message": "lost"}
    stage.job("put aside", "delete", 1, payload='{"restore": []}', **lost)


def _heartbeats(stage: ScenarioStage, owner: str) -> int:
    return len({write.new["worker_heartbeat_at"] for write in stage.written() if write.new.get("worker_id") == owner})


def share(stage: ScenarioStage) -> None:
    """Two planes at once, with more jobs than planes."""
    stage.needs("scan")
    folder = stage.library(1)
    for place in range(SMALL_FILES):
        trees.write(folder, f"{place}".encode(), b"%d" % place)
    for _ in range(_PLANES):
        stage.start_plane()
    stage.wait_for(lambda: len(stage.rows("data_planes")) == _PLANES, "REG-3", "a row of each plane in data_planes")
    for number in range(_PLANES * 3):
        stage.job(f"scan {number}", "scan", 1)
        stage.wait_for_job(f"scan {number}")
    stage.reach("shared")
