"""The link of a result, as it can be stored and shown: without the key of its indexer."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from kurabito.catalog.releases import Release, read_release
from kurabito.downloads.clients.torrent_files import read_torrent
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
    if item.download_type is DownloadType.MAGNET:
        return True
    is_site = settings is not None and settings.kind is IndexerKind.SITE
    return is_site and mask_text(item.download_url or "") == item.download_url


def storable(item: FeedItem, target: str | bytes) -> FeedItem:
    """The result with a magnet link in the place of what its own link led to; raises GrabRefused."""
    if isinstance(target, str):
        return replace(item, download_url=public_magnet(target), download_type=DownloadType.MAGNET)
    try:
        torrent = read_torrent(target)
    except InvalidInput:
        raise GrabRefused("the indexer gives no torrent file for this release; grab another") from None
    if torrent.is_private:
        raise GrabRefused(
            "this torrent is private, and its link has the key of your indexer in it, so it is not given to a downloader; "
            "add it there yourself"
        )
    trackers = "".join(f"&tr={quote(tracker, safe='')}" for tracker in torrent.trackers if not is_secret(tracker))
    magnet = f"magnet:?xt=urn:btih:{torrent.hash}&dn={quote(item.title, safe='')}{trackers}"
    return replace(
        item,
        download_url=magnet,
        download_type=DownloadType.MAGNET,
        info_hash=torrent.hash,
        size_bytes=item.size_bytes or torrent.size,
    )


def readable(item: FeedItem, title_rules: list[TitleRule]) -> Release:
    """The release that an item is; raises GrabRefused."""
    release = read_release(clean(item), title_rules)
    if isinstance(release, RawReason):
        raise GrabRefused("no series can be read from this title; a title rule can help")
    return release
