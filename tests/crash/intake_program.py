"""Takes fetchers' results in, in processes that kill themselves at a chosen moment.

Reads lines of JSON `{"url", "subscription_id", "titles", "moment"}` and answers each with how the process ended: `killed`, or `done`
when it came to no such moment. A moment is the n-th of these: before and after a statement, and after the commit. Moment 0
never comes.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any
from urllib.parse import quote

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import open_database
from kurabito.db.postgres.connection import PostgresConnection
from kurabito.db.sqlite.connection import SqliteConnection
from kurabito.feeds.results import FeedItem, FetcherResults


def work(url: str, subscription_id: int, titles: list[str], moment: int) -> None:
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    kind: Any
    for kind in (SqliteConnection, PostgresConnection):

        def watched(conn: Any, sql: str, params: Any, execute: Any = kind._execute) -> Any:
            pass_by()
            answer = execute(conn, sql, params)
            pass_by()
            return answer

        kind._execute = watched
    items = tuple(FeedItem(title=title, download_url=f"https://feeds.example/{quote(title)}") for title in titles)
    database = open_database(url, create=False)
    database.open()
    asyncio.run(CatalogIntake(database).receive(FetcherResults(subscription_id=subscription_id, items=items)))
    pass_by()
    database.close()


for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            work(**order)
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(ended, f"failed with {ended}") + "\n")
    sys.stdout.flush()
