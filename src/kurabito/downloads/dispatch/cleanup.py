"""Cleans up at downloaders: what was cancelled while one was away, and what one may have taken without an answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kurabito.db import Connection, Database
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.dispatch.attempts import PendingCleanup
from kurabito.downloads.dispatch.locks import DownloaderLocks
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.items import DownloadItem, DownloadStatus, Owner
from kurabito.downloads.states import CleanupKind, Status
from kurabito.downloads.tasks import CLEAR, CleanupTask
from kurabito.http.errors import OutboundError
from kurabito.modules import services
from kurabito.modules.errors import ModuleNotFound
from kurabito.modules.services import Service
from kurabito.runtime import Registry

_AT_ONCE: Final = 4


class DownloaderCleanup:
    """Removes from downloaders what they should no longer have."""

    def __init__(self, database: Database, downloaders: Downloaders, locks: DownloaderLocks) -> None:
        self._database = database
        self._downloaders = downloaders
        self._locks = locks

    def join(self, registry: Registry) -> None:
        """Have downloaders give up at once what is no longer wanted."""
        registry.task(CLEAR, concurrency=_AT_ONCE)(self.clear)

    async def clear(self, task: CleanupTask) -> int:
        """Clean up at one downloader; how much. One that does not answer is left to its next good poll."""
        try:
            service = await self._database.read(lambda conn: services.find(conn, task.module_id))
            cleanups = await self._pending(service)
            asked = {
                pending.hash for pending in cleanups if pending.kind is CleanupKind.LOOK and pending.hash is not None
            }
            reports = await self._downloaders.look(service, asked) if asked else {}
            return await self.run(service, asked, reports)
        except (ModuleNotFound, OutboundError):
            return 0

    async def run(self, service: Service, asked: Collection[str], reports: Mapping[str, DownloadStatus]) -> int:
        """Do what is due at a downloader that was asked for some hashes and reported these; how much is gone."""
        async with self._locks.at(service.id):
            if nameless := [
                pending for pending in await self._pending(service) if pending.is_due and pending.hash is None
            ]:
                await self._name(service, nameless)
            due = [
                pending
                for pending in await self._pending(service)
                if pending.is_due
                and (pending.hash in asked if pending.kind is CleanupKind.LOOK else pending.hash is not None)
            ]
            return await self._clean_up(service, due, reports)

    async def _name(self, service: Service, nameless: Sequence[PendingCleanup]) -> None:
        """Find out what a downloader calls what it may have got before a crash.

        To offer it again is the only way: a download that the program already has is accepted and stays as it is.
        """
        items = {
            pending.url: DownloadItem(pending.url, pending.save_path)
            for pending in nameless
            if pending.save_path is not None
        }
        reply = await self._downloaders.offer(service, list(items.values()))
        names, unknown = {}, []
        for pending in nameless:
            answer = reply.results.get(pending.url)
            if answer is not None and answer.hash is not None and answer.owner is not Owner.USER:
                names[pending.attempt_id] = answer.hash
            elif answer is not None or pending.url not in items:
                unknown.append(pending.attempt_id)

        def store(conn: Connection) -> None:
            attempts.set_hashes(conn, names)
            attempts.settle(conn, unknown)

        await self._database.write(store)

    async def _clean_up(
        self, service: Service, due: Sequence[PendingCleanup], reports: Mapping[str, DownloadStatus]
    ) -> int:
        left = {
            pending.attempt_id: (pending.hash, pending.kind)
            for pending in due
            if pending.hash is not None
            and not pending.is_kept
            and (pending.kind is not CleanupKind.LOOK or _is_ours(pending, reports))
        }
        cancelling = sorted({hash_ for hash_, kind in left.values() if kind in (CleanupKind.LOOK, CleanupKind.CANCEL)})
        gone = await self._downloaders.cancel(service, cancelling) if cancelling else set()
        for hash_, kind in left.values():
            if kind in (CleanupKind.DELETE, CleanupKind.DELETE_FILES):
                await self._downloaders.delete(service, hash_, delete_files=kind is CleanupKind.DELETE_FILES)
                gone.add(hash_)
        undone = {attempt_id for attempt_id, (hash_, _) in left.items() if hash_ not in gone}
        undone |= {pending.attempt_id for pending in due if _is_open(pending, reports)}
        done = [pending.attempt_id for pending in due if pending.attempt_id not in undone]
        if done:
            await self._database.write(lambda conn: attempts.settle(conn, done))
        return len(gone)

    async def _pending(self, service: Service) -> list[PendingCleanup]:
        return await self._database.read(lambda conn: attempts.pending_cleanups(conn, service.id))


def _is_ours(pending: PendingCleanup, reports: Mapping[str, DownloadStatus]) -> bool:
    """Whether a downloader has it and its user did not add it."""
    found = reports.get(pending.hash or "")
    return found is not None and found.owner is not Owner.USER


def _is_open(pending: PendingCleanup, reports: Mapping[str, DownloadStatus]) -> bool:
    """Whether the next poll may still find what this one did not."""
    return (
        pending.kind is CleanupKind.LOOK
        and pending.hash not in reports
        and not pending.is_kept
        and not pending.is_refuted
    )


def count_poll(
    conn: Connection, service_id: int, asked: Collection[str], reports: Mapping[str, DownloadStatus]
) -> list[PendingCleanup]:
    """Note which doubts a good poll found and which it did not; all cleanups that are still to be done there."""
    looked = [
        pending
        for pending in attempts.pending_cleanups(conn, service_id)
        if pending.kind is CleanupKind.LOOK and pending.hash in asked
    ]
    attempts.count_poll(
        conn,
        missed=(pending.attempt_id for pending in looked if pending.hash not in reports),
        found=(pending.attempt_id for pending in looked if pending.hash in reports),
    )
    return attempts.pending_cleanups(conn, service_id)


def revive_found(conn: Connection, cleanups: Sequence[PendingCleanup], reports: Mapping[str, DownloadStatus]) -> None:
    """A download that no downloader took, as far as we knew, belongs to this one if it has it after all. Where we do not know
    the hash, the next dispatch asks it first.
    """
    open_looks = [
        pending for pending in cleanups if pending.status is Status.NO_DOWNLOADER and pending.kind is CleanupKind.LOOK
    ]
    found = {pending.attempt_id for pending in open_looks if pending.hash is None or pending.hash in reports}
    attempts.revive(conn, found)
    attempts.settle(
        conn, (pending.attempt_id for pending in open_looks if pending.attempt_id not in found and pending.is_refuted)
    )
