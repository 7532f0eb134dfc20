"""A plane starts, lives and is asked to end."""

from __future__ import annotations

import fcntl
from typing import Final

from kurabito.conformance.stage import ScenarioStage

_END_SESSIONS: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def join(stage: ScenarioStage) -> None:
    """Start a plane, wait for its second sign of life, and ask it to end."""
    plane = stage.start_plane()
    first = stage.wait_for(lambda: stage.rows("data_planes"), "REG-1", "a row in data_planes")[0]
    stage.wait_for(
        lambda: any(row["heartbeat_at"] > first["heartbeat_at"] for row in stage.rows("data_planes")),
        "REG-2",
        "a second heartbeat in data_planes",
    )
    stage.reach("joined")
    stage.recording.seen["lock"] = _is_locked(stage, first["name"])
    _break_connections(stage)
    plane.ask_to_end()
    stage.recording.exit_code = plane.wait(stage.patience)
    stage.recording.seen["lock at the end"] = _is_locked(stage, first["name"])
    stage.reach("left")


def _is_locked(stage: ScenarioStage, name: str) -> bool | None:
    """Whether a process holds the lock of a plane; None where there is no such file."""
    if stage.locks is None or not (path := stage.locks / f"{name}.lock").exists():
        return None
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _break_connections(stage: ScenarioStage) -> None:
    """End all sessions on a server, as a restart of it does, and wait for the next sign of life."""
    if stage.locks is not None:
        return
    before = stage.now()
    stage.read(lambda conn: conn.all(_END_SESSIONS))
    stage.wait_for(
        lambda: any(row["heartbeat_at"] > before for row in stage.rows("data_planes")),
        "PLANE-7",
        "a heartbeat after the connection was lost",
    )


def meet_another_major(stage: ScenarioStage) -> None:
    """Start a plane on a database that speaks a later major version."""
    stage.write("UPDATE protocol_version SET major = 2, minor = 3")
    plane = stage.start_plane()
    stage.recording.exit_code = plane.wait(stage.patience / 2)
    stage.reach("refused")
