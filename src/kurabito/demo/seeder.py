"""Torrents of short videos, seeded on this machine alone: the demo downloads them as it would real ones."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import libtorrent as lt

from kurabito.demo.feeds import MadeUpEntry, MadeUpLink
from kurabito.demo.videos import film
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, ServiceType

_HERE: Final = "127.0.0.1"
_PIECE: Final = 16 * 1024
_SIZE: Final = 96 * _PIECE
_SECONDS: Final = 3
_VOID: Final = b"\xec"
"""The Matroska element that says nothing."""
_VOID_LENGTH: Final = 8
# Slow enough to be seen, and so slow that there is time to change one's mind.
_RATE: Final = 384 * 1024
_SLOW_RATE: Final = 2 * 1024
_SESSION: Final[lt.settings_pack] = {
    "listen_interfaces": f"{_HERE}:0",
    "outgoing_interfaces": _HERE,
    "enable_dht": False,
    "enable_lsd": False,
    "enable_upnp": False,
    "enable_natpmp": False,
    "enable_outgoing_utp": False,
    "enable_incoming_utp": False,
    "alert_mask": 0,
}

ATTIC: Final = Registration(
    service_type=ServiceType.DOWNLOADER,
    service_name="attic",
    host=_HERE,
    # Nothing listens there, so every download goes to the next one.
    port=9,
    instance_id="attic",
    token="attic",  # noqa: S106 - it is never shown
    capabilities=Capabilities(download_endpoint="/downloads", supported_download_types=(DownloadType.MAGNET,)),
)
"""A downloader that was switched off with its machine, as those of others are."""


class Seeder:
    """Has every release of the demo's feeds, and seeds it on this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._session: lt.session | None = None

    def open(self) -> None:
        """Be there for those who ask."""
        self._folder.mkdir(parents=True)
        self._session = lt.session(_SESSION)

    def close(self) -> None:
        """Be gone."""
        if self._session is not None:
            self._session.pause()
            self._session = None

    def link(self, entry: MadeUpEntry) -> MadeUpLink:
        """Make a release, and say where it is: at this very program, so that no tracker is needed."""
        assert self._session is not None, "it is opened first"
        torrent, digest = self._made(entry)
        if entry.is_dead:
            return MadeUpLink(f"magnet:?xt=urn:btih:{digest}&dn={quote(entry.title)}", _SIZE)
        params = lt.load_torrent_buffer(torrent)
        params.save_path = str(self._folder)
        params.flags |= lt.torrent_flags.seed_mode
        params.flags &= ~lt.torrent_flags.auto_managed & ~lt.torrent_flags.paused
        params.upload_limit = _SLOW_RATE if entry.is_slow else _RATE
        self._session.add_torrent(params)
        peer = f"{_HERE}:{self._session.listen_port()}"
        return MadeUpLink(f"magnet:?xt=urn:btih:{digest}&dn={quote(entry.title)}&x.pe={peer}", _SIZE)

    def _made(self, entry: MadeUpEntry) -> tuple[bytes, str]:
        """A torrent of one file, or of several in a folder; and its hash."""
        name = entry.title.replace("/", "_")
        if entry.files:
            name = name.removesuffix(".mkv")
        size = _SIZE // max(1, len(entry.files))
        contents = {file: _content(file, size) for file in entry.files or (name,)}
        folder = self._folder / name if entry.files else self._folder
        folder.mkdir(exist_ok=True)
        for file, content in contents.items():
            (folder / file).write_bytes(content)
        whole = b"".join(contents.values())
        pieces = b"".join(_sha1(whole[at : at + _PIECE]).digest() for at in range(0, _SIZE, _PIECE))
        info: dict[bytes, Any] = {b"name": name.encode(), b"piece length": _PIECE, b"pieces": pieces}
        if entry.files:
            info[b"files"] = [{b"length": size, b"path": [file.encode()]} for file in entry.files]
        else:
            info[b"length"] = _SIZE
        torrent: dict[bytes, Any] = {b"info": info}
        return lt.bencode(torrent), _sha1(lt.bencode(info)).hexdigest()


def _content(name: str, size: int) -> bytes:
    """A video that can be looked at, if it is called one, and then noise that players pass over."""
    shown = film(name, _SECONDS) if name.endswith(".mkv") else b""
    left = size - len(shown) - len(_VOID) - _VOID_LENGTH
    noise = random.Random(name).randbytes(left)  # noqa: S311 - noise for everybody
    # The length of a Matroska element, in its longest form.
    length = (left | 1 << 7 * _VOID_LENGTH).to_bytes(_VOID_LENGTH, "big")
    return shown + _VOID + length + noise


def _sha1(data: bytes) -> hashlib._Hash:
    return hashlib.sha1(data, usedforsecurity=False)
