"""A scan through the running product, with a data plane played by hand."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kurabito.db import Connection, Database, leases, open_database
from kurabito.protocol.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

Until = Callable[[Callable[[], object]], None]
KEY = "a key for the tests"
SESSION = (
    "INSERT INTO scan_sessions (job_id, library_id, status, total_paths, files_seen, added_count, started_at) "
    "VALUES (:job, :library, 'succeeded', 3, 3, 3, :now)"
)


def ask(url: str, method: str = "GET", body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(url, method=method, headers={"X-Api-Key": KEY, "Content-Type": "application/json"})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def do_job(database: Database) -> str | None:
    """Claim the job that is pending and complete it; its kind."""

    def work(conn: Connection) -> str | None:
        rows = leases.claim(conn, JOBS, "plane#1", lease=30_000_000, limit=1)
        if not rows:
            return None
        job, kind, library = rows[0][:3]
        if kind == "scan":
            conn.run(SESSION, {"job": job, "library": library})
        ended = [(job, "plane#1", "completed", 1.0, None, None)]
        assert not leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)
        return str(kind)

    return database.write_blocking(work)


def test_a_scan_is_asked_for_done_and_followed_by_a_hash(commands: Commands, until: Until, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        api = f"{served.url}/api/v1"
        library = ask(f"{api}/libraries", "POST", {"name": "Films", "path": str(tmp_path / "films")})
        task = ask(f"{api}/libraries/{library['id']}/scan", "POST")["task_id"]
        database = open_database(f"sqlite:///{commands.state / 'kurabito.db'}", create=False)
        database.open()
        done: list[str] = []

        def both_done() -> bool:
            if (kind := do_job(database)) is not None:
                done.append(kind)
            return len(done) == 2

        try:
            until(both_done)
        finally:
            database.close()
        assert done == ["scan", "hash"]
        until(lambda: ask(f"{api}/tasks?task_type=library.hash&state=succeeded")["items"])
        scan = ask(f"{api}/scan-tasks/{task}")
        assert (scan["status"], scan["progress"]) == ("completed", {"scanned_paths": 3, "total_paths": 3})
        assert scan["result"] == {"added_count": 3, "removed_count": 0, "failed_scrape_count": 0}
        library = ask(f"{api}/libraries/{library['id']}")
        assert library["file_count"] == 3
        assert library["last_scanned_at"] is not None
        assert "Traceback" not in served.log.read_text()
        served.process.terminate()
        assert served.leave()[0] == 0
