"""Orders for a data plane: `delete` jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.library.deletion", "delete_jobs.sql")


def order_delete_job(conn: Connection, payload: Mapping[str, Any], *, dry_run: bool, total: int) -> str:
    """Order a `delete` job; returns its id. On a dry run it checks everything and changes nothing."""
    job_id = str(uuid4())
    values = {"id": job_id, "dry_run": int(dry_run), "payload": json.dumps(payload), "total_items": total}
    conn.run(_SQL.add_job, values)
    conn.notify()
    return job_id
