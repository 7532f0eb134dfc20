"""From the XML of an indexer to its results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

from kurabito.feeds.items import attribute, item_of
from kurabito.feeds.markup import FeedField, fields
from kurabito.feeds.sizes import size_of
from kurabito.indexers.port import IndexerItem
from kurabito.modules.download_types import DownloadType

_TORRENT: Final = "application/x-bittorrent"
_USENET: Final = "application/x-nzb"
_MAGNET: Final = "magnet:"
_PROWLARR: Final = "prowlarrindexer"
_HEX: Final = re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F]{40}(?![0-9a-zA-Z])")
_LONGEST_MAGNET: Final = 8_000
_LARGEST_COUNT: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """In which elements a site puts what the common ones do not have; names without prefix, in small letters."""

    seeders: str | None = None
    leechers: str | None = None
    size: str | None = None
    info_hash: str | None = None


COMMON: Final = Places()


def read_result(piece: str, base: str, places: Places = COMMON) -> IndexerItem:
    """The result in the text of an item; raises Malformed."""
    found = fields(piece)
    item = item_of(found, piece, base)
    types = {one.attributes.get("type", "").lower() for one in found if one.name == "enclosure"}
    magnet = bounded_magnet(attribute(found, "magneturl"))
    is_private = _is_private(found)
    # It needs no key, and every downloader takes it. A private torrent works with its own file only.
    has_magnet = magnet[: len(_MAGNET)].lower() == _MAGNET
    url = magnet if has_magnet and not (is_private and item.download_url) else item.download_url or ""
    is_magnet = url[: len(_MAGNET)].lower() == _MAGNET
    is_usenet = _USENET in types and not is_magnet
    named = _text(found, places.info_hash)
    in_place = _HEX.search(named)
    peers, seeders = _count(attribute(found, "peers")), _count(attribute(found, "seeders"))
    result = IndexerItem(
        **asdict(item),
        seeders=seeders if seeders is not None else _count(_text(found, places.seeders)),
        # Peers are all of them, seeders too.
        leechers=max(0, peers - (seeders or 0)) if peers is not None else _count(_text(found, places.leechers)),
        is_usenet=is_usenet,
        is_private=is_private,
    )
    return replace(
        result,
        download_url=url or None,
        size_bytes=result.size_bytes or size_of(_text(found, places.size)),
        info_hash=result.info_hash or (in_place[0] if in_place else None),
        download_type=_download_type(types, is_magnet=is_magnet),
    )


def bounded_magnet(magnet: str) -> str:
    """The magnet link, without the trackers for which it is too long to be stored; peers are found without them."""
    return magnet if len(magnet) <= _LONGEST_MAGNET else magnet[: _LONGEST_MAGNET + 1].rpartition("&")[0]


def _is_private(found: Iterable[FeedField]) -> bool:
    """Whether Prowlarr or Jackett says that the tracker is for its members; a semi-private one is taken for that, too."""
    kinds = [one.attributes.get("type", "") for one in found if one.name == _PROWLARR]
    return any(kind.lower().endswith("private") for kind in (*kinds, _text(found, "type")))


def _download_type(types: set[str], *, is_magnet: bool) -> DownloadType | None:
    if is_magnet:
        return DownloadType.MAGNET
    return DownloadType.TORRENT if _TORRENT in types else None


def _text(found: Iterable[FeedField], name: str | None) -> str:
    return next((one.text for one in found if one.name == name and one.text), "") if name else ""


def _count(text: str) -> int | None:
    """The number; None for what is none, and for what only a slip could mean."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 8 and int(text) <= _LARGEST_COUNT else None
