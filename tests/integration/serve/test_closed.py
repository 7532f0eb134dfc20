"""Whoever has neither key nor session gets nowhere."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Mount, Route

from kurabito.api import Live, TaskMeter
from kurabito.app.product import open_product
from kurabito.app.site import build_site, open_access
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import load
from kurabito.site.gate import Gate

SHARED = {"/shared/{token}/calendar.ics", "/shared/{token}/arrivals.rss"}
"""Their addresses are their keys, and a wrong one is an address of nothing."""
OPEN = {"/health", "/login", "/static/{name}", "/favicon.ico"} | SHARED


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    settings = load(state=tmp_path, database=f"sqlite:///{tmp_path / 'kurabito.db'}")
    async with open_queue(settings.database) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        access = open_access(settings, queue.database)
        parts = open_product(settings, queue)
        gate = build_site(settings, parts, access, Live(queue), TaskMeter(), started=datetime.now(UTC))
        assert isinstance(gate, Gate)
        yield gate


def routes_of(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Every method and path, those of mounted applications too."""
    for route in routes:
        if isinstance(route, Mount):
            assert isinstance(route.app, FastAPI), f"{route.path} is not walked"
            yield from routes_of(route.app.routes)
            continue
        if (included := getattr(route, "original_router", None)) is not None:
            yield from routes_of(included.routes)
            continue
        assert isinstance(route, Route | APIRoute), f"{route} is not walked"
        for method in sorted(route.methods or ()):
            yield method, route.path


async def test_every_route_refuses_a_stranger_but_the_few_that_are_open(gate: Gate) -> None:
    inside = gate._site
    assert isinstance(inside, FastAPI)
    walked = list(routes_of(inside.routes))
    assert {path for _, path in walked} >= OPEN | {"/", "/api/v1/tasks", "/api/v1/keys", "/metrics", "/system"}
    transport = httpx2.ASGITransport(gate)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8484") as stranger:
        for method, path in walked:
            answer = await stranger.request(method, re.sub(r"\{[^}]*\}", "1", path))
            if path in OPEN:
                assert "not_authenticated" not in answer.text, (method, path)
                assert path not in SHARED or answer.status_code == 404, (method, path)
                continue
            assert answer.status_code == 401, (method, path)
            if method != "HEAD":
                assert answer.json()["error"]["code"] == "not_authenticated", (method, path)
        sent_away = await stranger.get("/tasks", headers={"Accept": "text/html"})
        assert (sent_away.status_code, sent_away.headers["location"]) == (303, "/login?next=%2Ftasks")
