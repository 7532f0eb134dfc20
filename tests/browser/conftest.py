"""A real browser, a real server, a real queue and a real worker whose tasks do what a test tells them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kurabito.access import LoginLimit, Passwords, Sessions
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.runtime import Fixed, PermanentError, Registry, TaskContext, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import explain, load
from kurabito.web import create_web

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Read now: a test begins without our settings in its environment.
SHOTS = os.environ.get("KURABITO_SHOTS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

Picture = Callable[[str], Awaitable[None]]


@dataclass
class Stage:
    """What a test can do behind the browser's back."""

    queue: SqlQueue
    sessions: Sessions
    passwords: Passwords
    base_path: str
    url: str = ""
    reached: int = 0
    """How far a scan goes at once; it waits there until a test moves it on."""
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    address_exists: bool = False
    streams: set[asyncio.Task[Any]] = field(default_factory=set)
    streaming: bool = True

    async def link(self) -> str:
        return f"{self.url}/login?token={await self.sessions.new_link()}"

    def go_on(self, reached: int) -> None:
        """Let the scan go on to here."""
        self.reached = reached
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()

    def registry(self) -> Registry:
        """Tasks like those of the demo."""
        registry = Registry()

        @registry.task("library.scan")
        async def scan(_: dict[str, Any], ctx: TaskContext) -> dict[str, int]:
            for file in range(1, 201):
                while file > self.reached:
                    await ctx.report(self.reached, 200)
                    await self.moved.wait()
            return {"files": 200}

        @registry.task("poster.fetch")
        async def fetch(_: dict[str, Any]) -> str:
            if not self.address_exists:
                raise PermanentError("no poster at this address")
            return "fetched"

        @registry.task("feed.poll", retry=Fixed(180))
        async def poll(_: dict[str, Any]) -> None:
            raise ConnectionError("the feed does not answer")

        return registry

    def vanish(self) -> None:
        """Refuse events, and end the streams that are open."""
        self.streaming = False
        for stream in self.streams:
            stream.cancel()


class LetIn:
    """Stands where the doors will: the session's cookie, the log-in for whoever has none, Origin, the strict policies."""

    def __init__(self, site: ASGIApp, stage: Stage) -> None:
        self._site = site
        self._stage = stage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._site(scope, receive, send)
            return

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = POLICY
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        request = Request(scope)
        token = request.cookies.get("kurabito_session")
        principal = None if token is None else await self._stage.sessions.holder(token)
        scope.setdefault("state", {}).update(principal=principal, client="127.0.0.1")
        path = scope["path"].removeprefix(self._stage.base_path)
        site = self._site
        if scope["method"] == "POST" and request.headers.get("origin") != f"http://{request.headers['host']}":
            site = Response(f"sent by a page of {request.headers.get('origin')}", 403)
        elif principal is None and path not in ("/login", "/favicon.ico") and not path.startswith("/static/"):
            site = RedirectResponse(f"{self._stage.base_path}/login?next={path}", 303)
        await site(scope, receive, send_with_policy)


class Screen(NamedTuple):
    """A window, and where the site stands while it is looked at."""

    width: int
    height: int
    base_path: str


@pytest.fixture(params=[Screen(390, 844, ""), Screen(1280, 800, "/kurabito")], ids=["phone", "desktop"])
def screen(request: pytest.FixtureRequest) -> Screen:
    """A phone with the site at the root, a desk with the site under a base path."""
    screen: Screen = request.param
    return screen


@pytest.fixture
async def stage(tmp_path: Path, screen: Screen) -> AsyncIterator[Stage]:
    async with open_queue(f"sqlite:///{tmp_path / 'kurabito.db'}") as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        stage = Stage(queue, Sessions(queue.database), Passwords(queue.database), screen.base_path)
        async with _serving(stage, tmp_path), Worker(queue, stage.registry(), name="storehouse-1", grace=0.0):
            yield stage


@asynccontextmanager
async def _serving(stage: Stage, state: Path) -> AsyncIterator[None]:
    site = FastAPI(docs_url=None, redoc_url=None)
    site.get("/api/v1/events")(_events(stage))
    web = create_web(
        queue=stage.queue,
        sessions=stage.sessions,
        passwords=stage.passwords,
        login_limit=LoginLimit(),
        settings=lambda: explain(load(state=state)),
        openapi=site.openapi,
        base_path=stage.base_path,
    )
    site.mount("/", web)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stage.url = f"http://127.0.0.1:{listener.getsockname()[1]}{stage.base_path}"
        config = uvicorn.Config(LetIn(_BasePath(site, stage.base_path), stage), log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield
        stage.vanish()
        server.should_exit = True
        await serving


class _BasePath:
    """Says which part of the path is the base, as a server behind a proxy is told."""

    def __init__(self, site: ASGIApp, base_path: str) -> None:
        self._site = site
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._site({**scope, "root_path": self._base_path}, receive, send)


def _events(stage: Stage) -> Any:
    async def tell() -> AsyncIterator[str]:
        task = asyncio.current_task()
        assert task is not None
        stage.streams.add(task)
        yield ": welcome\n\n"
        async for event in stage.queue.events():
            facts = {each.name: _plain(getattr(event, each.name)) for each in fields(event)}
            yield f"id: {event.cursor}\nevent: {event.name}\ndata: {json.dumps(facts)}\n\n"

    async def events() -> Any:
        if not stage.streaming:
            return Response(status_code=503)
        return StreamingResponse(tell(), media_type="text/event-stream")

    return events


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID | datetime) else value


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here; tools/provision.sh installs it")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture
async def context(browser: Browser, screen: Screen) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(
        viewport={"width": screen.width, "height": screen.height},
        locale="en-GB",
        timezone_id="Asia/Tokyo",
        device_scale_factor=2,
    )
    context.set_default_timeout(15_000)
    yield context
    await context.close()


@pytest.fixture
async def page(stage: Stage, context: BrowserContext) -> AsyncIterator[Page]:
    """A tab that must end without an error on its console. It is closed before the server is."""
    page = await context.new_page()
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    await page.close()
    assert problems == []


@pytest.fixture
def picture(page: Page, screen: Screen) -> Picture:
    """Takes a picture of the page, if KURABITO_SHOTS names a folder to put it in."""

    async def take(name: str) -> None:
        if SHOTS is not None:
            await page.screenshot(path=Path(SHOTS) / f"{name}-{screen.width}.png", full_page=True)

    return take
