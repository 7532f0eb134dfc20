"""The table of downloads: its order, its totals, and a torrent file that was uploaded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kurabito.downloads.errors import NothingPasted
from kurabito.downloads.search.pasted_links import LONGEST, is_pasted, magnet_of, torrent_of
from kurabito.downloads.states import Status
from kurabito.downloads.store import Download
from kurabito.errors import InvalidInput
from kurabito.web.downloads.download_pages import (
    DownloadOrder,
    DownloadTotals,
    ShownDownload,
    in_order,
    is_descending,
    totals_of,
)
from kurabito.web.forms import uploaded

NOW = datetime(2026, 1, 1, tzinfo=UTC)
INFO = b"d6:lengthi7e4:name11:Lantern.mkv12:piece lengthi16384e6:pieces20:" + b"x" * 20 + b"e"


def torrent(trackers: int = 1) -> bytes:
    tiers = b"".join(b"l%d:%be" % (len(url), url) for url in (b"http://t%03d/a?k=1&b" % one for one in range(trackers)))
    return b"d13:announce-listl" + tiers + b"e4:info" + INFO + b"e"


def form(content: bytes, name: str = "file") -> tuple[str, bytes]:
    head = (
        f'Content-Disposition: form-data; name="{name}"; filename="a.torrent"\r\nContent-Type: application/x-bittorrent'
    )
    return "multipart/form-data; boundary=xyz", f"--xyz\r\n{head}\r\n\r\n".encode() + content + b"\r\n--xyz--\r\n"


def download(number: int, **others: Any) -> ShownDownload:
    known: dict[str, Any] = {
        "link_id": number, "module_id": 1, "downloader": "a", "status": Status.DOWNLOADING, "hash": None, "save_path": None,
        "progress": 0.0, "size_bytes": None, "downloaded_bytes": 0, "rate": None, "peers": None, "detail": None,
        "reason": None, "progressed_at": None, "completed_at": None, "created_at": NOW, "updated_at": NOW,
        "title": f"Show - {number:02}", "series_id": 1, "episode_id": None,
    }  # fmt: skip
    return ShownDownload(Download(id=number, **{**known, **others}), is_stalled=False)


def test_downloads_are_sorted_by_what_their_keeper_chose_and_the_other_way_round() -> None:
    some = [
        download(1, size_bytes=100, downloaded_bytes=10, rate=1, progress=0.1, title="b"),
        download(2, size_bytes=300, downloaded_bytes=0, rate=300, title="C"),
        download(3, title="a"),
    ]

    def numbers(order: DownloadOrder, *, is_turned: bool = False) -> list[int]:
        return [one.download.id for one in in_order(some, order, is_turned=is_turned)]

    assert numbers(DownloadOrder.ADDED) == [3, 2, 1]
    assert numbers(DownloadOrder.NAME) == [3, 1, 2]
    assert numbers(DownloadOrder.SIZE) == [2, 1, 3]
    assert numbers(DownloadOrder.SIZE, is_turned=True) == [3, 1, 2]
    assert numbers(DownloadOrder.LEFT) == [2, 1, 3]
    # The arrow at the head of the column says what the order is.
    descending = {order for order in DownloadOrder if is_descending(order, is_turned=False)}
    assert descending == {DownloadOrder.ADDED, DownloadOrder.PROGRESS, DownloadOrder.SIZE, DownloadOrder.RATE}
    assert {order for order in DownloadOrder if is_descending(order, is_turned=True)} == set(DownloadOrder) - descending
    assert totals_of(some) == DownloadTotals(3, 10, 400, 301)


def test_the_episodes_of_a_batch_are_one_torrent() -> None:
    batch = [download(number, hash="a" * 40, size_bytes=100, downloaded_bytes=50, rate=7) for number in (1, 2, 3)]
    other = download(4, hash="b" * 40, size_bytes=30, downloaded_bytes=30)
    assert totals_of([*batch, other]) == DownloadTotals(4, 80, 130, 7)
    # Two downloaders may have the same torrent, and two that are only asked for are two.
    elsewhere = download(5, hash="a" * 40, module_id=2, size_bytes=100)
    assert totals_of([*batch, elsewhere]).size == 200
    assert totals_of([download(6, size_bytes=1), download(7, size_bytes=1)]).size == 2


def test_an_uploaded_torrent_is_a_magnet_link_with_its_name_and_trackers() -> None:
    magnet = magnet_of(torrent_of(uploaded(*form(torrent()))))
    assert is_pasted(magnet)
    assert "&dn=Lantern.mkv&tr=http%3A%2F%2Ft000%2Fa%3Fk%3D1%26b" in magnet
    assert len(magnet_of(torrent_of(uploaded(*form(torrent(trackers=1000)))))) <= LONGEST


def test_what_is_no_torrent_is_refused() -> None:
    with pytest.raises(NothingPasted):
        torrent_of(uploaded(*form(b"not a torrent")))
    with pytest.raises(InvalidInput, match="no file was sent"):
        uploaded(*form(b""))
    with pytest.raises(InvalidInput):
        uploaded("application/x-www-form-urlencoded", b"file=a")
