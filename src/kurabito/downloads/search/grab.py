"""Downloads what a person picks of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kurabito.catalog import links as links_of
from kurabito.catalog import rules
from kurabito.catalog.corrections.moves import whole_releases
from kurabito.catalog.linker import link_found, lock_catalog
from kurabito.catalog.releases import Release
from kurabito.db import Connection, Database
from kurabito.downloads import store
from kurabito.downloads.choice import Choice
from kurabito.downloads.clients.torrent_files import TorrentFile, read_torrent
from kurabito.downloads.dispatch import private_torrents
from kurabito.downloads.errors import GrabRefused
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.reasons import DispatchCause
from kurabito.downloads.search import links
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.errors import InvalidInput
from kurabito.feeds.results import FeedItem
from kurabito.indexers.service import Indexers
from kurabito.modules.download_types import DownloadType


@dataclass(frozen=True, slots=True)
class Grabbed:
    """What grabbing a release did."""

    link_ids: tuple[int, ...]
    download_ids: tuple[int, ...]


class ReleaseGrabs:
    """The way from a result of a search to a download."""

    def __init__(self, database: Database, indexers: Indexers, search: ReleaseSearch, grabber: Grabber) -> None:
        self._database = database
        self._indexers = indexers
        self._search = search
        self._grabber = grabber

    async def grab(self, key: str, why: DispatchCause = DispatchCause.GRABBED) -> Grabbed:
        """Download a release that was found, whatever would be decided about it; its series is not followed for it.

        Raises FoundReleaseNotFound, GrabRefused, or what asking for its link raises.
        """
        found = self._search.find(key)
        release = await self.readable(found)

        def write(conn: Connection) -> Grabbed:
            lock_catalog(conn)
            return self._take(conn, link_found(conn, release, found.indexer_id), why)

        return await self._database.write(write)

    async def size_of(self, found: FoundRelease) -> int | None:
        """How large a release is: by its torrent file where its indexer does not say; None where that is not known.

        Raises what asking for its link raises.
        """
        item = found.item
        if item.size_bytes is not None or item.download_type is not DownloadType.TORRENT or item.download_url is None:
            return item.size_bytes
        content = await self._indexers.fetch_link(found.indexer_id, item.download_url)
        try:
            return None if isinstance(content, str) else read_torrent(content).size
        except InvalidInput:
            return None

    async def grab_link(self, link_id: int) -> Grabbed:
        """Download a release that is known, whatever was decided about it; a batch as a whole. Raises LinkNotFound."""

        def write(conn: Connection) -> Grabbed:
            lock_catalog(conn)
            links_of.find(conn, link_id)
            return self._take(conn, whole_releases(conn, [link_id]), DispatchCause.GRABBED)

        return await self._database.write(write)

    def _take(self, conn: Connection, link_ids: Sequence[int], why: DispatchCause) -> Grabbed:
        self._grabber.carry_out(conn, Choice(dispatch=list(link_ids)), why)
        downloads = store.of_links(conn, link_ids)
        return Grabbed(tuple(link_ids), tuple(sorted(download_id for download_id, _ in downloads.values())))

    async def _target(self, indexer_id: int | None, url: str) -> str | TorrentFile:
        """What a link leads to; a torrent that works with its own file only is stored."""
        target = await self._indexers.fetch_link(indexer_id, url)
        if isinstance(target, str):
            return target
        torrent = links.torrent_of(target)
        if torrent.is_private:
            await self._database.write(lambda conn: private_torrents.keep(conn, torrent))
        return torrent

    async def readable(self, found: FoundRelease) -> Release:
        """A release as it can be stored: its link has no key in it. Raises GrabRefused, or what asking for its link raises."""
        item = found.item
        if item.is_usenet or item.download_url is None:
            raise GrabRefused("this release is for Usenet, and no downloader takes it; grab another")
        own = found.indexer_id
        settings = None if own is None else (await self._indexers.get(own)).settings
        stored: FeedItem = item
        if not links.is_storable(item, settings):
            stored = links.storable(item, await self._target(own, item.download_url))
        title_rules = await self._database.read(rules.enabled)
        return links.readable(stored, title_rules)
