"""Sends downloads to downloaders: one request for each downloader and type, the next one gets what the first did not take.

An attempt is written before it is sent. After a crash the next task asks that downloader first what it has, so nothing is
sent twice and nothing is lost. What finds no room on the disk waits, as if its downloader were away.
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
from kurabito.catalog.linker import lock_catalog
from kurabito.clock import SECOND
from kurabito.db import Connection, Database
from kurabito.downloads import download_files, store
from kurabito.downloads.dispatch import attempts, batches, outbox
from kurabito.downloads.dispatch.attempts import DispatchRound
from kurabito.downloads.dispatch.batches import Batch
from kurabito.downloads.dispatch.locks import DownloaderLocks
from kurabito.downloads.dispatch.outbox import DownloadRequest, Ending
from kurabito.downloads.dispatch.remote import Downloaders, OfferReply
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.items import DownloadItemResult
from kurabito.downloads.reasons import DownloadReason, because, because_of
from kurabito.downloads.states import CleanupKind, Outcome, Status
from kurabito.downloads.tasks import DISPATCH, DispatchTask, DownloadTasks
from kurabito.http.errors import OutboundError
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

_AT_ONCE: Final = 4
# How long it is waited for what may pass, such as a host that does not give its torrent file; after the last it has failed.
_WAITS: Final = tuple(minutes * 60 * SECOND for minutes in (1, 5, 20, 60))


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchResult:
    """What became of the downloads of one task."""

    downloading: int = 0
    failed: int = 0
    no_downloader: int = 0


class DownloadDispatcher:
    """Runs the dispatch tasks. `root` is the folder for downloads, as the core sees it; `reserve` bytes there stay free."""

    def __init__(
        self,
        database: Database,
        downloaders: Downloaders,
        tasks: DownloadTasks,
        locks: DownloaderLocks,
        root: Path,
        grabber: Grabber,
        *,
        reserve: int = 0,
    ) -> None:
        self._database = database
        self._downloaders = downloaders
        self._tasks = tasks
        self._locks = locks
        self._root = root
        self._grabber = grabber
        self._room = Room(root, reserve)
        self._naming_owners: set[int] = set()
        """Downloaders that say whose something is."""

    def join(self, registry: Registry) -> None:
        """Have downloads sent when they are asked for."""
        registry.task(DISPATCH, concurrency=_AT_ONCE)(self.dispatch)

    async def dispatch(self, task: DispatchTask) -> DispatchResult:
        """Send the downloads of a task that are still wanted."""
        requests = await self._database.write(partial(_begin, download_ids=task.download_ids))
        by_type: dict[DownloadType | None, list[DownloadRequest]] = defaultdict(list)
        for request in requests:
            by_type[request.download_type].append(request)
        if unknown := by_type.pop(None, []):
            no_type = because(DownloadReason.NO_TYPE)
            unsent = [Ending(request.id, Status.NO_DOWNLOADER, no_type) for request in unknown]
            await self._database.write(lambda conn: outbox.conclude(conn, unsent))
        async with asyncio.TaskGroup() as group:
            for kind, of_kind in by_type.items():
                if kind is not None:
                    group.create_task(self._cascade(kind, of_kind))
        now = await self._database.read(lambda conn: store.of_links(conn, (request.link_id for request in requests)))
        counts = Counter(status for _, status in now.values())
        log.info("dispatched", why=task.why, **{status.value: count for status, count in counts.items()})
        return DispatchResult(
            downloading=counts[Status.DOWNLOADING],
            failed=counts[Status.FAILED],
            no_downloader=counts[Status.NO_DOWNLOADER],
        )

    async def _cascade(self, kind: DownloadType, requests: Sequence[DownloadRequest]) -> None:
        """Offer downloads of one type to one downloader after the other."""

        def look(conn: Connection) -> tuple[list[Service], dict[int, DispatchRound]]:
            return services.able(conn, kind), attempts.rounds(conn, (request.id for request in requests))

        able, rounds = await self._database.read(look)
        waiting = {request.id: request for request in requests}
        for service in able:
            unanswered = [one for one in waiting.values() if service.id in rounds[one.id].unanswered]
            for done in await self._offer(service, unanswered, rounds, again=True) if unanswered else ():
                del waiting[done]
        for service in able:
            tried = [one for one in waiting.values() if _may_have(service, one, rounds[one.id])]
            for done in await self._offer(service, tried, rounds) if tried else ():
                del waiting[done]
        if left := list(waiting.values()):
            given_up = partial(_give_up, requests=left, able=able, rounds=rounds, grabber=self._grabber)
            await self._database.write(given_up)

    async def _offer(
        self,
        service: Service,
        requests: Sequence[DownloadRequest],
        rounds: Mapping[int, DispatchRound],
        *,
        again: bool = False,
    ) -> set[int]:
        """Offer these to one downloader; those that need no other, because it took them or they are no longer wanted."""
        name = service.registration.service_name
        async with self._locks.at(service.id):
            free = await self._room.free()
            batch = await self._database.write(
                partial(batches.prepare, service=service, requests=requests, root=self._root, free=free)
            )
            for download_id, reason in batch.no_room_for.items():
                rounds[download_id].note(service.id, name, Outcome.UNREACHABLE, reason)
            reply = OfferReply()
            if again:
                reply.results = await self._already_there(service, batch.hashes)
            elif batch.hashes and service.id not in self._naming_owners:
                batch = await self._look_first(service, batch)
            if offered := [item for url, item in batch.items.items() if url not in reply.results]:
                answer = await self._downloaders.offer(service, offered)
                reply = OfferReply(reply.results | answer.results, answer.problem)
                if any(one.owner is not None for one in answer.results.values()):
                    self._naming_owners.add(service.id)
            done = await self._database.write(
                partial(batches.settle, tasks=self._tasks, batch=batch, reply=reply, rounds=rounds)
            )
        return done.union(batch.unwanted)

    async def _already_there(self, service: Service, hashes: Mapping[str, str]) -> dict[str, DownloadItemResult]:
        """What a downloader has of what may have been sent to it before a crash."""
        try:
            found = await self._downloaders.look(service, set(hashes.values())) if hashes else {}
        except OutboundError:
            return {}
        return {
            url: DownloadItemResult.accepted(url, known, found[known].owner)
            for url, known in hashes.items()
            if known in found
        }

    async def _look_first(self, service: Service, batch: Batch) -> Batch:
        """See what a downloader has before it is offered anything: one that cannot say whose something is tells at least that."""
        try:
            there = await self._downloaders.look(service, set(batch.hashes.values()))
        except OutboundError:
            return batch
        unowned = {known for known, report in there.items() if report.owner is None}
        return await self._database.write(partial(batches.note_foreign, batch=batch, there=unowned))


def _begin(conn: Connection, download_ids: Sequence[int]) -> list[DownloadRequest]:
    """What is still to be sent of a task. What a downloader has already, for another link, is only joined."""
    attempts.abandon(conn, download_ids)
    requests = outbox.requests(conn, download_ids)
    outbox.touch(conn, (request.id for request in requests))
    held = outbox.held(conn, (request.hash for request in requests if request.hash is not None))
    joining = {
        request.id: {**known, "id": request.id}
        for request in requests
        if request.hash is not None
        and (known := held.get(request.hash)) is not None
        and known["module_id"] != request.avoids
    }
    by_module: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in joining.values():
        by_module[row["module_id"]].append(row)
    for module_id, of_module in by_module.items():
        attempts.begin(conn, services.find(conn, module_id), of_module)
        joined = [{"id": row["id"], "outcome": Outcome.ACCEPTED, "owner": row["owner"]} for row in of_module]
        attempts.record_answers(conn, module_id, joined)
        attempts.look_elsewhere(conn, module_id, of_module)
    if joining:
        outbox.join_held(conn, list(joining.values()))
        download_files.share(conn, joining)
    return [request for request in requests if request.id not in joining]


def _give_up(
    conn: Connection,
    requests: Sequence[DownloadRequest],
    able: Sequence[Service],
    rounds: Mapping[int, DispatchRound],
    grabber: Grabber,
) -> None:
    """No downloader took these. They failed if every one refused them for good, and another release is taken; else one may
    still take them later.
    """
    lock_catalog(conn)
    asked = {service.id for service in able}
    lost: dict[int, list[dict[str, Any]]] = defaultdict(list)
    ended, failed = [], []
    for request in requests:
        tried = rounds[request.id]
        for module_id in tried.unanswered - asked:
            lost[module_id].append({"id": request.id, "outcome": Outcome.UNCLEAR, "cleanup": CleanupKind.LOOK})
        # The one that it was taken away from may take it again, unless it stalled there.
        capable = asked - {request.avoids} if request.has_stalled else asked
        reasons = [*tried.refused.values(), *tried.missed.values()]
        retry_in = _WAITS[request.tries] if tried.passing and request.tries < len(_WAITS) else None
        if retry_in is None and capable <= tried.refused.keys() and (capable or request.has_stalled):
            code = DownloadReason.GAVE_UP if request.has_stalled else DownloadReason.NOT_TAKEN
            ended.append(Ending(request.id, Status.FAILED, because_of(code, reasons)))
            failed.append(request.link_id)
        else:
            no_downloader = because(DownloadReason.NO_DOWNLOADER, type=request.download_type)
            why = because_of(DownloadReason.NOT_TAKEN, reasons) if reasons else no_downloader
            ended.append(Ending(request.id, Status.NO_DOWNLOADER, why, retry_in))
    for module_id, of_module in lost.items():
        attempts.record_answers(conn, module_id, of_module)
    outbox.conclude(conn, ended)
    if failed:
        grabber.take_next(conn, failed)


def _may_have(service: Service, request: DownloadRequest, tried: DispatchRound) -> bool:
    return service.id != request.avoids and service.id not in tried.refused and service.id not in tried.missed
