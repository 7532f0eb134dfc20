"""The task that tidies up after filing: a downloader forgets what it is done seeding, and then the names of its files go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Final

from kurabito.db import Database
from kurabito.downloads.dispatch.locks import DownloaderLocks
from kurabito.downloads.dispatch.remote import Downloaders
from kurabito.downloads.items import DownloadStatus, Owner, TransferDetail, TransferStatus, read_detail
from kurabito.http.errors import OutboundError
from kurabito.logs import get_logger
from kurabito.modules import services
from kurabito.placements.leftovers import store
from kurabito.placements.leftovers.store import FiledDownload
from kurabito.runtime import Registry

TIDY: Final = "placements.tidy"
_EVERY: Final = 600.0
_AT_REST: Final = frozenset({None, TransferDetail.PAUSED})
"""What a downloader says of a complete download that it does not seed: it reached its goals, or its user stopped it."""

_log = get_logger(__name__)


class FilingTidier:
    """Tidies up at downloaders that are to be tidied."""

    def __init__(self, database: Database, downloaders: Downloaders, locks: DownloaderLocks) -> None:
        self._database = database
        self._downloaders = downloaders
        self._locks = locks
        self._absent: dict[int, set[str]] = {}
        """What each downloader did not have at its last look."""

    def join(self, registry: Registry) -> None:
        """Have it done every ten minutes."""
        registry.task(TIDY)(self.tidy)
        registry.every(_EVERY, TIDY, unique_key=TIDY)

    async def tidy(self) -> int:
        """Look at what is filed, once; how many downloads were removed."""
        by_module: dict[int, list[FiledDownload]] = defaultdict(list)
        after = 0
        while found := await self._database.read(partial(store.filed, after=after)):
            after = found[-1].id
            for download in found:
                by_module[download.module_id].append(download)
        tidied = 0
        for module_id, filed in by_module.items():
            try:
                tidied += await self._tidy_at(module_id, filed)
            except OutboundError as problem:
                _log.info("downloader not tidied", downloader=module_id, problem=problem.code)
        return tidied

    async def _tidy_at(self, module_id: int, filed: Sequence[FiledDownload]) -> int:
        service = await self._database.read(lambda conn: services.find(conn, module_id))
        async with self._locks.at(module_id):
            reports = await self._downloaders.look(service, {one.hash for one in filed})
            absent = {one.hash for one in filed} - reports.keys()
            # One look alone may have asked a program that was still reading its list, or that was started with another one.
            gone = absent & self._absent.get(module_id, set())
            self._absent[module_id] = absent
            done = [one for one in filed if one.hash in gone or _is_done(reports.get(one.hash))]
            for one in done:
                # First there: it would look for its files again. What a crash leaves in between is not there at the next looks.
                await self._downloaders.delete(service, one.hash, delete_files=False)
                await self._database.write(partial(store.note_tidied, download=one))
                _log.info("download tidied", download=one.id, downloader=module_id)
        return len(done)


def _is_done(report: DownloadStatus | None) -> bool:
    """Whether the downloader has it and does nothing with it any more."""
    if report is None:
        return False
    doing = read_detail(report.detail)
    is_at_rest = (None if doing is None else doing.code) in _AT_REST
    return report.status is TransferStatus.COMPLETED and report.owner is Owner.KURABITO and is_at_rest
