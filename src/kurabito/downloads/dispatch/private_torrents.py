"""The files of private torrents: stored, given to the downloader, and never shown.

The tracker of a private torrent serves only clients that have its file, and the file has the passkey of its keeper in it. The
link of such a release says the hash alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.downloads.clients.sources import STORED
from kurabito.downloads.clients.torrent_files import TorrentFile

_SQL: Final = Queries("kurabito.downloads.dispatch", "private_torrents.sql")
_KEPT: Final = timedelta(days=90) // timedelta(microseconds=1)
"""For a release that is wanted again. After that it is searched for again."""


def link_to(torrent: TorrentFile) -> str:
    """The URL of a release whose file is stored here."""
    return f"{STORED}{torrent.hash}"


def keep(conn: Connection, torrent: TorrentFile) -> None:
    """Store the file of a private torrent. The newest one counts: it has the passkey that its keeper has now."""
    conn.run(_SQL.forget_old, {"age": _KEPT})
    conn.run(_SQL.keep, {"hash": torrent.hash, "content": torrent.content})


def contents(conn: Connection, hashes: Iterable[str]) -> dict[str, bytes]:
    """The files that are stored of these torrents."""
    rows = json.dumps([{"hash": one} for one in sorted(set(hashes))])
    return {known: bytes(content) for known, content in conn.all(_SQL.contents, {"rows": rows})}


def find(conn: Connection, link: str) -> bytes | None:
    """The file that a link leads to; None where it is not stored."""
    known = link.removeprefix(STORED)
    return contents(conn, [known]).get(known)
