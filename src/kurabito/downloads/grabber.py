"""From links to downloads: filters decide which, one release is chosen for each episode, and dispatch sends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kurabito import logs
from kurabito.clock import SECOND
from kurabito.db import Connection
from kurabito.downloads import store
from kurabito.downloads.blocklist.store import block_failed
from kurabito.downloads.choice import Choice
from kurabito.downloads.dispatch import recovery
from kurabito.downloads.filters import store as filter_rules
from kurabito.downloads.filters.engine import TAKEN, FilterEngine
from kurabito.downloads.reasons import DispatchCause, DownloadReason, because
from kurabito.downloads.release_options import SQL, choose_among, rivals
from kurabito.downloads.tasks import DownloadTasks
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Service, ServiceType
from kurabito.reasons import Reason

log = logs.get_logger(__name__)

_REPLACED: Final = because(DownloadReason.REPLACED)


class Grabber:
    """The one way from a link to a download; it fills the catalog's port `LinkSink`, and hears of downloaders that register."""

    def __init__(self, tasks: DownloadTasks) -> None:
        self._tasks = tasks

    def accept(self, conn: Connection, link_ids: Sequence[int]) -> None:
        """Take these links on, in the transaction that made or freed them."""
        engine = FilterEngine(filter_rules.everything(conn))
        links = filter_rules.links(conn, link_ids, engine.reads)
        refused = {links["id"][place]: decision for place, decision in engine.refuse(links).items()}
        freed = {
            link_id: TAKEN
            for link_id, was_filtered in zip(links["id"], links["is_filtered"], strict=True)
            if was_filtered and link_id not in refused
        }
        filter_rules.mark(conn, refused | freed)
        taken = [link_id for link_id in links["id"] if link_id not in refused]
        self.carry_out(conn, choose_among(conn, taken), DispatchCause.NEW_LINKS)

    def restate(self, conn: Connection, episode_ids: Collection[int]) -> None:
        """Have episodes say how far they are after links of theirs came or went."""
        store.restate_moved(conn, episode_ids)

    def on_registered(self, conn: Connection, service: Service) -> None:
        """A service registered: a downloader gets back what it had before it was removed, and what no other took."""
        if service.registration.service_type is not ServiceType.DOWNLOADER:
            return
        recovery.readopt(conn, service.id, service.registration.service_name)
        if service.is_enabled:
            types = service.registration.capabilities.supported_download_types
            self.retry_no_downloader_links(conn, types, why=DispatchCause.REGISTERED)

    def retry_no_downloader_links(
        self, conn: Connection, types: Sequence[DownloadType], *, why: DispatchCause, not_refused_by: int | None = None
    ) -> int:
        """Dispatch again what no downloader took, if it is of these types; how many there were."""
        again = store.requeue(conn, types, not_refused_by=not_refused_by)
        self._tasks.dispatch(conn, again, why)
        return len(again)

    def take_next(self, conn: Connection, link_ids: Iterable[int]) -> None:
        """Block the releases of these links, which could not be downloaded, and take others of their episodes.

        The caller has locked the catalog.
        """
        link_ids = list(link_ids)
        block_failed(conn, link_ids)
        self.carry_out(conn, choose_among(conn, rivals(conn, link_ids), waits=False), DispatchCause.NEXT_BEST)

    def carry_out(self, conn: Connection, choice: Choice, why: DispatchCause) -> None:
        """Do what was chosen."""
        if choice.reasons:
            counts = Counter(reason.value for reason in choice.reasons.values())
            log.info("releases chosen", why=why, downloads=len(choice.dispatch), **counts)
        self.cancel(conn, choice.cancel, _REPLACED)
        self._tasks.dispatch(conn, store.add(conn, choice.dispatch), why)
        for episode_id in choice.ask:
            conn.run(SQL.open, {"episode_id": episode_id, "status": "asked", "wait": None})
        for episode_id, minutes in choice.wait.items():
            given = {"episode_id": episode_id, "status": "waiting", "wait": minutes * 60 * SECOND}
            if (conflict_id := conn.value(SQL.open, given)) is not None:
                self._tasks.choose(conn, conflict_id, minutes)

    def cancel(self, conn: Connection, download_ids: Iterable[int], reason: Reason[DownloadReason]) -> None:
        """Cancel what is not completed, here at once and at its downloader as soon as that answers."""
        if ids := list(download_ids):
            self._tasks.clear(conn, store.cancel(conn, ids, reason))
