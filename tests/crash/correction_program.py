"""Corrects a catalog, in processes that kill themselves at a chosen moment: `{"url", "step", "moment"}`."""

from __future__ import annotations

import asyncio

from moments import die_at, serve  # type: ignore[import-not-found]

from kurabito.catalog.corrections.service import Corrections
from kurabito.db import open_database


def work(url: str, step: list[object], moment: int) -> None:
    database = open_database(url, create=False)
    database.open()
    pass_by = die_at(moment)
    name, *values = step
    asyncio.run(getattr(Corrections(database), str(name))(*values))
    pass_by()
    database.close()


serve(work)
