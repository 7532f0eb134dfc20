"""A limit on bytes per second that every data plane of a database shares, on however many machines.

A data plane that wants to read reserves its span of time in the database, in one statement, and waits until that begins. So the
reads of all follow one another, and their sum keeps to the limit.
"""

from __future__ import annotations

import math
from typing import Final

from kurabito.db import Connection, Database, Queries
from kurabito.protocol.leased.thumbnails import IO_BUCKET

_SQL: Final = Queries("kurabito.dataplane", "io_limit.sql")
_MILLISECOND: Final = 1000


class IoLimit:
    """The limit of one bucket, as one thread uses it.

    wait = limit.reserve(file_size)      # seconds until the read may begin
    """

    def __init__(self, database: Database, bytes_per_second: int, *, bucket: str = IO_BUCKET) -> None:
        self._database = database
        self._rate = bytes_per_second
        self._bucket = bucket
        # Whole milliseconds are reserved; what a small file leaves of one is paid with the next.
        self._owed = 0

    def reserve(self, size: int) -> float:
        """Reserve the reading of so many bytes; how many seconds to wait before it."""
        self._owed += size
        cost = math.floor(self._owed * _MILLISECOND / self._rate)
        if cost == 0:
            return 0.0
        self._owed -= math.floor(cost * self._rate / _MILLISECOND)
        # Should the power fail, every reader reserves again anyway.
        return self._database.write_blocking(lambda conn: self._reserve(conn, cost), durable=False)

    def _reserve(self, conn: Connection, cost: int) -> float:
        values = {"bucket": self._bucket, "cost": cost}
        ends: int | None = conn.value(_SQL.reserve, values)
        if ends is None:
            conn.run(_SQL.warm_up, {"bucket": self._bucket})
            ends = int(conn.value(_SQL.reserve, values))
        return max(0, ends - cost - conn.now() // _MILLISECOND) / _MILLISECOND
