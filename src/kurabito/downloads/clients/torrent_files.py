"""What a torrent file says: its hash, its size, and whether its names stay where they belong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused

_DEEPEST: Final = 64
_LARGEST: Final = 2**60
"""Bytes: an exbibyte, more than any file system holds."""
# Windows would take what follows for a path on that drive.
_DRIVE: Final = re.compile(rb"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class TorrentFile:
    """A torrent file that was read and found good."""

    content: bytes
    hash: str
    """The v1 info hash, or the beginning of the v2 one where there is no other."""
    size: int
    files: tuple[tuple[str, int], ...] = ()
    """The paths and sizes of its files, below the folder that it makes."""
    trackers: tuple[str, ...] = ()
    is_private: bool = False
    """Its tracker serves no client that has only a magnet link."""
    name: str = ""
    """Of its file or folder."""


def read_torrent(content: bytes) -> TorrentFile:
    """The torrent; raises InvalidInput when it is none, or when a name in it leads out of its folder."""
    try:
        meta, end, spans = _decode(content, 0, 0)
        info = meta[b"info"]
        if end != len(content) or not isinstance(info[b"name"], bytes):
            raise ValueError("it does not end where it should")
        _check_names(info)
        size = _size(info)
        files = tuple(_files(info))
        trackers = tuple(dict.fromkeys(_trackers(meta)))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        reason = refused(InputReason.TORRENT, text=str(error))
        raise InvalidInput("torrent", f"this is not a torrent file that can be used: {error}", reason) from None
    begin, stop = spans[b"info"]
    raw = content[begin:stop]
    if b"pieces" in info:
        digest = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    else:
        digest = hashlib.sha256(raw).hexdigest()[:40]
    name = info[b"name"].decode("utf-8", "replace")
    return TorrentFile(content, digest, size, files, trackers, info.get(b"private") == 1, name)


def _decode(data: bytes, at: int, depth: int) -> tuple[Any, int, dict[bytes, tuple[int, int]]]:
    """One bencoded value, where it ends and, of a dictionary, from where to where each value goes."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    match data[at : at + 1]:
        case b"i":
            end = data.index(b"e", at)
            return int(data[at + 1 : end]), end + 1, {}
        case b"l":
            values, at = [], at + 1
            while data[at : at + 1] != b"e":
                value, at, _ = _decode(data, at, depth + 1)
                values.append(value)
            return values, at + 1, {}
        case b"d":
            named: dict[bytes, Any] = {}
            spans: dict[bytes, tuple[int, int]] = {}
            at += 1
            while data[at : at + 1] != b"e":
                key, begin, _ = _decode(data, at, depth + 1)
                named[key], at, _ = _decode(data, begin, depth + 1)
                spans[key] = (begin, at)
            return named, at + 1, spans
        case _:
            colon = data.index(b":", at, at + 12)
            length = int(data[at:colon])
            end = colon + 1 + length
            if length < 0 or end > len(data):
                raise ValueError("it breaks off")
            return data[colon + 1 : end], end, {}


def _trackers(meta: dict[bytes, Any]) -> Iterator[str]:
    tiers = meta.get(b"announce-list") or []
    for tracker in (meta.get(b"announce"), *(one for tier in tiers for one in tier)):
        if isinstance(tracker, bytes) and tracker:
            yield _text(tracker)


def _size(info: dict[bytes, Any]) -> int:
    if b"length" in info:
        lengths = [int(info[b"length"])]
    elif b"files" in info:
        lengths = [int(file[b"length"]) for file in info[b"files"]]
    else:
        lengths = [int(leaf[b"length"]) for leaf in _leaves(info[b"file tree"])]
    if any(length < 0 for length in lengths) or sum(lengths) > _LARGEST:
        raise ValueError("it has a file of a size that no file has")
    return sum(lengths)


def _files(info: dict[bytes, Any]) -> Iterator[tuple[str, int]]:
    """The files by their paths; those that only fill up pieces are left out."""
    root = _text(info.get(b"name.utf-8", info[b"name"]))
    if b"length" in info:
        yield root, int(info[b"length"])
    for file in info.get(b"files", ()):
        if b"p" not in file.get(b"attr", b""):
            path = file.get(b"path.utf-8", file[b"path"])
            yield "/".join((root, *map(_text, path))), int(file[b"length"])
    if b"length" not in info and b"files" not in info:
        found = list(_tree_files(info[b"file tree"]))
        is_alone = [path for path, _ in found] == [root]
        yield from ((path if is_alone else f"{root}/{path}", size) for path, size in found)


def _tree_files(tree: dict[bytes, Any], above: str = "") -> Iterator[tuple[str, int]]:
    for name, below in tree.items():
        path = f"{above}{_text(name)}"
        if b"" in below:
            yield path, int(below[b""][b"length"])
        else:
            yield from _tree_files(below, f"{path}/")


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


def _leaves(tree: dict[bytes, Any]) -> Iterator[dict[bytes, Any]]:
    for name, below in tree.items():
        if name:
            yield from _leaves(below)
        else:
            yield below


def _check_names(info: dict[bytes, Any]) -> None:
    for name in _names(info):
        if name in (b"", b".", b"..") or b"/" in name or b"\\" in name or b"\0" in name or _DRIVE.match(name):
            raise ValueError(f"it has a file named {name.decode(errors='replace')!r}, which leads out of its folder")
    for file in (info, *info.get(b"files", ()), *_leaves(info.get(b"file tree", {}))):
        if b"l" in file.get(b"attr", b"") or b"symlink path" in file:
            raise ValueError("it has a link in it, which may lead out of its folder")


def _names(info: dict[bytes, Any]) -> Iterator[bytes]:
    for key in (b"name", b"name.utf-8"):
        if key in info:
            yield info[key]
    for file in info.get(b"files", ()):
        for key in (b"path", b"path.utf-8"):
            yield from file.get(key, ())
    yield from _names_in_tree(info.get(b"file tree", {}))


def _names_in_tree(tree: dict[bytes, Any]) -> Iterator[bytes]:
    for name, below in tree.items():
        if name:
            yield name
            yield from _names_in_tree(below)
