"""The site over a product, in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx2

from kurabito.api import Live, TaskMeter
from kurabito.app.own.pages import OwnParts
from kurabito.app.product import Product
from kurabito.app.site import build_site, open_access
from kurabito.settings import Settings


@asynccontextmanager
async def open_pages(
    settings: Settings, product: Product, own: OwnParts | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that reads the pages as a browser does, with the key of the settings."""
    assert settings.api_key is not None
    meter = TaskMeter()
    async with Live(product.queue, hear=meter.note) as live:
        access = open_access(settings, product.database)
        site = build_site(settings, product, access, live, meter, started=datetime.now(UTC), own=own)
        transport = httpx2.ASGITransport(app=site, client=("127.0.0.1", 4711))
        headers = {"X-Api-Key": settings.api_key.get_secret_value(), "Accept": "text/html"}
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            yield client
        live.end()
