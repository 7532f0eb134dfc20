"""What a torrent file says, and which ones are not believed."""

from __future__ import annotations

import hashlib
from typing import Any

import libtorrent as lt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.downloads.clients.torrent_files import read_torrent
from kurabito.errors import InvalidInput

LEAF = {b"": {b"length": 7, b"pieces root": b"x" * 32}}


def torrent(**changed: Any) -> bytes:
    info: dict[bytes, Any] = {b"name": b"Kura", b"piece length": 16384, b"pieces": b"x" * 20, b"length": 5}
    info |= {name.replace("_", " ").encode(): value for name, value in changed.items()}
    whole: dict[bytes, Any] = {b"info": {name: value for name, value in info.items() if value is not None}}
    return lt.bencode(whole)


def test_a_torrent_is_known_by_its_v1_hash_and_else_by_the_beginning_of_the_other() -> None:
    info = torrent()[len(b"d4:info") : -1]
    assert read_torrent(torrent()).hash == hashlib.sha1(info).hexdigest()
    hybrid = torrent(file_tree={b"a.mkv": LEAF}, meta_version=2)
    assert read_torrent(hybrid).hash == hashlib.sha1(hybrid[len(b"d4:info") : -1]).hexdigest()
    newer = torrent(pieces=None, length=None, meta_version=2, file_tree={b"a.mkv": LEAF, b"b": {b"c.mkv": LEAF}})
    assert read_torrent(newer).hash == hashlib.sha256(newer[len(b"d4:info") : -1]).hexdigest()[:40]
    assert read_torrent(newer).size == 14


@pytest.mark.parametrize(
    "content",
    [
        torrent(name=b".."),
        torrent(name=b"a/b"),
        torrent(name=b""),
        torrent(length=None, files=[{b"length": 1, b"path": [b"..", b"x"]}]),
        torrent(length=None, files=[{b"length": 1, b"path": [b"a\\..\\..\\x"]}]),
        torrent(length=None, files=[{b"length": 1, b"path": [b"ok"], b"path.utf-8": [b"/etc/passwd"]}]),
        torrent(file_tree={b"..": {b"x": LEAF}}),
        torrent(name=b"C:evil.mkv"),
        torrent(length=-5),
        torrent(length=12345).replace(b"i12345e", b"i" + b"9" * 20 + b"e"),
        torrent(length=None, files=[{b"length": 10, b"path": [b"a"]}, {b"length": -1, b"path": [b"b"]}]),
        torrent(length=None, files=[{b"length": 2**59 + 1, b"path": [b"a"]}] * 2),
        torrent(length=None, files=[{b"length": 1, b"path": [b"/etc", b"passwd"]}]),
        torrent(length=None, files=[{b"length": 1, b"path": [b"ok", b"c:\\windows"]}]),
        torrent(length=None, files=[{b"length": 0, b"path": [b"a"], b"attr": b"l", b"symlink path": [b"..", b"x"]}]),
        torrent(file_tree={b"a": {b"": {b"length": 0, b"attr": b"l", b"symlink path": [b"x"]}}}),
        torrent(name=None),
        torrent()[:-1],
        torrent() + b"x",
        b"",
        b"d4:info5:wrongee",
        b"l" * 100_000,
        b"9999999999:x",
    ],
)
def test_what_is_no_torrent_or_leads_out_of_its_folder_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_torrent(content)


@given(st.binary(max_size=200), st.integers(0, 120))
def test_whatever_comes_is_read_or_refused(noise: bytes, at: int) -> None:
    whole = torrent()
    for content in (noise, whole[:at] + noise + whole[at + len(noise) :]):
        try:
            read_torrent(content)
        except InvalidInput:
            pass
