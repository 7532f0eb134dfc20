"""The link of a result, as it can be stored and shown: without the key of its indexer."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from kurabito.catalog.releases import Release, read_release
from kurabito.downloads.clients.sources import STORED
from kurabito.downloads.clients.torrent_files import TorrentFile, read_torrent
from kurabito.downloads.dispatch.private_torrents import link_to
from kurabito.downloads.errors import GrabRefused
from kurabito.errors import InvalidInput
from kurabito.feeds.raw_items import RawReason, clean
from kurabito.feeds.results import FeedItem
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.indexers.secrets import is_secret, public_magnet
from kurabito.logs import mask_text
from kurabito.modules.download_types import DownloadType
from kurabito.titles import TitleRule


def is_storable(item: FeedItem, settings: IndexerSettings | None) -> bool:
    """Whether the URL of a result has nothing in it that a downloader or a page may not have.

    The links of Torznab lead through the indexer's own host, and have its key in them. A site has no key, but one that its
    keeper described may have a passkey in its links. What a keeper pasted came from no indexer.
    """
    if item.download_type is DownloadType.MAGNET or (item.download_url or "").startswith(STORED):
        return True
    is_site = settings is not None and settings.kind is IndexerKind.SITE
    return is_site and mask_text(item.download_url or "") == item.download_url


def torrent_of(content: bytes) -> TorrentFile:
    """The torrent file that the link of a result led to; raises GrabRefused."""
    try:
        return read_torrent(content)
    except InvalidInput:
        raise GrabRefused("the indexer gives no torrent file for this release; grab another") from None


def storable(item: FeedItem, target: str | TorrentFile) -> FeedItem:
    """The result with a link in the place of its own that has no key in it: a magnet link, or that to a stored file.

    A private torrent works with its own file only, and a magnet link would have its peers looked for elsewhere.
    """
    if isinstance(target, str):
        return replace(item, download_url=public_magnet(target), download_type=DownloadType.MAGNET)
    if target.is_private:
        return replace(
            item,
            download_url=link_to(target),
            download_type=DownloadType.TORRENT,
            info_hash=target.hash,
            size_bytes=item.size_bytes or target.size,
        )
    trackers = "".join(f"&tr={quote(tracker, safe='')}" for tracker in target.trackers if not is_secret(tracker))
    magnet = f"magnet:?xt=urn:btih:{target.hash}&dn={quote(item.title, safe='')}{trackers}"
    return replace(
        item,
        download_url=magnet,
        download_type=DownloadType.MAGNET,
        info_hash=target.hash,
        size_bytes=item.size_bytes or target.size,
    )


def readable(item: FeedItem, title_rules: list[TitleRule]) -> Release:
    """The release that an item is; raises GrabRefused."""
    release = read_release(clean(item), title_rules)
    if isinstance(release, RawReason):
        raise GrabRefused("no series can be read from this title; a title rule can help")
    return release
