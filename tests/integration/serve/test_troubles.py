"""`/health` names what does not work; `/api/v1/system`, the System page and the doctor say why."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.types import Receive, Scope, Send
from tests.support.waiting import PATIENCE, Until

from kurabito.app.listener import listen
from kurabito.app.server import Server, ServiceEnded, run_together
from kurabito.app.troubles import FILE_NAME, KeptWorker
from kurabito.runtime import Registry, Worker, open_queue

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key for the tests"
QUICK = {"KURABITO_LEASE_SECONDS": "1", "KURABITO_HEARTBEAT_SECONDS": "0.2", "KURABITO_API_KEY": KEY}


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file, timeout=PATIENCE)) as database:
        database.execute(statement)
        database.commit()


def test_a_worker_that_fails_is_named_with_its_cause_and_replaced(commands: Commands, until: Until) -> None:
    file = commands.state / "kurabito.db"
    with commands.serving("--no-dataplane", **QUICK) as served:
        api = httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)

        def health() -> httpx2.Response:
            return httpx2.get(f"{served.url}/health", timeout=PATIENCE)

        assert health().status_code == 200
        change(file, "ALTER TABLE task_workers RENAME TO gone")
        # The worker is replaced within moments, so what is looked at is the answer that told of it.
        answer = until(lambda: refused.json() if (refused := health()).status_code == 503 else None)
        assert answer == {
            "error": {"code": "not_working", "message": "not working: worker; the System page says why"},
            "parts": ["worker"],
        }
        # Whether its workers can be listed or not, why is known to the process that serves.
        until((commands.state / FILE_NAME).exists)
        until(lambda: "task_workers" in json.loads((commands.state / FILE_NAME).read_text()).get("worker", ""))
        told = {
            row["check"]: (row["verdict"], row["says"])
            for row in json.loads(commands.run("doctor", "--json", KURABITO_PORT="0").stdout)
        }
        assert told["parts"][0] == "broken"
        assert "worker: " in told["parts"][1]
        assert "task_workers" in told["parts"][1]
        change(file, "ALTER TABLE gone RENAME TO task_workers")
        until(lambda: health().status_code == 200)
        assert api.get("/api/v1/system").json()["troubles"] == []
        until(lambda: "maintenance.tidy" in str(api.get("/api/v1/system").json()["workers"]))
        served.process.send_signal(signal.SIGTERM)
        code, _, _ = served.leave()
        api.close()
    assert code == 0
    assert not (commands.state / FILE_NAME).exists()


def test_a_data_plane_that_keeps_dying_is_named_everywhere(commands: Commands, until: Until) -> None:
    with commands.serving(KURABITO_API_KEY=KEY) as served:
        api = httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)

        killed: set[int] = set()

        def three_are_killed() -> bool:
            for child in Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
                killed.add(int(child))
            return len(killed) >= 3

        until(three_are_killed)
        until(lambda: httpx2.get(f"{served.url}/health", timeout=PATIENCE).json().get("parts") == ["data_plane"])
        (trouble,) = api.get("/api/v1/system").json()["troubles"]
        assert trouble == {
            "part": "data_plane",
            "why": "the data plane was killed by SIGKILL; it is started again",
        }
        page = api.get("/system", headers={"Accept": "text/html"})
        assert 'data-part="data_plane"' in page.text
        assert "was killed by SIGKILL" in page.text
        until(lambda: httpx2.get(f"{served.url}/health", timeout=PATIENCE).status_code == 200)
        api.close()


def test_loops_that_make_no_headway_are_named_with_their_causes(commands: Commands, until: Until) -> None:
    file = commands.state / "kurabito.db"
    with commands.serving("--no-dataplane", "--no-downloader", **QUICK) as served:
        api = httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)
        tables = ("filing_questions", "placements", "inspections", "scan_sessions")
        for table in tables:
            change(file, f"ALTER TABLE {table} RENAME TO gone_{table}")
        until(lambda: {"scans", "placements"} <= set(api.get("/health").json().get("parts", ())))
        why = {one["part"]: one["why"] for one in api.get("/api/v1/system").json()["troubles"]}
        assert "scan_sessions" in why["scans"]
        assert "no such table" in why["placements"]
        for table in tables:
            change(file, f"ALTER TABLE gone_{table} RENAME TO {table}")
        until(lambda: api.get("/health").status_code == 200)
        api.close()


async def test_a_worker_that_fails_at_once_is_tried_again_later(tmp_path: Path) -> None:
    registry, made = Registry(), asyncio.Semaphore(0)

    @registry.task
    async def easy() -> None:
        """Ends at once."""

    async with open_queue(f"sqlite:///{tmp_path / 'tasks.db'}") as queue:

        def make() -> Worker:
            made.release()
            worker = Worker(queue, registry, lease=0.3, heartbeat=0.1)
            if made._value < 3:
                asyncio.get_running_loop().call_soon(worker._fail, "made to fail")
            return worker

        kept = KeptWorker(make)
        working = asyncio.create_task(kept.run())
        task = await queue.enqueue("easy")
        assert (await queue.wait(task.id, timeout=PATIENCE)).state == "succeeded"
        assert kept.trouble is None
        assert made._value >= 2
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working


async def test_a_service_that_ends_silently_ends_all_loudly() -> None:
    class Quiet:
        async def run(self) -> None:
            """Over before it began."""

    async def site(_scope: Scope, _receive: Receive, _send: Send) -> None:
        """Answers nothing."""

    with listen("127.0.0.1", 0) as listener:
        server = Server(site, on_started=lambda: None, on_stopping=lambda: None)
        with pytest.raises(ServiceEnded, match="Quiet ended without being asked to"):
            await run_together(server, listener, [Quiet()])
