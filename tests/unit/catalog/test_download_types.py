"""How URLs are downloaded."""

from __future__ import annotations

import pytest

from kurabito.catalog.download_types import (
    DownloadType,
    HttpDetector,
    MagnetDetector,
    TorrentDetector,
    detect_download_type,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("magnet:?xt=urn:btih:" + "a" * 40, "magnet"),
        ("magnet:?dn=http://x/a.torrent", "magnet"),
        ("https://feeds.example/a.torrent", "torrent"),
        ("http://feeds.example/a.torrent?key=1", "torrent"),
        ("https://feeds.example/get?file=a.torrent", "torrent"),
        ("https://feeds.example/a.mkv", "http"),
        ("http://feeds.example/A.TORRENT", "http"),
        ("MAGNET:?xt=urn:btih:" + "a" * 40, None),
        ("HTTPS://feeds.example/a.torrent", None),
        ("ftp://feeds.example/a.torrent", None),
        ("", None),
    ],
)
def test_the_first_detector_that_knows_a_url_decides(url: str, expected: str | None) -> None:
    assert detect_download_type(url) == expected


def test_each_detector_knows_its_own_kind_only() -> None:
    torrent = "https://feeds.example/a.torrent"
    assert MagnetDetector().detect(torrent) is None
    assert TorrentDetector().detect(torrent) is DownloadType.TORRENT
    assert TorrentDetector().detect("https://feeds.example/a.mkv") is None
    # The loosest takes what a stricter one would have, which is why the order matters.
    assert HttpDetector().detect(torrent) is DownloadType.HTTP
    assert [kind.value for kind in DownloadType] == ["magnet", "torrent", "http"]
