"""The small leased tables: checkpoints, cleanups of thumbnails, and inspections."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.stage import ScenarioStage
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.protocol.leased.inspections import MOST_INSPECTED

OWNER: Final = "other#0123456789abcdef"
FOREIGN_PATHS: Final = {"escapes": "../../outside/victim", "in the library": "../../library-1/film.jpg"}
"""Where a cleanup must not remove anything, whatever a row says."""
INSPECTED: Final = {"b/two.mkv": b"22", "a.mkv": b"1", "c.txt": b"333"}


def checkpoint(stage: ScenarioStage) -> None:
    """Have a log moved into its file; once with a reader in the way; and see to one whose owner died."""
    stage.needs("checkpoint")
    database = stage.database
    if not isinstance(database, SqliteDatabase):
        raise NotApplicable("only SQLite has checkpoints")
    stage.start_plane()
    _ask_for_checkpoint(stage, 1, "passive")
    _wait_for_checkpoint(stage, 1, "completed")
    with closing(database.connect()) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM jobs").fetchone()
        stage.write("UPDATE library_roots SET name = name")
        _ask_for_checkpoint(stage, 2, "truncate")
        _wait_for_checkpoint(stage, 2, "retryable")
    stage.reach("busy")
    stage.write("UPDATE wal_maintenance_jobs SET retry_after = :now, updated_at = :at WHERE id = 2", at=stage.now())
    _wait_for_checkpoint(stage, 2, "completed")
    lease = {"worker_id": OWNER, "worker_heartbeat_at": 1, "lease_expires_at": 1, "retry_count": 1}
    _ask_for_checkpoint(stage, 3, "passive", status="running", **lease)
    _wait_for_checkpoint(stage, 3, "retryable")
    stage.reach("recovered")


def _ask_for_checkpoint(stage: ScenarioStage, number: int, mode: str, **values: Any) -> None:
    now = stage.now()
    times = {"execute_after": now - HOUR, "created_at": now - HOUR, "updated_at": now - HOUR}
    stage.insert("wal_maintenance_jobs", id=number, requested_mode=mode, reason="{}", **times, **values)


def _wait_for_checkpoint(stage: ScenarioStage, number: int, status: str) -> None:
    rule = {"completed": "CKPT-2", "retryable": "CKPT-3" if number == 2 else "CKPT-4"}[status]
    where = "id = :id AND status = :status"
    stage.wait_for(
        lambda: stage.rows("wal_maintenance_jobs", where, id=number, status=status),
        rule,
        f"the status {status!r} of checkpoint {number}",
    )


def clean_up(stage: ScenarioStage) -> None:
    """Have the thumbnails of a group removed, among them rows that name files elsewhere."""
    stage.needs("cleanup")
    thumbs = stage.state / "thumbs"
    folder = stage.library(1)
    trees.write(folder, b"film.jpg", b"a file of a library")
    trees.write(stage.folder / "outside", b"victim", b"a file of another program")
    for name in ("drawn", "of another"):
        trees.write(thumbs, f"{name}.jpg".encode(), b"picture")
    now = stage.now()
    for number, (name, path) in enumerate({"drawn": "drawn.jpg", "failed": "none.jpg", **FOREIGN_PATHS}.items()):
        status = "failed" if name == "failed" else "ready"
        _thumbnail(stage, number + 1, "gone", path, status=status)
    running = {"status": "running", "worker_id": OWNER, "lease_expires_at": now + HOUR}
    _thumbnail(stage, 8, "busy", "busy.jpg", **running)
    _thumbnail(stage, 9, "later", "of another.jpg", status="ready")
    for number, (group, after) in enumerate({"busy": -2 * HOUR, "gone": -HOUR, "later": HOUR}.items()):
        times = {"execute_after": now + after, "created_at": now - HOUR, "updated_at": now - HOUR}
        stage.insert("thumbnail_cleanup_jobs", id=number + 1, group_key=group, **times)
    stage.start_plane()
    over = "group_key = 'gone' AND status IN ('completed', 'failed')"
    stage.wait_for(lambda: stage.rows("thumbnail_cleanup_jobs", over), "CLEAN-2", "an end of the cleanup")
    stage.reach("cleaned")


def _thumbnail(stage: ScenarioStage, number: int, group: str, path: str, **values: Any) -> None:
    now = stage.now()
    stage.insert(
        "thumbnails",
        id=number,
        thumb_key=f"key {number}",
        file_id=1,
        group_key=group,
        output_path=path,
        media_type="image",
        format="jpeg",
        max_dimension=64,
        source_size_bytes=1,
        source_mtime_ns=1,
        created_at=now - HOUR,
        updated_at=now - HOUR,
        **values,
    )


def inspect(stage: ScenarioStage) -> None:
    """Have folders listed: one as it is, one that is not there, one with a path that leads out, one that lost its owners."""
    stage.needs("inspect")
    folder = stage.folder / "done"
    for name, content in INSPECTED.items():
        trees.write(folder, name.encode(), content)
    trees.write(stage.folder / "outside", b"secret", b"not below the folder")
    (folder / "link").symlink_to(stage.folder / "outside")
    crowded = stage.folder / "crowded"
    trees.write(crowded, b"0", b"one file with many names")
    for number in range(1, MOST_INSPECTED + 1):
        os.link(crowded / "0", crowded / f"{number}")
    wanted: dict[int, dict[str, Any]] = {
        1: {"folder": str(folder)},
        2: {"folder": str(folder), "paths": json.dumps(["a.mkv"])},
        3: {"folder": str(stage.folder / "not there")},
        4: {"folder": str(folder), "paths": json.dumps(["../outside/secret"])},
        5: {
            "folder": str(folder),
            "status": "running",
            "worker_id": OWNER,
            "lease_expires_at": 1,
            "lost_leases": 2,
        },
        6: {"folder": str(crowded)},
    }
    now = stage.now()
    for number, values in wanted.items():
        stage.insert("inspections", id=number, kind="arrival", created_at=now - HOUR, updated_at=now - HOUR, **values)
    stage.start_plane()
    wait_until_tried(stage, "inspections", "INSPECT-1")
    stage.reach("inspected")


def wait_until_tried(stage: ScenarioStage, table: str, rule: str) -> None:
    """Wait until every row ended or was put off."""
    left = "status = 'running' OR status = 'pending' AND tries = 0"
    stage.wait_for(lambda: not stage.rows(table, left), rule, f"an end of all {table}")
