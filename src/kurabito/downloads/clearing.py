"""Clears up at downloaders: what was cancelled while one was away, and what one may have taken without telling."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kurabito.db import Connection, Database
from kurabito.downloads import attempts
from kurabito.downloads.answers import Report
from kurabito.downloads.attempts import Debt
from kurabito.downloads.items import Owner
from kurabito.downloads.orders import CLEAR, ClearOrder
from kurabito.downloads.states import Owed, Status
from kurabito.downloads.turns import Turns
from kurabito.downloads.wire import Downloaders, Item
from kurabito.errors import ModuleNotFound, OutboundError
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.runtime import Registry

_AT_ONCE: Final = 4


class Clearing:
    """Pays what is owed to downloaders."""

    def __init__(self, database: Database, downloaders: Downloaders, turns: Turns) -> None:
        self._database = database
        self._downloaders = downloaders
        self._turns = turns

    def join(self, registry: Registry) -> None:
        """Have downloaders told at once what is wanted no longer."""
        registry.task(CLEAR, concurrency=_AT_ONCE)(self.clear)

    async def clear(self, order: ClearOrder) -> int:
        """Clear up at one downloader; how much. One that does not answer is left to its next good poll."""
        try:
            service = await self._database.read(lambda conn: services.find(conn, order.module_id))
            owed = await self._debts(service)
            asked = {debt.hash for debt in owed if debt.owed is Owed.LOOK and debt.hash is not None}
            reports = await self._downloaders.look(service, asked) if asked else {}
            return await self.pay(service, asked, reports)
        except (ModuleNotFound, OutboundError):
            return 0

    async def pay(self, service: Service, asked: Collection[str], reports: Mapping[str, Report]) -> int:
        """Pay what is due at a downloader that was asked for some hashes, and reported these; how much is gone."""
        async with self._turns.at(service.id):
            if nameless := [debt for debt in await self._debts(service) if debt.is_due and debt.hash is None]:
                await self._name(service, nameless)
            due = [
                debt
                for debt in await self._debts(service)
                if debt.is_due and (debt.hash in asked if debt.owed is Owed.LOOK else debt.hash is not None)
            ]
            return await self._pay(service, due, reports)

    async def _name(self, service: Service, nameless: Sequence[Debt]) -> None:
        """Find out what a downloader calls what it may have got before a crash.

        To offer it again is the one way: what is there already is accepted and stays as it is.
        """
        items = {debt.url: Item(debt.url, debt.save_path) for debt in nameless if debt.save_path is not None}
        heard = await self._downloaders.offer(service, list(items.values()))
        names, unknown = {}, []
        for debt in nameless:
            answer = heard.answers.get(debt.url)
            if answer is not None and answer.hash is not None and answer.owner is not Owner.USER:
                names[debt.attempt_id] = answer.hash
            elif answer is not None or debt.url not in items:
                unknown.append(debt.attempt_id)

        def store(conn: Connection) -> None:
            attempts.name(conn, names)
            attempts.settle(conn, unknown)

        await self._database.write(store)

    async def _pay(self, service: Service, due: Sequence[Debt], reports: Mapping[str, Report]) -> int:
        left = {
            debt.attempt_id: (debt.hash, debt.owed)
            for debt in due
            if debt.hash is not None and not debt.is_kept and (debt.owed is not Owed.LOOK or _is_ours(debt, reports))
        }
        cancelling = sorted({hash_ for hash_, owed in left.values() if owed in (Owed.LOOK, Owed.CANCEL)})
        gone = await self._downloaders.cancel(service, cancelling) if cancelling else set()
        for hash_, owed in left.values():
            if owed in (Owed.DELETE, Owed.DELETE_FILES):
                await self._downloaders.delete(service, hash_, delete_files=owed is Owed.DELETE_FILES)
                gone.add(hash_)
        unpaid = {attempt_id for attempt_id, (hash_, _) in left.items() if hash_ not in gone}
        unpaid |= {debt.attempt_id for debt in due if _is_open(debt, reports)}
        paid = [debt.attempt_id for debt in due if debt.attempt_id not in unpaid]
        if paid:
            await self._database.write(lambda conn: attempts.settle(conn, paid))
        return len(gone)

    async def _debts(self, service: Service) -> list[Debt]:
        return await self._database.read(lambda conn: attempts.debts(conn, service.id))


def _is_ours(debt: Debt, reports: Mapping[str, Report]) -> bool:
    """Whether a downloader has it and its user did not add it."""
    found = reports.get(debt.hash or "")
    return found is not None and found.owner is not Owner.USER


def _is_open(debt: Debt, reports: Mapping[str, Report]) -> bool:
    """Whether the next poll may still find what this one did not."""
    return debt.owed is Owed.LOOK and debt.hash not in reports and not debt.is_kept and not debt.is_refuted


def count_poll(conn: Connection, service_id: int, asked: Collection[str], reports: Mapping[str, Report]) -> list[Debt]:
    """Note which doubts a good poll found and which it did not; all that is owed there."""
    looked = [debt for debt in attempts.debts(conn, service_id) if debt.owed is Owed.LOOK and debt.hash in asked]
    attempts.count_poll(
        conn,
        missed=(debt.attempt_id for debt in looked if debt.hash not in reports),
        found=(debt.attempt_id for debt in looked if debt.hash in reports),
    )
    return attempts.debts(conn, service_id)


def revive_found(conn: Connection, owed: Sequence[Debt], reports: Mapping[str, Report]) -> None:
    """What nobody took, as far as we knew, and this downloader has after all, is its own. Of what it calls by a name that we
    do not know, it is asked first.
    """
    open_debts = [debt for debt in owed if debt.status is Status.NO_DOWNLOADER and debt.owed is Owed.LOOK]
    found = {debt.attempt_id for debt in open_debts if debt.hash is None or debt.hash in reports}
    attempts.revive(conn, found)
    attempts.settle(conn, (debt.attempt_id for debt in open_debts if debt.attempt_id not in found and debt.is_refuted))
