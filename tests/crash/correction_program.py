"""Corrects a catalog, in processes that kill themselves at a chosen moment: `{"url", "step", "moment"}`."""

from __future__ import annotations

import asyncio
from typing import Any

from moments import die_at, serve  # type: ignore[import-not-found]

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.service import Corrections
from kurabito.db import Database, open_database


def work(url: str, step: list[Any], moment: int) -> None:
    database = open_database(url, create=False)
    database.open()
    pass_by = die_at(moment)
    asyncio.run(correct(database, *step))
    pass_by()
    database.close()


async def correct(database: Database, name: str, *values: Any) -> None:
    """Make one correction."""
    corrections = Corrections(database)
    match name, *values:
        case "split", series_id, link_ids:
            await corrections.split(series_id, link_ids=link_ids)
        case "move", link_id, series_id:
            await corrections.move(link_id, series_id=series_id)
        case "offset", series_id, offset:
            await Catalog(database).change(series_id, {"episode_offset": offset})
        case _:
            await getattr(corrections, name)(*values)


if __name__ == "__main__":
    serve(work)
