"""A program that stands still in the midst of a transaction, for as long as it lives: python vanishing_program.py HOW URL MARK

HOW is `claiming` (the runtime's own transaction has claimed every task) or `transact` (the caller's function has enqueued
one). It makes the file MARK when it has got there.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any, cast

from kurabito.db.port import Connection
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue


async def main(how: str, url: str, mark: Path) -> None:
    async with open_queue(url) as opened:
        queue = cast("SqlQueue", opened)

        def stand_still() -> None:
            mark.touch()
            time.sleep(3600)

        def claiming(conn: Connection) -> None:
            conn.run("UPDATE tasks SET priority = priority")
            stand_still()

        def transact(raw: Any) -> None:
            queue.enqueue_in(raw, "never seen")
            stand_still()

        await (queue.database.write(claiming) if how == "claiming" else queue.transact(transact))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
