"""The link of a result is stored without the key of its indexer."""

from __future__ import annotations

import hashlib

import pytest

from kurabito.downloads.errors import GrabRefused
from kurabito.downloads.search.links import storable, torrent_of
from kurabito.feeds.results import FeedItem
from kurabito.modules.download_types import DownloadType

ITEM = FeedItem(title="[Kura] Show & - 07", download_url="http://nas/1/download?apikey=secret")


def torrent(info: bytes) -> bytes:
    return (
        b"d8:announce19:http://t.example/an13:announce-listll19:http://t.example/anel18:udp://u.example:80ee4:info"
        + info
        + b"e"
    )


def test_a_torrent_file_becomes_a_magnet_link_with_its_trackers() -> None:
    info = b"d6:lengthi7e4:name5:a.mkv12:piece lengthi16384e6:pieces20:" + b"x" * 20 + b"e"
    found = storable(ITEM, torrent_of(torrent(info)))
    digest = hashlib.sha1(info, usedforsecurity=False).hexdigest()
    assert found.download_url == (
        f"magnet:?xt=urn:btih:{digest}&dn=%5BKura%5D%20Show%20%26%20-%2007"
        "&tr=http%3A%2F%2Ft.example%2Fan&tr=udp%3A%2F%2Fu.example%3A80"
    )
    assert (found.download_type, found.info_hash, found.size_bytes) == (DownloadType.MAGNET, digest, 7)


def test_a_private_torrent_stays_the_file_that_it_is() -> None:
    info = b"d6:lengthi7e4:name5:a.mkv12:piece lengthi16384e6:pieces20:" + b"x" * 20 + b"7:privatei1ee"
    found = storable(ITEM, torrent_of(torrent(info)))
    digest = hashlib.sha1(info, usedforsecurity=False).hexdigest()
    assert (found.download_url, found.download_type) == (f"torrent:{digest}", DownloadType.TORRENT)
    assert (found.info_hash, found.size_bytes) == (digest, 7)


def test_what_is_no_torrent_is_refused() -> None:
    with pytest.raises(GrabRefused, match="no torrent file") as refused:
        torrent_of(b"<html>Log in</html>")
    assert "secret" not in str(refused.value)
