"""What makes two links the same release: the torrent's info hash where it can be known without fetching anything.

A hash is always 40 lowercase hex digits: a torrent's v1 info hash, the beginning of the v2 one where there is no other, or
the SHA-1 of a plain URL.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final, NamedTuple
from urllib.parse import unquote

from kurabito.catalog.download_types import DownloadType

_HEX: Final = re.compile(r"[0-9a-f]{40}", re.I)
_LONG_HEX: Final = re.compile(r"[0-9a-f]{64}", re.I)
_BASE32: Final = re.compile(r"[a-z2-7]{32}", re.I)
# A multihash: SHA-256, 32 bytes.
_SHA256_MARK: Final = "1220"
_HASH_IN_URL: Final = re.compile(r"(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z])", re.I)
_TOPIC: Final = re.compile(r"(?:^|[?&])xt(?:\.\d{1,3})?=([^&#]*)", re.I)


class ReleaseIdentity(NamedTuple):
    """What a link is known by."""

    hash: str | None
    """What a downloader will call it; None while only the downloader knows."""
    release_key: str
    """The same for every link to the same release."""


def identify(url: str, download_type: DownloadType | None, info_hash: str | None) -> ReleaseIdentity:
    """What a link is known by; `info_hash` is what the feed says of it."""
    given = _info_hash(info_hash) if info_hash else None
    by_url = f"url:{_sha1(url)}"
    match download_type:
        case DownloadType.MAGNET:
            own = hash_of_magnet(url) or given
            return ReleaseIdentity(own, own or by_url)
        case DownloadType.TORRENT:
            own = given or hash_in_url(url)
            return ReleaseIdentity(own, own or by_url)
        case DownloadType.HTTP:
            # A torrent behind a plain URL is downloaded as that URL, and is one release with its magnet link all the same.
            return ReleaseIdentity(_sha1(url), given or by_url)
        case None:
            return ReleaseIdentity(None, given or by_url)


def hash_of_magnet(url: str) -> str | None:
    """The info hash that a magnet link names; of a hybrid torrent the v1 one."""
    topics = [unquote(topic) for topic in _TOPIC.findall(url)]
    by_kind = {kind.lower(): digest for kind, _, digest in (topic.rpartition(":") for topic in reversed(topics))}
    v1, v2 = by_kind.get("urn:btih", ""), by_kind.get("urn:btmh", "")
    return _info_hash(v1) or (_info_hash(v2[len(_SHA256_MARK) :]) if v2.startswith(_SHA256_MARK) else None)


def hash_in_url(url: str) -> str | None:
    """The last 40 hex digits that stand alone in a URL: torrents are often named by their hash."""
    found = _HASH_IN_URL.findall(url)
    return found[-1].lower() if found else None


def _info_hash(text: str) -> str | None:
    text = text.strip()
    if _HEX.fullmatch(text):
        return text.lower()
    if _LONG_HEX.fullmatch(text):
        return text[:40].lower()
    if _BASE32.fullmatch(text):
        return base64.b32decode(text.upper()).hex()
    return None


def _sha1(url: str) -> str:
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
