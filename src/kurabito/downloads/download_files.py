"""The files of downloads, as their downloaders list them: where filing begins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.items import MOST_FILES, TransferFile

_SQL: Final = Queries("kurabito.downloads", "download_files.sql")


def store(conn: Connection, files: Mapping[int, Sequence[TransferFile]]) -> None:
    """Keep the files of these downloads, in place of what was kept before."""
    if not files:
        return
    conn.run(_SQL.forget, given_ids(files))
    rows = [
        {
            "download_id": download_id,
            "position": position,
            "path": file.path,
            "size": file.size,
            "wanted": int(file.is_wanted),
            "complete": int(file.is_complete),
        }
        for download_id, of_download in files.items()
        for position, file in enumerate(of_download)
    ]
    conn.run(_SQL.add, {"rows": json.dumps(rows)})


def share(conn: Connection, download_ids: Iterable[int]) -> None:
    """Give downloads the files of those with the same content at the same downloader."""
    conn.run(_SQL.copy, given_ids(download_ids))


def of_download(conn: Connection, download_id: int, limit: int = MOST_FILES) -> list[TransferFile]:
    """The files of a download, in the order of its torrent; none where the downloader did not list them."""
    return [
        TransferFile(path, size, bool(is_wanted), bool(is_complete))
        for path, size, is_wanted, is_complete in conn.all(_SQL.of_download, {"id": download_id, "limit": limit})
    ]
