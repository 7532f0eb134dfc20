"""Hears PostgreSQL's notifications on a connection of its own, and comes back when that breaks."""

from __future__ import annotations

import selectors
import threading
from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg import sql

from kurabito.logs import get_logger

_log = get_logger("kurabito.db")

_LOOK_UP: Final = 0.25
_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0


class NotificationListener:
    """A thread that waits for notifications on one channel; `connected` is given each connection it makes."""

    def __init__(
        self,
        dsn: str,
        channel: str,
        hear: Callable[[str], None],
        connected: Callable[[psycopg.Connection[Any]], object],
    ) -> None:
        self._dsn = dsn
        self._listen_to = sql.SQL("LISTEN {}").format(sql.Identifier(channel))
        self._hear = hear
        self._connected = connected
        self._listening = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-listener", daemon=True)

    def start(self) -> None:
        """Begin, and return once the server knows (or does not answer)."""
        self._thread.start()
        self._listening.wait(timeout=5)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        wait = _FIRST_WAIT
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._dsn, autocommit=True, application_name="kurabito listener") as connection:
                    self._connected(connection)
                    connection.execute(self._listen_to)
                    wait = _FIRST_WAIT
                    # What was sent before this moment was not heard.
                    self._hear("")
                    self._listening.set()
                    self._pass_on(connection)
            except Exception as problem:  # noqa: BLE001 - whatever it was: a thread that ends hears nothing for good
                _log.warning("listener_lost", problem=str(problem).strip(), again_in=wait)
                self._stopping.wait(wait)
                wait = min(wait * 2, _LONGEST_WAIT)

    def _pass_on(self, connection: psycopg.Connection[Any]) -> None:
        arrived: dict[str, None] = {}
        # The callback may use the connection, and more arrives meanwhile.
        connection.add_notify_handler(lambda notification: arrived.setdefault(notification.payload))
        # `select` knows only the first 1,024 descriptors of a process.
        with selectors.DefaultSelector() as ready:
            ready.register(connection, selectors.EVENT_READ)
            while not self._stopping.is_set():
                if not arrived and ready.select(_LOOK_UP):
                    connection.pgconn.consume_input()
                    while notification := connection.pgconn.notifies():
                        arrived[notification.extra.decode()] = None
                while arrived:
                    self._hear(arrived.popitem()[0])
