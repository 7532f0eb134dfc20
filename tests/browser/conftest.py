"""A real browser, a real server, a real queue and a real worker whose tasks do what a test tells them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect
from tests.support.commands import KURABITO, Command
from tests.support.waiting import PATIENCE

from kurabito.api import Live, TaskMeter
from kurabito.app.product import open_product
from kurabito.app.site import Access, build_site, open_access
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.runtime import Fixed, PermanentError, Registry, TaskContext, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings, load

# The shell has the engine without the windows around it, and costs a quarter of the CPU time.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # A tab that nobody looks at goes on like one that somebody does.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
]
expect.set_options(timeout=PATIENCE * 1000)
# Read now: a test begins without our settings in its environment.
SHOTS = os.environ.get("KURABITO_SHOTS")

NewPage = Callable[..., Awaitable[Page]]
Picture = Callable[[str], Awaitable[None]]
Fit = Callable[[], Awaitable[None]]
Visit = Callable[[Page, str], Awaitable[None]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests share a loop, and with it the program that drives the browser: it starts slowly too."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.timeout(4 * PATIENCE))


@dataclass
class Stage:
    """The site as it is served, and what a test can do behind the browser's back."""

    queue: SqlQueue
    settings: Settings
    access: Access
    url: str = ""
    reached: int = 0
    """How far a scan goes at once; it waits there until a test moves it on."""
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    address_exists: bool = False
    port: int = 0
    serving: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def come(self) -> None:
        """Serve, at the address of the last time."""
        meter = TaskMeter()
        live = await self.serving.enter_async_context(Live(self.queue, hear=meter.note))
        parts = open_product(self.settings, self.queue)
        site = build_site(self.settings, parts, self.access, live, meter, started=datetime.now(UTC))
        listener = self.serving.enter_context(socket.create_server(("127.0.0.1", self.port)))
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{self.settings.base_path}"
        server = _Server(uvicorn.Config(site, log_config=None, lifespan="off", proxy_headers=False))
        running = asyncio.create_task(server.serve(sockets=[listener]))

        async def stop() -> None:
            live.end()
            server.should_exit = True
            await running

        self.serving.push_async_callback(stop)

    async def go(self) -> None:
        """Stop serving; the queue and its worker stay."""
        await self.serving.aclose()

    async def link(self, following: str = "/") -> str:
        """Logs in, and leads to a page."""
        return f"{self.url}/login?token={await self.access.sessions.new_link()}&next={following}"

    def go_on(self, reached: int) -> None:
        """Let the scan go on to here."""
        self.reached = reached
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()

    def registry(self) -> Registry:
        """Tasks like those of the demo."""
        registry = Registry()

        @registry.task("shelf.count")
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


@pytest_asyncio.fixture(loop_scope="session")
async def stage(migrated_sqlite: str, tmp_path: Path, screen: Screen) -> AsyncIterator[Stage]:
    async with open_queue(migrated_sqlite) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        settings = load(state=tmp_path, database=migrated_sqlite, base_path=screen.base_path)
        stage = Stage(queue, settings, open_access(settings, queue.database))
        async with Worker(queue, stage.registry(), name="storehouse-1", grace=0.0):
            await stage.come()
            yield stage
            await stage.go()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What a running demo says about itself."""
    with running_demo(tmp_path) as told:
        yield told


@contextmanager
def running_demo(folder: Path) -> Iterator[dict[str, str]]:
    """A demo that has its files in this folder, and what it says about itself."""
    # Of a test, settings are taken away; what tests share begins before.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KURABITO_")}
    environment["TMPDIR"] = str(folder)
    with Command[bytes]([*KURABITO, "demo", "--json"], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=PATIENCE) == 0
    assert list(folder.iterdir()) == []


class _Server(uvicorn.Server):
    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        # The signals are pytest's.
        return nullcontext()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a browser is reached that the tests share, each with a context of its own: to start one takes seconds."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; tools/provision.sh installs it")
    folder = tmp_path_factory.mktemp("chromium")
    command = [CHROMIUM, *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    # Debian's program is a script that waits for the browser: both are ended, as a group.
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            port = folder / "DevToolsActivePort"
            give_up = time.monotonic() + PATIENCE
            while not (port.exists() and "\n" in (said := port.read_text())):
                assert process.poll() is None, "chromium did not start"
                assert time.monotonic() < give_up, "chromium never said where it is"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{said.splitlines()[0]}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def shared_browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium, timeout=PATIENCE * 1000)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(shared_browser: Browser) -> AsyncIterator[Browser]:
    """The browser; what a test leaves open in it is closed after the test."""
    others = list(shared_browser.contexts)
    yield shared_browser
    for context in shared_browser.contexts:
        if context not in others:
            await context.close()


@pytest.fixture
def new_page(browser: Browser) -> NewPage:
    """Opens a page in a context of its own; the options are those of a context."""

    async def opened(**options: Any) -> Page:
        context = await browser.new_context(**options)
        context.set_default_timeout(PATIENCE * 1000)
        return await context.new_page()

    return opened


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, screen: Screen) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(
        viewport={"width": screen.width, "height": screen.height},
        locale="en-GB",
        timezone_id="Asia/Tokyo",
        # Twice as fine only where somebody is going to look.
        device_scale_factor=2 if SHOTS else 1,
    )
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
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
def fits(page: Page) -> Fit:
    """Looks whether the page is as wide as its window, its navigation is whole, and all that can be used has a name."""

    async def look() -> None:
        width = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{page.url} is {width[0]} wide in a window of {width[1]}"
        unnamed = await page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a, summary')]"
            ".filter((it) => !(it.labels?.length || it.ariaLabel || it.textContent.trim())).map((it) => it.outerHTML)"
        )
        assert unnamed == []
        clipped = await page.evaluate(
            "[...document.querySelectorAll('.nav a, .nav-open')]"
            ".filter((it) => it.offsetParent && it.scrollWidth > it.clientWidth).map((it) => it.textContent.trim())"
        )
        assert clipped == []

    return look


@pytest.fixture
def visit() -> Visit:
    """Follows a link of the navigation; a phone has most of them behind *More*."""

    async def follow(page: Page, name: str) -> None:
        link = page.get_by_role("navigation", name="Navigation").get_by_role("link", name=name, exact=True)
        if not await link.is_visible():
            await page.get_by_role("button", name="More").click()
        await link.click()

    return follow


@pytest.fixture
def picture(page: Page, screen: Screen) -> Picture:
    """Takes a picture of the page, if KURABITO_SHOTS names a folder to put it in."""

    async def take(name: str) -> None:
        if SHOTS is not None:
            await page.screenshot(path=Path(SHOTS) / f"{name}-{screen.width}.png", full_page=True)

    return take
