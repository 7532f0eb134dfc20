"""A plane starts, lives and is asked to end."""

from __future__ import annotations

from kurabito.conformance.stage import ScenarioStage


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
    plane.ask_to_end()
    stage.recording.exit_code = plane.wait(stage.patience)
    stage.reach("left")


def meet_another_major(stage: ScenarioStage) -> None:
    """Start a plane on a database that speaks a later major version."""
    stage.write("UPDATE protocol_version SET major = 2, minor = 3")
    plane = stage.start_plane()
    stage.recording.exit_code = plane.wait(stage.patience / 2)
    stage.reach("refused")
