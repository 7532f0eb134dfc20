"""The kinds of download there are: what a downloader says it can take, and what a link is."""

from __future__ import annotations

from enum import StrEnum


class DownloadType(StrEnum):
    """How something is downloaded."""

    MAGNET = "magnet"
    TORRENT = "torrent"
    HTTP = "http"
