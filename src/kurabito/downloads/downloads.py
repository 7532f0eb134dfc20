"""What a program asks of the downloads: list them, cancel, retry, pause, resume, remove, send elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from kurabito.clock import from_datetime
from kurabito.db import Connection, Database
from kurabito.downloads import download_files, store
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.dispatch.attempts import Attempt
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.errors import DownloadConflict
from kurabito.downloads.filters import store as filter_rules
from kurabito.downloads.items import TransferDetail, TransferFile
from kurabito.downloads.reasons import DispatchCause, DownloadReason, because
from kurabito.downloads.states import AT_DOWNLOADER, CleanupKind, Status
from kurabito.downloads.store import Download
from kurabito.downloads.tasks import DownloadTasks
from kurabito.downloads.want_again import forgotten_with, give_back
from kurabito.modules import services
from kurabito.modules.services import Service
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before

_LATELY: Final = timedelta(days=14)
_BY_USER: Final = because(DownloadReason.CANCELLED)


class Downloads:
    """The downloads of one database. One without progress for as long as `stalled` is shown as stalled."""

    def __init__(
        self,
        database: Database,
        downloaders: Downloaders,
        tasks: DownloadTasks,
        *,
        stalled: timedelta = timedelta(hours=1),
    ) -> None:
        self._database = database
        self._downloaders = downloaders
        self._tasks = tasks
        self.stalled = stalled

    async def page(
        self,
        *,
        status: Status | None = None,
        module_id: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[tuple[Download, bool]]:
        """Downloads, the newest first, and whether each has stalled."""
        before = id_before(cursor)

        def look(conn: Connection) -> list[tuple[Download, bool]]:
            found = store.page(conn, before_id=before, limit=limit + 1, status=status, module_id=module_id)
            return [(one, self._is_stalled(conn, one)) for one in found]

        return Page.cut(await self._database.read(look), limit, lambda last: str(last[0].id))

    async def count_failed(self, most: int) -> int:
        """How many failed in the last weeks while their episodes are still wanted, counted up to a number."""
        age = _LATELY // timedelta(microseconds=1)
        return await self._database.read(lambda conn: store.count_failed(conn, age=age, most=most))

    async def retry_failed(self, most: int = 100) -> int:
        """Try again what failed in the last weeks and is still wanted, as far as a filter does not exclude it; how much."""
        age = _LATELY // timedelta(microseconds=1)
        tried = 0
        for download_id in await self._database.read(lambda conn: store.failed_links(conn, age=age, most=most)):
            with suppress(DownloadConflict):
                await self.retry(download_id)
                tried += 1
        return tried

    async def get(self, download_id: int) -> tuple[Download, bool, list[Attempt]]:
        """The download, whether it has stalled, and its attempts; raises DownloadNotFound."""

        def look(conn: Connection) -> tuple[Download, bool, list[Attempt]]:
            found = store.find(conn, download_id)
            return found, self._is_stalled(conn, found), attempts.history(conn, download_id)

        return await self._database.read(look)

    async def files(self, download_id: int) -> list[TransferFile]:
        """The files of a download, as far as they are known; raises DownloadNotFound."""

        def look(conn: Connection) -> list[TransferFile]:
            return download_files.of_download(conn, store.find(conn, download_id).id)

        return await self._database.read(look)

    async def cancel(self, download_id: int) -> Download:
        """Give a download up, and all with the same content; raises DownloadConflict when it is over."""

        def write(conn: Connection) -> Download:
            found = store.find(conn, download_id)
            if found.status in (Status.COMPLETED, Status.CANCELLED):
                raise DownloadConflict(f"download {download_id} is {found.status}; there is nothing to cancel")
            self._cancel(conn, found, CleanupKind.CANCEL)
            return store.find(conn, download_id)

        return await self._database.write(write)

    async def remove(self, download_id: int, *, delete_files: bool = False) -> None:
        """Remove a download here and at its downloader, with its files if `delete_files`: then its episode is wanted again, and
        another release may come.

        What is the user's stays there as it is; raises DownloadConflict when its files are to be deleted.
        """

        def write(conn: Connection) -> None:
            found = store.find(conn, download_id)
            if delete_files and found.is_yours:
                raise _yours(found, "its files are not deleted; delete them there, or only the download here")
            cleanup = CleanupKind.DELETE_FILES if delete_files else CleanupKind.DELETE
            store.forget(conn, download_id)
            if found.status is Status.COMPLETED:
                asked = attempts.request_cleanup(conn, [download_id], cleanup)
                self._tasks.clear(conn, asked)
                if delete_files:
                    give_back(conn, forgotten_with(conn, download_id) if asked else [download_id])
            else:
                self._cancel(conn, found, cleanup)

        await self._database.write(write)

    async def retry(self, download_id: int) -> Download:
        """Try the link again: a new download, or the same one if only a downloader was missing."""

        def write(conn: Connection) -> Download:
            old = store.find(conn, download_id)
            if old.status not in (Status.FAILED, Status.CANCELLED, Status.NO_DOWNLOADER):
                raise DownloadConflict(
                    f"download {download_id} is {old.status}; only what ended without files is retried"
                )
            if old.brought_programs:
                raise DownloadConflict(
                    f"download {download_id} brought programs where videos should be; it is not downloaded again"
                )
            if any(filter_rules.links(conn, [old.link_id])["is_filtered"]):
                raise DownloadConflict(f"a filter excludes the link of download {download_id}; change the filter first")
            made = store.add(conn, [old.link_id])
            if not made:
                raise DownloadConflict(f"the link of download {download_id} is being downloaded already")
            self._tasks.dispatch(conn, made, DispatchCause.RETRIED)
            return store.find(conn, made[0])

        return await self._database.write(write)

    async def send_elsewhere(self, download_id: int) -> Download:
        """Take a download away from its downloader and offer it to the others. What is the user's stays there, too."""

        def write(conn: Connection) -> Download:
            by_user = because(DownloadReason.SENT_ELSEWHERE)
            left = store.send_elsewhere(conn, store.sharing(conn, download_id), by_user)
            found = store.find(conn, download_id)
            if not left:
                raise DownloadConflict(f"download {download_id} is {found.status} and at no downloader")
            self._tasks.dispatch(conn, left, DispatchCause.SENT_ELSEWHERE)
            return found

        return await self._database.write(write)

    async def pause(self, download_id: int) -> Download:
        """Pause a download; raises OutboundError when its downloader does not answer."""
        return await self._call(download_id, self._downloaders.pause, TransferDetail.PAUSED)

    async def resume(self, download_id: int) -> Download:
        """Resume a download."""
        return await self._call(download_id, self._downloaders.resume, None)

    async def _call(
        self, download_id: int, method: Callable[[Service, str], Awaitable[None]], detail: str | None
    ) -> Download:
        def look(conn: Connection) -> tuple[Download, Service]:
            found = store.find(conn, download_id)
            if found.status not in AT_DOWNLOADER or found.module_id is None or found.hash is None:
                raise DownloadConflict(f"download {download_id} is {found.status} and at no downloader")
            if found.is_yours:
                raise _yours(found, "it is only watched; pause or resume it there")
            return found, services.find(conn, found.module_id)

        download, service = await self._database.read(look)
        assert download.hash is not None
        await method(service, download.hash)

        def write(conn: Connection) -> Download:
            store.note_detail(conn, download, detail)
            return store.find(conn, download_id)

        return await self._database.write(write)

    def _cancel(self, conn: Connection, download: Download, cleanup: CleanupKind) -> None:
        self._tasks.clear(conn, store.cancel(conn, store.sharing(conn, download.id), _BY_USER, cleanup))

    def _is_stalled(self, conn: Connection, download: Download) -> bool:
        if (
            download.status is not Status.DOWNLOADING
            or download.detail == TransferDetail.PAUSED
            or download.progressed_at is None
        ):
            return False
        waited = conn.now() - from_datetime(download.progressed_at)
        return not download.peers and waited >= self.stalled // timedelta(microseconds=1)


def _yours(download: Download, what: str) -> DownloadConflict:
    where = download.downloader or "its downloader"
    return DownloadConflict(f"download {download.id} is yours, because Kurabito did not add it to {where}: {what}")
