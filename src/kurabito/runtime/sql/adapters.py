"""The two adapters of the port that keep tasks in a database."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from kurabito.clock import Clock
from kurabito.db.opening import open_database
from kurabito.db.port import Connection, Dialect
from kurabito.logs import get_logger
from kurabito.runtime.port import Claimed, ParkedClaim
from kurabito.runtime.sql.postgres import PostgresStore
from kurabito.runtime.sql.queue import KEEP, SqlQueue
from kurabito.runtime.sql.sqlite import SqliteStore
from kurabito.runtime.sql.store import INTERRUPT, Told
from kurabito.runtime.tasks.intake import MAX_PAYLOAD

if TYPE_CHECKING:
    from kurabito.db.postgres.database import PostgresDatabase
    from kurabito.db.sqlite.database import SqliteDatabase


_log = get_logger("kurabito.runtime")


class SqliteQueue(SqlQueue):
    """A queue in a SQLite file."""

    def __init__(
        self,
        database: SqliteDatabase,
        *,
        max_payload: int = MAX_PAYLOAD,
        keep: float = KEEP,
        create: bool = True,
        schema: str | None = None,
    ) -> None:
        super().__init__(database, SqliteStore(schema), max_payload=max_payload, keep=keep, create=create)
        self.workers_folder = database.workers_folder


class PostgresQueue(SqlQueue):
    """A queue in a PostgreSQL database."""

    is_remote: Final = True
    """Others may take our tasks while we cannot reach it."""

    def __init__(
        self,
        database: PostgresDatabase,
        *,
        max_payload: int = MAX_PAYLOAD,
        keep: float = KEEP,
        create: bool = True,
        schema: str | None = None,
    ) -> None:
        super().__init__(database, PostgresStore(schema), max_payload=max_payload, keep=keep, create=create)
        self._orders: deque[ParkedClaim] = deque()

    def park(self, order: ParkedClaim) -> None:
        self._orders.append(order)

    def unpark(self, order: ParkedClaim) -> bool:
        try:
            self._orders.remove(order)
        except ValueError:
            return False
        return True

    def _hear(self, text: str) -> None:
        if text == INTERRUPT:
            super()._hear(text)
            return
        # In the thread that heard it: the way through the event loop and back takes as long as a third of the claim.
        served = []
        for order in self._take_orders():
            claimed, told = self._claim_for(order)
            order.answer(claimed)
            if claimed is not None:
                served.append(order.listener)
                self._make_known(told)
        self.arrivals.ring(but=served)
        self._changes.ring()

    def _take_orders(self) -> list[ParkedClaim]:
        taken = []
        # One by one: each is either taken here or withdrawn by its worker, whoever comes first.
        while True:
            try:
                taken.append(self._orders.popleft())
            except IndexError:
                return taken

    def _claim_for(self, order: ParkedClaim) -> tuple[Claimed | None, Told]:
        def work(conn: Connection) -> tuple[Claimed, Told]:
            told: Told = []
            return self._claim(conn, order.worker, order.capacity, order.limit, order.lease, [], told), told

        try:
            return self.database.write_blocking(work)
        except Exception as problem:  # noqa: BLE001 - the worker meets it when it tries itself, and knows what to do
            _log.warning("claim_on_arrival_failed", worker=order.worker, problem=str(problem))
            return None, []


def sql_queue(
    url: str, *, clock: Clock | None, max_payload: int, keep: float, create: bool, schema: str | None = None
) -> SqlQueue:
    """The queue in the database that a URL names."""
    database = open_database(url, clock=clock, create=create, schema=schema)
    adapter = SqliteQueue if database.dialect is Dialect.SQLITE else PostgresQueue
    return adapter(database, max_payload=max_payload, keep=keep, create=create, schema=schema)  # type: ignore[arg-type]
