"""Clears up at downloaders: what was cancelled while one was away, and what one may have taken without telling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kurabito.db import Connection, Database
from kurabito.downloads import attempts
from kurabito.downloads.answers import Report
from kurabito.downloads.attempts import Debt
from kurabito.downloads.orders import CLEAR, ClearOrder
from kurabito.downloads.states import Owed, Status
from kurabito.downloads.wire import Downloaders
from kurabito.errors import ModuleNotFound, OutboundError
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.runtime import Registry

_AT_ONCE: Final = 4


class Clearing:
    """Pays what is owed to downloaders."""

    def __init__(self, database: Database, downloaders: Downloaders) -> None:
        self._database = database
        self._downloaders = downloaders

    def join(self, registry: Registry) -> None:
        """Have downloaders told at once what is wanted no longer."""
        registry.task(CLEAR, concurrency=_AT_ONCE)(self.clear)

    async def clear(self, order: ClearOrder) -> int:
        """Clear up at one downloader; how much. One that does not answer is left to its next good poll."""
        try:
            service = await self._database.read(lambda conn: services.find(conn, order.module_id))
            owed = await self._database.read(lambda conn: attempts.debts(conn, order.module_id))
            asked = {debt.hash for debt in owed if debt.owed is Owed.LOOK}
            return await self.pay(service, owed, await self._downloaders.look(service, asked) if asked else {})
        except (ModuleNotFound, OutboundError):
            return 0

    async def pay(self, service: Service, owed: Sequence[Debt], reports: Mapping[str, Report]) -> int:
        """Pay these debts, as far as that can be done now; `reports` are what the downloader has of those to be looked up."""
        due = [debt for debt in owed if not _is_open(debt)]
        left = [debt for debt in due if not (debt.is_kept or (debt.owed is Owed.LOOK and debt.hash not in reports))]
        cancelling = sorted({debt.hash for debt in left if debt.owed in (Owed.LOOK, Owed.CANCEL)})
        gone = await self._downloaders.cancel(service, cancelling) if cancelling else set()
        for debt in left:
            if debt.owed in (Owed.DELETE, Owed.DELETE_FILES):
                await self._downloaders.delete(service, debt.hash, delete_files=debt.owed is Owed.DELETE_FILES)
                gone.add(debt.hash)
        unpaid = {debt.attempt_id for debt in left if debt.hash not in gone}
        paid = [debt.attempt_id for debt in due if debt.attempt_id not in unpaid]
        if paid:
            await self._database.write(lambda conn: attempts.settle(conn, paid))
        return len(gone)


def revive_found(conn: Connection, owed: Sequence[Debt], reports: Mapping[str, Report]) -> None:
    """What nobody took, as far as we knew, and this downloader has after all, is its own."""
    open_debts = [debt for debt in owed if debt.status is Status.NO_DOWNLOADER and debt.owed is Owed.LOOK]
    attempts.revive(conn, (debt.attempt_id for debt in open_debts if debt.hash in reports))
    attempts.settle(conn, (debt.attempt_id for debt in open_debts if debt.hash not in reports))


def _is_open(debt: Debt) -> bool:
    """Whether it is still to be seen who gets the download."""
    return debt.owed is Owed.LOOK and debt.status in (Status.PENDING, Status.NO_DOWNLOADER)
