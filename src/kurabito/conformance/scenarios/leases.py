"""Leases that end: rows of dead owners, a job that is cancelled while its owner stands still, a plane that is asked to end."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance import trees
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.conformance.subject import Subject
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import LOOK_SECONDS

SMALL_FILES: Final = 300
"""Files that are due beside one that takes too long: a plane that goes on without its lease has something to write."""
HUGE_FILE: Final = "zz huge"
HEARTBEATS: Final = 3
OTHERS: Final = ("living", "gone", "dead")
"""The names of other planes."""
_LIVING, _GONE, _DEAD = OTHERS
_PLANES: Final = 2
_BUSY: Final = 2.5
_SLOW: Final = 15.0
"""Seconds that a machine with much to do may take longer."""


def lose_leases(stage: ScenarioStage) -> None:
    """Let a plane see to stale rows, work for long, lose jobs while it stands still, and be asked to end."""
    _make_library(stage)
    with _other_planes(stage):
        _leave_rows_of_others(stage)
        plane = stage.start_plane()
        _let_a_lease_end(stage)
        _lose(stage, plane, "long", "cancelled", "status = 'cancelled', lease_expires_at = NULL")
        # Another library's, so that what is written about the first one is not about this.
        stage.job("short", "hash", 2)
        stage.wait_for_job(
            "short", "LEASE-8", "an end of the work on a job whose lease was lost, and then of another job"
        )
        stage.reach("went on")
        # Its lease is long: a plane that was frozen until a short one was over would rightly take the job away.
        until = stage.now() + HOUR
        _lose(stage, plane, "taken", "taken", f"worker_id = '{_LIVING}#fedcba9876543210', lease_expires_at = {until}")
        beats = _lives(stage)
        stage.wait_for(lambda: _lives(stage) > beats + 1, "REG-2", "two signs of life of the plane")
        stage.reach("left alone")
        stage.write("UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL WHERE id = 'taken'")
        stage.job("again", "hash", 1)
        owner = stage.wait_for_claim("again")["worker_id"]
        stage.wait_for(lambda: _heartbeats(stage, owner) >= HEARTBEATS, "LEASE-3", f"{HEARTBEATS} heartbeats")
        stage.reach("beating")
        _keep_from_writing(stage, owner)
        plane.ask_to_end()
        stage.recording.exit_code = plane.wait(stage.patience)
        stage.reach("ended")


def _lose(stage: ScenarioStage, plane: Subject, name: str, moment: str, how: str) -> None:
    """Take a job from a plane while it stands still, with something yet to write."""
    while True:
        stage.job(name, "hash", 1)
        stage.wait_for_claim(name)
        stage.freeze(plane)
        if stage.rows("library_files", "library_id = 1 AND needs_hash = 1 AND relative_path <> :huge", huge=HUGE_FILE):
            break
        # It was quicker than the kit: from the beginning, with another job.
        stage.write("UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL WHERE id = :id", id=name)
        stage.write("DELETE FROM jobs WHERE id = :id", id=name)
        stage.write(
            "UPDATE library_files SET needs_hash = 1, content_hash = NULL, hash_algorithm = NULL WHERE library_id = 1"
        )
        plane.thaw()
    stage.write(f"UPDATE jobs SET {how} WHERE id = :id", id=name)
    stage.reach(moment)
    plane.thaw()


def _let_a_lease_end(stage: ScenarioStage) -> None:
    """A lease that ends while there is nothing else to do: no row is written that a plane could hear of."""
    taken = "id = :id AND status <> 'running'"
    stage.wait_for(lambda: stage.rows("jobs", taken, id="expired"), "LEASE-6", "a first look for stale jobs")
    _job_of_another(stage, "ends soon", f"{_GONE}#0123456789abcdef", stage.now() + 2 * SECOND)
    stage.wait_for(
        lambda: stage.rows("jobs", taken, id="ends soon"),
        "PLANE-9",
        f"a look for work within {LOOK_SECONDS:g} s",
        patience=LOOK_SECONDS + _SLOW,
    )


def _keep_from_writing(stage: ScenarioStage, owner: str) -> None:
    """Have the plane wait for the database."""
    try:
        with stage.alone():
            time.sleep(_BUSY)
    except NotApplicable:
        return
    beats = _heartbeats(stage, owner)
    stage.wait_for(
        lambda: _heartbeats(stage, owner) > beats, "PLANE-6", f"a heartbeat after the database was busy for {_BUSY:g} s"
    )


@contextmanager
def _other_planes(stage: ScenarioStage) -> Iterator[None]:
    """Other planes: one that lives, one that is only named, and one that is known to be dead where there are locks."""
    now = stage.now()
    for name in (_LIVING, _GONE, _DEAD):
        stage.insert(
            "data_planes",
            name=name,
            lines="[]",
            version="1",
            protocol="1.0",
            capabilities="[]",
            started_at=now,
            heartbeat_at=now,
            expires_at=now + HOUR,
        )
    if stage.locks is None:
        yield
        return
    stage.locks.mkdir(parents=True)
    (stage.locks / f"{_DEAD}.lock").touch()
    with (stage.locks / f"{_LIVING}.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    stage.recording.seen["lock of the dead"] = (stage.locks / f"{_DEAD}.lock").exists()


def _make_library(stage: ScenarioStage) -> None:
    algorithms = [one.value for one in HashAlgorithm if f"hash.{one}" in stage.capabilities]
    if not algorithms:
        raise NotApplicable("the plane lists no hash, which takes long enough")
    for number in (1, 2):
        folder = stage.library(number, has_holes=number == 1, algorithm=algorithms[0], hash_policy="all")
        for place in range(SMALL_FILES if number == 1 else 2):
            trees.write(folder, f"{place}".encode(), b"%d" % place)
        if number == 1:
            trees.write_hole(folder, HUGE_FILE)
        stage.job(f"prepare {number}", "scan", number)
        stage.let_reference_work()


def _leave_rows_of_others(stage: ScenarioStage) -> None:
    now = stage.now()
    _job_of_another(stage, "expired", f"{_GONE}#0123456789abcdef", now - HOUR)
    _job_of_another(stage, "without end", f"{_GONE}#0123456789abcdef", None)
    _job_of_another(stage, "of another", f"{_LIVING}#0123456789abcdef", now + HOUR)
    _job_of_another(stage, "of the dead", f"{_DEAD}#0123456789abcdef", now + HOUR)
    lost = {"status": "retryable", "error_code": "LEASE_EXPIRED", "error_message": "lost"}
    stage.job("put aside", "delete", 1, payload='{"restore": []}', **lost)
    # The protocol has the word, and no job of this kind yet.
    stage.job("of a later kind", "thumbnail", 1)


def _job_of_another(stage: ScenarioStage, name: str, owner: str, expires_at: int | None) -> None:
    lease = {"worker_id": owner, "worker_heartbeat_at": stage.now() - HOUR, "lease_expires_at": expires_at}
    stage.job(name, "delete", 1, payload='{"restore": []}', status="running", **lease)


def _lives(stage: ScenarioStage) -> int:
    """How often the plane said that it lives."""
    return sum(write.table == "data_planes" for write in stage.written())


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
