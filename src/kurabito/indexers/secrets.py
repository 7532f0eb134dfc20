"""What an indexer answers, without what only its keeper may see: the key, and the passkeys of private trackers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from kurabito.http.redaction import has_passkey
from kurabito.indexers.port import IndexerItem
from kurabito.logs import MASK

_TRACKER: Final = "tr="


def without_key(item: IndexerItem, key: str | None) -> IndexerItem:
    """The result with no key in what is shown and stored of it. Its URL keeps it: the link is fetched with that.

    Some indexers write the key into titles and ids, so that it would be on the page.
    """
    if not key:
        return item
    return replace(
        item,
        title=item.title.replace(key, MASK),
        description=item.description.replace(key, MASK) if item.description else None,
        guid=item.guid.replace(key, MASK) if item.guid else None,
    )


def public_magnet(magnet: str, key: str | None = None) -> str:
    """A magnet link without the trackers that know its keeper; peers are found without them."""
    head, *rest = magnet.split("&")
    kept = [one for one in rest if not (one[: len(_TRACKER)].lower() == _TRACKER and is_secret(unquote(one[3:]), key))]
    return "&".join([head, *(one for one in kept if not key or key not in unquote(one))])


def is_secret(tracker: str, key: str | None = None) -> bool:
    """Whether the URL of a tracker has a passkey in it."""
    return has_passkey(tracker) or (key is not None and key in tracker)
