"""Asks every downloader, at an interval, how its downloads are doing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from kurabito import logs
from kurabito.catalog.linker import lock_catalog
from kurabito.db import Connection, Database, Queries, Query
from kurabito.downloads import download_files, store
from kurabito.downloads.blocklist import store as blocklist
from kurabito.downloads.blocklist.dead_torrents import give_up_dead
from kurabito.downloads.dispatch import attempts, recovery
from kurabito.downloads.dispatch.attempts import GOOD_POLLS, PendingCleanup
from kurabito.downloads.dispatch.cleanup import DownloaderCleanup, count_poll, revive_found
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.items import DownloadStatus, Owner, TransferStatus
from kurabito.downloads.reasons import (
    DispatchCause,
    DownloadReason,
    because,
    because_of,
    by_detail,
    by_problem,
    said_by,
)
from kurabito.downloads.states import CleanupKind, Outcome, Status
from kurabito.downloads.tasks import POLL, DownloadTasks
from kurabito.http.errors import OutboundError
from kurabito.http.redaction import without_passkeys
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.reasons import Reason
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

_STATUS: Final = {
    TransferStatus.DOWNLOADING: Status.DOWNLOADING,
    TransferStatus.COMPLETED: Status.COMPLETED,
    TransferStatus.ERROR: Status.FAILED,
}
_WRITTEN_AT_ONCE: Final = 2_000
# How long what is on its way is left alone, and what was lost by a second task.
_SOON: Final = timedelta(minutes=1) // timedelta(microseconds=1)
_STUCK: Final = timedelta(minutes=15) // timedelta(microseconds=1)
_SQL: Final = Queries("kurabito.downloads.dispatch", "poller.sql")


class PolledDownload(NamedTuple):
    """A download that a downloader has, as far as the last poll knows: what a poll can change of it."""

    id: int
    hash: str
    status: str
    progress: float
    size_bytes: int | None
    rate: int | None
    peers: int | None
    detail: str | None
    missed_polls: int
    owner: str | None
    save_path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """What one round of questions found."""

    downloaders: int = 0
    offline: int = 0
    changed: int = 0


class DownloadScheduler:
    """Polls downloaders. After `elsewhere` a download that has stalled, or whose downloader is away, is sent to another one; it
    has failed if it had stalled and no other takes it. After `dead` one that no peer has has failed too, and another release
    is taken.
    """

    def __init__(
        self,
        database: Database,
        downloaders: Downloaders,
        grabber: Grabber,
        tasks: DownloadTasks,
        cleanup: DownloaderCleanup,
        *,
        interval: float,
        elsewhere: timedelta | None = None,
        dead: timedelta | None = None,
    ) -> None:
        self._database = database
        self._downloaders = downloaders
        self._grabber = grabber
        self._tasks = tasks
        self._cleanup = cleanup
        self._interval = interval
        self.elsewhere = elsewhere
        self.dead = dead

    def join(self, registry: Registry) -> None:
        """Have downloaders polled, one round at a time."""
        registry.task(POLL)(self.poll)
        registry.every(self._interval, POLL, unique_key=POLL)

    async def poll(self) -> PollResult:
        """Ask every downloader that is switched on, side by side."""

        def enabled(conn: Connection) -> list[Service]:
            return [services.find(conn, found) for (found,) in conn.all(_SQL.downloaders)]

        asked = await self._database.read(enabled)
        async with asyncio.TaskGroup() as group:
            polls = [group.create_task(self._poll(service)) for service in asked]
        changes = [poll.result() for poll in polls]
        await self._database.write(self._look_after)
        await self._database.write(self._replace_failed)
        await self._rescue()
        return PollResult(
            downloaders=len(asked),
            offline=sum(change is None for change in changes),
            changed=sum(change or 0 for change in changes),
        )

    async def poll_one(self, service: Service) -> None:
        """Ask one downloader now: its downloads are being looked at."""
        await self._poll(service)

    async def _poll(self, service: Service) -> int | None:
        """Ask one downloader; how many downloads changed, None when it does not answer."""
        name = service.registration.service_name

        def look(conn: Connection) -> tuple[list[PolledDownload], list[PendingCleanup]]:
            found = conn.all(_SQL.watched, {"module_id": service.id})
            return [PolledDownload._make(row) for row in found], attempts.pending_cleanups(conn, service.id)

        watched, cleanups = await self._database.read(look)
        doubtful = {
            pending.hash for pending in cleanups if pending.kind is CleanupKind.LOOK and pending.hash is not None
        }
        asked = {one.hash for one in watched} | doubtful
        try:
            reports = await self._downloaders.look(service, asked)
        except OutboundError as problem:
            said = [said_by(name, by_problem(problem), Outcome.UNREACHABLE)]
            reason = because_of(DownloadReason.NO_ANSWER, said)
            lost = await self._database.write(partial(_mark_unreachable, module_id=service.id, reason=reason))
            if lost:
                log.warning("downloader not responding", downloader=name, problem=problem.code, downloads=lost)
            return None
        changes = [change for one in watched if (change := _change(one, reports.get(one.hash))) is not None]
        for begin in range(0, len(changes), _WRITTEN_AT_ONCE):
            part = changes[begin : begin + _WRITTEN_AT_ONCE]
            await self._database.write(partial(_apply, module_id=service.id, changes=part, reports=reports))
        await self._database.write(partial(self._recover, service=service, asked=doubtful, reports=reports))
        try:
            await self._cleanup.run(service, doubtful, reports)
        except OutboundError as problem:
            log.info("cleanup is left to the next poll", downloader=name, problem=problem.code)
        return len(changes)

    def _recover(
        self, conn: Connection, service: Service, asked: Collection[str], reports: Mapping[str, DownloadStatus]
    ) -> None:
        """Send a downloader that answers what no other took, but for what it refused."""
        conn.run(_SQL.seen, {"module_id": service.id})
        revive_found(conn, count_poll(conn, service.id, asked, reports), reports)
        types = service.registration.capabilities.supported_download_types
        self._grabber.retry_no_downloader_links(conn, types, why=DispatchCause.ANSWERS, not_refused_by=service.id)

    def _look_after(self, conn: Connection) -> None:
        """Look after downloads that no answer of a downloader is about."""
        _leave(conn, _SQL.orphans, DownloadReason.DOWNLOADER_REMOVED)
        _leave(conn, _SQL.switched_off, DownloadReason.SWITCHED_OFF)
        attempts.abandon_old(conn, _STUCK)
        self._tasks.dispatch(conn, recovery.requeue_due(conn), DispatchCause.TRIED_AGAIN)
        if self.elsewhere is not None:
            age = {"age": self.elsewhere // timedelta(microseconds=1)}
            stalled = [found for (found,) in conn.all(_SQL.stalled, age)]
            away = [found for (found,) in conn.all(_SQL.away, age)]
            left = store.send_elsewhere(conn, stalled, because(DownloadReason.STOOD_STILL), has_stalled=True)
            left += store.send_elsewhere(conn, away, because(DownloadReason.DOWNLOADER_AWAY))
            self._tasks.dispatch(conn, sorted(left), DispatchCause.SENT_ELSEWHERE)

    def _replace_failed(self, conn: Connection) -> None:
        """Give up what is dead, and take another release of everything that failed at a downloader."""
        lock_catalog(conn)
        if self.dead is not None:
            self._tasks.clear(conn, give_up_dead(conn, self.dead))
        if failed := blocklist.unnoticed(conn):
            self._grabber.take_next(conn, failed)

    async def _rescue(self) -> None:
        """Send what no task has any more: the one that had it died too often."""
        waiting = await self._database.read(lambda conn: recovery.stuck(conn, _SOON, _STUCK))
        if not waiting:
            return
        # What was queued since then has not waited long enough, so it is not taken for lost.
        lost = set(waiting) - await self._tasks.under_way()

        def write(conn: Connection) -> None:
            self._tasks.dispatch(conn, recovery.rescue(conn, lost, _SOON), DispatchCause.LEFT_BEHIND)

        if lost:
            await self._database.write(write)


def _change(one: PolledDownload, report: DownloadStatus | None) -> dict[str, Any] | None:
    """What a poll says of a download, if that is anything new."""
    if report is None:
        missed = one.missed_polls + 1
        is_gone = missed >= GOOD_POLLS
        status = Status.FAILED if is_gone else Status(one.status)
        new = one._replace(status=status, rate=None, peers=None, missed_polls=missed)
        return _row(one, new, because(DownloadReason.REMOVED) if is_gone else None)
    status = _STATUS[report.status]
    # A program may name the tracker that does not answer, with the passkey of its user.
    detail = None if report.detail is None else without_passkeys(report.detail)
    new = one._replace(
        status=status,
        progress=1.0 if status is Status.COMPLETED else report.progress,
        size_bytes=one.size_bytes if report.size is None else report.size,
        # A program that is asked as the last piece came still says how fast that was, and is not asked again.
        rate=report.rate if status is Status.DOWNLOADING else None,
        peers=report.peers if status is Status.DOWNLOADING else None,
        detail=detail,
        missed_polls=0,
        owner=report.owner or one.owner,
        save_path=report.content_path or one.save_path,
    )
    return None if new == one else _row(one, new, by_detail(detail) if status is Status.FAILED else None)


def _row(old: PolledDownload, new: PolledDownload, reason: Reason[DownloadReason] | None) -> dict[str, Any]:
    return {
        "id": new.id,
        "hash": new.hash,
        "status": new.status,
        "progress": new.progress,
        "size": new.size_bytes,
        "downloaded": int(new.progress * (new.size_bytes or 0)),
        "rate": new.rate,
        "peers": new.peers,
        "detail": new.detail,
        "reason": None if reason is None else reason.stored(),
        "missed": new.missed_polls,
        "owner": new.owner,
        "has_new_owner": new.owner != old.owner,
        "save_path": new.save_path,
        "moved": "yes" if new.progress > old.progress else "no",
        "is_news": new.status != old.status,
    }


def _apply(
    conn: Connection, module_id: int, changes: Sequence[Mapping[str, Any]], reports: Mapping[str, DownloadStatus]
) -> None:
    mistaken = _mistaken(conn, (change["id"] for change in changes if change["status"] == Status.COMPLETED))
    changes = [{**change, **mistaken.get(change["id"], {})} for change in changes]
    conn.run(_SQL.apply, {"rows": json.dumps(changes), "module_id": module_id})
    if news := [change["id"] for change in changes if change["is_news"]]:
        store.restate_episodes(conn, news)
    if owners := {change["id"]: Owner(change["owner"]) for change in changes if change["has_new_owner"]}:
        attempts.set_owners(conn, module_id, owners)
    completed = {change["id"]: change["hash"] for change in changes if change["status"] == Status.COMPLETED}
    listed = {download_id: reports[known].files for download_id, known in completed.items()}
    download_files.store(conn, {download_id: files for download_id, files in listed.items() if files is not None})


def _mistaken(conn: Connection, completed: Iterable[int]) -> dict[int, dict[str, str]]:
    """Downloads that a downloader reports complete and that cannot be: their content is of another episode."""
    found = conn.all(_SQL.mistaken, attempts.given_ids(completed))
    return {
        one: {"status": Status.FAILED, "reason": because(DownloadReason.ANOTHER_EPISODE, title=title).stored()}
        for one, title in found
    }


def _mark_unreachable(conn: Connection, module_id: int, reason: Reason[DownloadReason]) -> int:
    conn.run(_SQL.missed, {"module_id": module_id})
    return conn.run(_SQL.mark_unreachable, {"module_id": module_id, "reason": reason.stored()})


def _leave(conn: Connection, query: Query, code: DownloadReason) -> None:
    """Say of downloads why no downloader tells of them; only the first time, as others count from when it changed."""
    found = conn.all(query, {"same_reason": f'{{"code": "{code}"%'})
    left = [{"id": one, "reason": because(code, downloader=name).stored()} for one, name in found]
    if left:
        conn.run(_SQL.leave, {"rows": json.dumps(left)})
