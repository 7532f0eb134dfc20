"""What an indexer answers, without what only its keeper may see: the key, and the passkeys of private trackers."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Final
from urllib.parse import quote, quote_plus, unquote

from kurabito.http.redaction import has_passkey
from kurabito.indexers.port import IndexerItem
from kurabito.logs import MASK

_TRACKER: Final = "tr="
_SHORTEST_KEY: Final = 8


def without_key(item: IndexerItem, key: str | None) -> IndexerItem:
    """The result with no key in what is shown and stored of it. Its URL keeps it: the link is fetched with that.

    Some indexers write the key into titles and ids, so that it would be on the page.
    """
    return replace(
        item,
        title=hidden(item.title, key),
        description=hidden(item.description, key) if item.description else None,
        guid=hidden(item.guid, key) if item.guid else None,
    )


def hidden(text: str, key: str | None) -> str:
    """A text without the key, however it is written there. One of a few characters is no secret, and is in every title."""
    if key is None or len(key) < _SHORTEST_KEY:
        return text
    for written in {key, quote(key, safe=""), quote_plus(key), escape(key)}:
        text = text.replace(written, MASK)
    return text


def public_magnet(magnet: str, key: str | None = None) -> str:
    """A magnet link without the trackers that know its keeper; peers are found without them."""
    head, *rest = magnet.split("&")
    kept = [one for one in rest if not (one[: len(_TRACKER)].lower() == _TRACKER and is_secret(unquote(one[3:]), key))]
    return "&".join([head, *(one for one in kept if not key or key not in unquote(one))])


def is_secret(tracker: str, key: str | None = None) -> bool:
    """Whether the URL of a tracker has a passkey in it."""
    return has_passkey(tracker) or (key is not None and key in tracker)
