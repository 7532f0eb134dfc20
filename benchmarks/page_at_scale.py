"""The page of tasks, 50 of a million, from the request to the last byte of its HTML."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI

import backlog
import postgres
from harness import Options, Outcome, Row, number, run_alone
from kurabito.access import LoginLimit, Passwords, Principal, Scope, Sessions
from kurabito.protocol.planes import DataPlanes
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.web import create_web
from processes import BenchmarkBroken

LIMIT_MS: Final = 50.0
_ENTRIES: Final = 50


def run(options: Options) -> Outcome:
    """Both stores."""
    half, samples = options.size(500_000, quick=1000), options.size(50, quick=5)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-bench-")))
        server_url = stack.enter_context(postgres.server())
        urls = {
            "SQLite": f"sqlite:///{folder / 'full.db'}",
            "PostgreSQL": stack.enter_context(postgres.fresh_database(server_url)),
        }
        rows = []
        for store, url in urls.items():
            median = asyncio.run(_measure(url, half, samples))
            print(f"  {store}: {median:.1f} ms", flush=True)
            rows.append(
                Row(
                    f"{store}, a page of {_ENTRIES} out of {2 * half:,} tasks",
                    number(median, " ms"),
                    "-",
                    "-",
                    f"≤ {LIMIT_MS:.0f} ms",
                    None if options.quick else median <= LIMIT_MS,
                )
            )
    return Outcome(rows, [f"Medians of {samples} requests without a socket, after one that compiled the templates."])


async def _measure(url: str, half: int, samples: int) -> float:
    took = []
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        backlog.fill(url, waiting=half, finished=half)
        if url.startswith("postgresql://"):
            postgres.settle_down(url)
        web = create_web(
            queue=queue,
            planes=DataPlanes(queue.database),
            sessions=Sessions(queue.database),
            passwords=Passwords(queue.database),
            login_limit=LoginLimit(),
            settings=list,
            openapi=dict,
        )
        for _ in range(samples + 1):
            began = time.perf_counter()
            text = await _ask(web, "/tasks")
            took.append(1000 * (time.perf_counter() - began))
            shown = text.count('class="entry"')
            if shown != _ENTRIES:
                raise BenchmarkBroken(f"the page shows {shown} tasks")
    return statistics.median(took[1:])


async def _ask(web: FastAPI, path: str) -> str:
    """What the pages answer to a visitor who is logged in."""
    body = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        body.extend(message.get("body", b""))

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(b"accept", b"text/html")],
        "client": ("127.0.0.1", 0),
        "state": {"principal": Principal("keeper", frozenset(Scope))},
    }
    await web(scope, receive, send)
    return body.decode()


if __name__ == "__main__":
    run_alone("page_at_scale", run)
