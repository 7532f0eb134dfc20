"""Takes fetchers' results in, in processes that kill themselves at a chosen moment: `{"url", "subscription_id", "titles", "moment"}`."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from moments import die_at, serve  # type: ignore[import-not-found]

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import open_database
from kurabito.feeds.results import FeedItem, FetcherResults


def work(url: str, subscription_id: int, titles: list[str], moment: int) -> None:
    pass_by = die_at(moment)
    items = tuple(FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}") for title in titles)
    database = open_database(url, create=False)
    database.open()
    asyncio.run(CatalogIntake(database).receive(FetcherResults(subscription_id=subscription_id, items=items)))
    pass_by()
    database.close()


serve(work)
