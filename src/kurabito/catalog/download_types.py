"""How a URL is downloaded: a chain of detectors, from the strictest to the loosest; the first that knows it decides."""

from __future__ import annotations

from typing import Final, Protocol

from kurabito.modules.download_types import DownloadType

__all__ = [
    "DownloadType",
    "DownloadTypeDetector",
    "HttpDetector",
    "MagnetDetector",
    "TorrentDetector",
    "detect_download_type",
]


class DownloadTypeDetector(Protocol):
    """Knows one kind of URL. Case matters: what the detectors do not know, no downloader is asked to take."""

    def detect(self, url: str) -> DownloadType | None: ...


class MagnetDetector:
    """Knows magnet links."""

    def detect(self, url: str) -> DownloadType | None:
        return DownloadType.MAGNET if url.startswith("magnet:") else None


class TorrentDetector:
    """Knows torrent files on the web. The ending may stand before a query, or in it."""

    def detect(self, url: str) -> DownloadType | None:
        return DownloadType.TORRENT if url.startswith("http") and ".torrent" in url else None


class HttpDetector:
    """Knows everything else on the web."""

    def detect(self, url: str) -> DownloadType | None:
        return DownloadType.HTTP if url.startswith("http") else None


_CHAIN: Final[tuple[DownloadTypeDetector, ...]] = (MagnetDetector(), TorrentDetector(), HttpDetector())


def detect_download_type(url: str) -> DownloadType | None:
    """How a URL is downloaded; None when no detector knows it.

    >>> detect_download_type("https://feeds.example/a.torrent?x=1")
    <DownloadType.TORRENT: 'torrent'>
    """
    return next((found for detector in _CHAIN if (found := detector.detect(url)) is not None), None)
