"""Sends downloads to downloaders: one request for each downloader and type, the next one gets what the first did not take.

An attempt is written before it is sent. Whoever carries an order out after a crash asks that downloader first what it has,
so nothing is sent twice and nothing is lost. What finds no room on the disk waits, as if its downloader were away.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from kurabito import logs
from kurabito.catalog.download_types import DownloadType
from kurabito.catalog.linking import lock_catalog
from kurabito.clock import SECOND
from kurabito.db import Connection, Database
from kurabito.downloads import attempts, download_files, rows, shipments
from kurabito.downloads.answers import ItemAnswer
from kurabito.downloads.attempts import Round
from kurabito.downloads.orders import DISPATCH, DispatchOrder, Orders
from kurabito.downloads.room import Room
from kurabito.downloads.rows import Ending, Parcel
from kurabito.downloads.shipments import Shipment
from kurabito.downloads.states import Outcome, Owed, Status
from kurabito.downloads.taking import Taking
from kurabito.downloads.turns import Turns
from kurabito.downloads.wire import Downloaders, Heard
from kurabito.errors import OutboundError
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

NO_TYPE: Final = "no downloader takes a URL of this kind"
NOBODY: Final = "no downloader for {} is registered and switched on"
GAVE_UP: Final = "it stood still, and no other downloader takes it"
_AT_ONCE: Final = 4
# How long it is waited for what may pass, such as a host that does not give its torrent file; after the last it has failed.
_WAITS: Final = tuple(minutes * 60 * SECOND for minutes in (1, 5, 20, 60))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What became of an order."""

    downloading: int = 0
    failed: int = 0
    no_downloader: int = 0


class Dispatcher:
    """Carries dispatch orders out. `root` is the folder for downloads, as the core sees it; `reserve` bytes there stay free."""

    def __init__(
        self,
        database: Database,
        downloaders: Downloaders,
        orders: Orders,
        turns: Turns,
        root: Path,
        taking: Taking,
        *,
        reserve: int = 0,
    ) -> None:
        self._database = database
        self._downloaders = downloaders
        self._orders = orders
        self._turns = turns
        self._root = root
        self._taking = taking
        self._room = Room(root, reserve)
        self._telling: set[int] = set()
        """Downloaders that say whose something is."""

    def join(self, registry: Registry) -> None:
        """Have downloads sent when they are asked for."""
        registry.task(DISPATCH, concurrency=_AT_ONCE)(self.dispatch)

    async def dispatch(self, order: DispatchOrder) -> Dispatched:
        """Send the downloads of an order that are still wanted."""
        parcels = await self._database.write(partial(_begin, download_ids=order.download_ids))
        by_type: dict[DownloadType | None, list[Parcel]] = defaultdict(list)
        for parcel in parcels:
            by_type[parcel.download_type].append(parcel)
        if unknown := by_type.pop(None, []):
            nobody = [Ending(parcel.id, Status.NO_DOWNLOADER, NO_TYPE) for parcel in unknown]
            await self._database.write(lambda conn: rows.conclude(conn, nobody))
        async with asyncio.TaskGroup() as group:
            for kind, of_kind in by_type.items():
                if kind is not None:
                    group.create_task(self._cascade(kind, of_kind))
        now = await self._database.read(lambda conn: rows.of_links(conn, (parcel.link_id for parcel in parcels)))
        counts = Counter(status for _, status in now.values())
        log.info("dispatched", why=order.why, **{status.value: count for status, count in counts.items()})
        return Dispatched(
            downloading=counts[Status.DOWNLOADING],
            failed=counts[Status.FAILED],
            no_downloader=counts[Status.NO_DOWNLOADER],
        )

    async def _cascade(self, kind: DownloadType, parcels: Sequence[Parcel]) -> None:
        """Offer downloads of one type to one downloader after the other."""

        def look(conn: Connection) -> tuple[list[Service], dict[int, Round]]:
            return services.able(conn, kind), attempts.rounds(conn, (parcel.id for parcel in parcels))

        able, rounds = await self._database.read(look)
        waiting = {parcel.id: parcel for parcel in parcels}
        for service in able:
            unanswered = [one for one in waiting.values() if service.id in rounds[one.id].unanswered]
            for done in await self._ask(service, unanswered, rounds, again=True) if unanswered else ():
                del waiting[done]
        for service in able:
            tried = [one for one in waiting.values() if _may_have(service, one, rounds[one.id])]
            for done in await self._ask(service, tried, rounds) if tried else ():
                del waiting[done]
        if left := list(waiting.values()):
            given_up = partial(_give_up, parcels=left, able=able, rounds=rounds, taking=self._taking)
            await self._database.write(given_up)

    async def _ask(
        self, service: Service, parcels: Sequence[Parcel], rounds: Mapping[int, Round], *, again: bool = False
    ) -> set[int]:
        """Offer these to one downloader; those that need no other, because it took them or nobody wants them."""
        name = service.registration.service_name
        async with self._turns.at(service.id):
            free = await self._room.free()
            shipment = await self._database.write(
                partial(shipments.prepare, service=service, parcels=parcels, root=self._root, free=free)
            )
            for download_id, reason in shipment.cramped.items():
                rounds[download_id].note(service.id, name, Outcome.UNREACHABLE, reason)
            heard = Heard()
            if again:
                heard.answers = await self._already_there(service, shipment.hashes)
            elif shipment.hashes and service.id not in self._telling:
                shipment = await self._look_first(service, shipment)
            if offered := [item for url, item in shipment.items.items() if url not in heard.answers]:
                answered = await self._downloaders.offer(service, offered)
                heard = Heard(heard.answers | answered.answers, answered.problem)
                if any(one.owner is not None for one in answered.answers.values()):
                    self._telling.add(service.id)
            done = await self._database.write(
                partial(shipments.settle, orders=self._orders, shipment=shipment, heard=heard, rounds=rounds)
            )
        return done.union(shipment.unwanted)

    async def _already_there(self, service: Service, hashes: Mapping[str, str]) -> dict[str, ItemAnswer]:
        """What a downloader has of what may have been sent to it before a crash."""
        try:
            found = await self._downloaders.look(service, set(hashes.values())) if hashes else {}
        except OutboundError:
            return {}
        return {
            url: ItemAnswer(True, known, owner=found[known].owner) for url, known in hashes.items() if known in found
        }

    async def _look_first(self, service: Service, shipment: Shipment) -> Shipment:
        """See what a downloader has before it is offered anything: one that cannot say whose something is tells at least that."""
        try:
            there = await self._downloaders.look(service, set(shipment.hashes.values()))
        except OutboundError:
            return shipment
        untold = {known for known, report in there.items() if report.owner is None}
        return await self._database.write(partial(shipments.note_foreign, shipment=shipment, there=untold))


def _begin(conn: Connection, download_ids: Sequence[int]) -> list[Parcel]:
    """What is still to be sent of an order. What a downloader has already, for another link, is only joined."""
    attempts.abandon(conn, download_ids)
    parcels = rows.parcels(conn, download_ids)
    rows.touch(conn, (parcel.id for parcel in parcels))
    held = rows.held(conn, (parcel.hash for parcel in parcels if parcel.hash is not None))
    joining = {
        parcel.id: {**known, "id": parcel.id}
        for parcel in parcels
        if parcel.hash is not None
        and (known := held.get(parcel.hash)) is not None
        and known["module_id"] != parcel.avoids
    }
    by_module: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in joining.values():
        by_module[row["module_id"]].append(row)
    for module_id, of_module in by_module.items():
        attempts.write(conn, services.find(conn, module_id), of_module)
        joined = [{"id": row["id"], "outcome": Outcome.ACCEPTED, "owner": row["owner"]} for row in of_module]
        attempts.answer(conn, module_id, joined)
        attempts.doubt(conn, module_id, of_module)
    if joining:
        rows.join_held(conn, list(joining.values()))
        download_files.share(conn, joining)
    return [parcel for parcel in parcels if parcel.id not in joining]


def _give_up(
    conn: Connection, parcels: Sequence[Parcel], able: Sequence[Service], rounds: Mapping[int, Round], taking: Taking
) -> None:
    """Nobody took these. They failed if every downloader said no for good, and another release is taken; else one may still
    take them later.
    """
    lock_catalog(conn)
    asked = {service.id for service in able}
    lost: dict[int, list[dict[str, Any]]] = defaultdict(list)
    ended, failed = [], []
    for parcel in parcels:
        tried = rounds[parcel.id]
        for module_id in tried.unanswered - asked:
            lost[module_id].append({"id": parcel.id, "outcome": Outcome.UNCLEAR, "owed": Owed.LOOK})
        # The one that it was taken away from may take it again, unless it stood still there.
        capable = asked - {parcel.avoids} if parcel.has_stalled else asked
        said = "; ".join([*tried.refused.values(), *tried.missed.values()])
        retry_in = _WAITS[parcel.tries] if tried.passing and parcel.tries < len(_WAITS) else None
        if retry_in is None and capable <= tried.refused.keys() and (capable or parcel.has_stalled):
            why = f"{GAVE_UP}; {said}".rstrip("; ") if parcel.has_stalled else said
            ended.append(Ending(parcel.id, Status.FAILED, why))
            failed.append(parcel.link_id)
        else:
            why = said or NOBODY.format(parcel.download_type)
            ended.append(Ending(parcel.id, Status.NO_DOWNLOADER, why, retry_in))
    for module_id, of_module in lost.items():
        attempts.answer(conn, module_id, of_module)
    rows.conclude(conn, ended)
    if failed:
        taking.take_next(conn, failed)


def _may_have(service: Service, parcel: Parcel, tried: Round) -> bool:
    return service.id != parcel.avoids and service.id not in tried.refused and service.id not in tried.missed
