"""A pool of connections to PostgreSQL.

The thread that needs a connection makes it, so it learns at once why there is none, and the first call after an outage finds
the server again, however long that lasted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from kurabito.errors import DatabaseUnavailable

Raw = psycopg.Connection[tuple[Any, ...]]


class Pool:
    """At most `most` connections, each made when it is first needed."""

    def __init__(self, connect: Callable[[], Raw], most: int, patience: float) -> None:
        self._connect = connect
        self._most = most
        self._patience = patience
        self._room = threading.Semaphore(most)
        self._idle: list[Raw] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> Raw:
        """A connection that is this thread's until it is given back; raises DatabaseUnavailable when all stay in use."""
        if not self._room.acquire(timeout=self._patience):
            raise DatabaseUnavailable(
                f"all {self._most} connections of this program have been in use for {self._patience:g} s; "
                "do less at once, or look for a transaction that does not end"
            )
        try:
            with self._lock:
                if self._closed:
                    raise DatabaseUnavailable("the database is closed")
                if self._idle:
                    return self._idle.pop()
            return self._connect()
        except BaseException:
            self._room.release()
            raise

    def give_back(self, raw: Raw) -> None:
        """Keep the connection for the next; one that is broken, or in the midst of something, is closed instead."""
        usable = not raw.closed and raw.info.transaction_status is TransactionStatus.IDLE
        with self._lock:
            if usable and not self._closed:
                self._idle.append(raw)
            else:
                raw.close()
        self._room.release()

    def drop_idle(self) -> None:
        """Close the connections that are not in use: what cut one cut the others too, or they lead to the wrong server."""
        with self._lock:
            dropped, self._idle = self._idle, []
        for raw in dropped:
            raw.close()

    @contextmanager
    def connection(self) -> Iterator[Raw]:
        """A connection for the time of the block."""
        raw = self.take()
        try:
            yield raw
        finally:
            self.give_back(raw)

    def close(self) -> None:
        """Close the idle connections now, and the others when they are given back."""
        with self._lock:
            self._closed = True
        self.drop_idle()
