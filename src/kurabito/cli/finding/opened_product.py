"""The product over the database of an installation, for commands that do what its pages do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kurabito.app.product import Product


@asynccontextmanager
async def opened_product() -> AsyncIterator[Product]:
    """The product, in which nothing runs; raises ConfigError where there is no database that is up to date."""
    from kurabito.app.compose.downloads import open_downloads
    from kurabito.app.compose.feeds import open_feeds, open_outbound
    from kurabito.app.compose.metadata import open_metadata
    from kurabito.app.product import open_product
    from kurabito.cli.collection.database import opened_database
    from kurabito.indexers.definitions import FOLDER
    from kurabito.library.tasks import TASK_TYPES
    from kurabito.runtime.factory import open_delegated

    with opened_database() as (settings, _):
        pass
    async with (
        open_delegated(settings.database, create=False, delegate=TASK_TYPES) as queue,
        open_outbound(settings) as outbound,
    ):
        downloads = open_downloads(queue, outbound, settings)
        feeds = open_feeds(
            queue,
            outbound,
            grabber=downloads.grabber,
            module_hosts=settings.allow_private_hosts,
            sites=settings.state / FOLDER,
        )
        metadata = open_metadata(settings, queue, outbound)
        yield open_product(settings, queue, feeds=feeds, metadata=metadata, downloads=downloads, outbound=outbound)
