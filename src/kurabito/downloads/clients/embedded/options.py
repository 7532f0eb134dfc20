"""How the embedded downloader behaves in its network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_PORT: Final = 6884
RESUME_SUFFIX: Final = ".resume"
"""Ends the names of the files that tell how far a torrent is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOptions:
    """What its user may decide."""

    port: int = DEFAULT_PORT
    """Always the same one, so that a router can be told of it."""
    interface: str = ""
    """An address or a device like tun0; nothing then leaves through another. Empty: all of them."""
    ratio: float = 1.0
    """Seeded until so much was given back of what was taken …"""
    seed_seconds: float = 24 * 3600.0
    """… or for so long, whichever is first."""
    finds_peers: bool = True
    """Whether peers are looked for beyond the trackers: in the DHT."""
    download_rate: int = 0
    """Bytes a second that all torrents together take at most; 0 is no limit."""
    upload_rate: int = 0
    """Bytes a second that they give."""
    torrents_at_once: int = 8
    """How many torrents are downloaded at the same time; the others are queued."""
    files_at_once: int = 3
    """How many plain files are fetched at the same time."""
