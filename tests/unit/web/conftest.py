"""The pages over a real queue and real access tables, asked without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.access import LoginLimit, Passwords, Principal, Sessions
from kurabito.access import Scope as Right
from kurabito.clock import ManualClock
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.protocol.planes import DataPlanes
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import explain, load
from kurabito.web import create_web

HTML = {"Accept": "text/html"}


class LetIn:
    """Stands where the doors will: whoever sends the session's cookie is let in."""

    def __init__(self, site: ASGIApp, sessions: Sessions) -> None:
        self._site = site
        self._sessions = sessions
        self.everybody = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        keeper = Principal("keeper", frozenset({Right.READ, Right.WRITE}))
        scope.setdefault("state", {}).update(principal=keeper if self.everybody else None, client="192.0.2.7")
        await self._site(scope, receive, send)


@dataclass(frozen=True)
class Site:
    """Everything a test needs to ask for pages."""

    client: httpx2.AsyncClient
    queue: SqlQueue
    sessions: Sessions
    passwords: Passwords
    clock: ManualClock
    doors: LetIn

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.client.get(path, headers={**HTML, **headers})

    async def post(self, path: str, **fields: str) -> httpx2.Response:
        return await self.client.post(path, data=fields, headers=HTML)


@pytest.fixture
def base_path() -> str:
    return ""


@pytest.fixture
async def site(migrated_sqlite: str, tmp_path: Path, base_path: str) -> AsyncIterator[Site]:
    clock = ManualClock()
    async with open_queue(migrated_sqlite, clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        sessions, passwords = Sessions(queue.database), Passwords(queue.database)
        web = create_web(
            queue=queue,
            planes=DataPlanes(queue.database),
            sessions=sessions,
            passwords=passwords,
            login_limit=LoginLimit(clock),
            settings=lambda: explain(load(state=tmp_path)),
            openapi=_some_api,
            base_path=base_path,
            clock=clock,
        )
        doors = LetIn(web, sessions)
        transport = httpx2.ASGITransport(app=doors, root_path=base_path)
        async with httpx2.AsyncClient(transport=transport, base_url="http://kurabito.test") as client:
            yield Site(client, queue, sessions, passwords, clock, doors)


def _some_api() -> dict[str, Any]:
    api = FastAPI()

    @api.get("/api/v1/things/{thing_id}", tags=["things"])
    async def thing(thing_id: int, verbose: bool = False) -> dict[str, str]:
        """Look at one <thing>."""
        return {}

    return api.openapi()
