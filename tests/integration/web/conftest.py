"""The pages over a real database of each kind, asked as a browser without JavaScript asks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.support.sites import open_pages

from kurabito.app.compose.feeds import FeedParts, open_feeds, open_outbound
from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.app.compose.metadata import MetadataParts, open_metadata
from kurabito.app.own.pages import OwnParts
from kurabito.app.product import open_product
from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.demo.feeds import FeedStand
from kurabito.demo.metadata import MetadataStand
from kurabito.library.loop import Reconciler
from kurabito.protocol.enums import JobKind
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings
from kurabito.settings.store import SettingsStore
from kurabito.setup.progress import SetupProgress

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

KEY = "a key for the tests"


@dataclass(frozen=True)
class Site:
    """The pages, and what is behind them."""

    client: httpx2.AsyncClient
    queue: SqlQueue
    library: LibraryParts
    feeds: FeedParts
    metadata: MetadataParts
    reconciler: Reconciler

    async def get(self, path: str, /, **query: str) -> httpx2.Response:
        return await self.client.get(path, params=query or None)

    async def read(self, path: str, /, **query: str) -> str:
        """What a reader sees of a page, on one line."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", (await self.get(path, **query)).text)).split())

    async def post(self, path: str, /, **fields: str | list[str]) -> httpx2.Response:
        """Send a form, and go where it leads."""
        return await self.client.post(path, data=fields, follow_redirects=True)


Opened = Callable[..., AbstractAsyncContextManager[Site]]


@asynccontextmanager
async def _opened(
    url: str,
    state: Path,
    *,
    allow_delete: bool = True,
    settings: Settings | None = None,
    is_first_run: bool = False,
    **further: Any,
) -> AsyncIterator[Site]:
    settings = settings or Settings(api_key=KEY, state=state, database=url, allow_delete=allow_delete, **further)
    async with open_queue(url) as queue, open_outbound(settings) as outbound:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        library = open_library(settings, queue)
        feeds = open_feeds(queue, outbound, pace=0.0)
        metadata = open_metadata(settings, queue, outbound)
        metadata.posters.prepare()
        product = open_product(settings, queue, library=library, feeds=feeds, metadata=metadata, outbound=outbound)
        progress = SetupProgress(queue.database) if is_first_run else None
        own = OwnParts(settings, SettingsStore(queue.database, settings), lambda *_: None, progress)
        async with open_pages(settings, product, own) as client:
            yield Site(client, queue, library, feeds, metadata, Reconciler(queue))


@pytest.fixture
def opened() -> Opened:
    """Opens the site over a database."""
    return _opened


@pytest.fixture
async def site(url: str, tmp_path: Path) -> AsyncIterator[Site]:
    """The site without any library."""
    async with _opened(url, tmp_path / "state") as site:
        yield site


@pytest.fixture
async def feeds() -> AsyncIterator[str]:
    """Where the feeds of the demo are served."""
    stand = FeedStand()
    yield await stand.open()
    await stand.close()


@pytest.fixture
async def services() -> AsyncIterator[MetadataStand]:
    """bgm.tv and TMDB as the demo has them."""
    stand = MetadataStand()
    await stand.open()
    yield stand
    await stand.close()


@pytest.fixture
async def illustrated(url: str, tmp_path: Path, services: MetadataStand) -> AsyncIterator[Site]:
    """The site with somebody to ask about shows."""
    async with _opened(url, tmp_path / "state", **services.settings) as site:
        yield site


@pytest.fixture
async def furnished(shelf: Shelf, url: str, tmp_path: Path) -> AsyncIterator[Site]:
    """The site over the two libraries of the shelf."""
    async with _opened(url, tmp_path / "state") as site:
        yield site


@pytest.fixture
def plane(shelf: Shelf) -> Callable[[], None]:
    """Has a data plane do the next delete job."""

    def work() -> None:
        assert Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()

    return work
