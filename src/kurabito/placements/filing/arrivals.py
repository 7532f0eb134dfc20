"""Asks data planes for the files of downloads that are complete.

A batch is one download for each episode, with one content: it is looked at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from kurabito.db import Connection, Queries
from kurabito.downloads import download_files
from kurabito.library import libraries
from kurabito.modules.path_maps import PathMap, as_core_sees, path_maps
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import InspectionKind
from kurabito.protocol.leased.retries import FilingStatus

_SQL: Final = Queries("kurabito.placements.filing", "arrivals.sql")
_OWN_DEPTH: Final = 2
"""A folder of a download lies below that of its series, below the download root."""


class Arrived(NamedTuple):
    """A download that is complete, and whose files were not listed yet."""

    download_id: int
    module_id: int | None
    save_path: str


def arrived(conn: Connection) -> list[Arrived]:
    """Those that are complete since the last look."""
    return [Arrived(*row) for row in conn.all(_SQL.arrived)]


def forget_moved(conn: Connection, maps: Mapping[int, Sequence[PathMap]]) -> int:
    """Forget which folders were not seen that these path maps have elsewhere, so that they are looked for there; how many."""
    moved = [
        found
        for found, folder, module_id, save_path in conn.all(_SQL.unseen)
        if str(as_core_sees(save_path, maps.get(module_id, ()))) != folder
    ]
    for inspection_id in moved:
        conn.run(_SQL.forget, {"id": inspection_id})
    return len(moved)


def request(conn: Connection, download: Arrived, root: Path) -> None:
    """Have the files of a download looked at, where they are as the core sees them."""
    maps = () if download.module_id is None else path_maps(conn, download.module_id)
    folder = Path(as_core_sees(download.save_path, maps))
    listed = [one.path for one in download_files.of_download(conn, download.download_id) if one.is_wanted]
    paths = json.dumps(listed, ensure_ascii=False) if listed else None
    refused = _refusal(conn, folder, root, is_listed=bool(listed))
    values = {
        "kind": InspectionKind.ARRIVAL.value,
        "download_id": download.download_id,
        "folder": str(folder),
        "paths": paths,
        "status": (FilingStatus.PENDING if refused is None else FilingStatus.CANCELLED).value,
        "error_code": None if refused is None else refused.value,
        "error_facts": None if refused is None else json.dumps({"folder": str(folder)}, ensure_ascii=False),
    }
    conn.run(_SQL.request, values)


def is_own_folder(folder: PurePath, root: PurePath) -> bool:
    """Whether a folder is that of one download, below the download root."""
    return folder.is_relative_to(root) and len(folder.relative_to(root).parts) >= _OWN_DEPTH


def _refusal(conn: Connection, folder: Path, root: Path, *, is_listed: bool) -> ErrorCode | None:
    """Why a folder is not looked into."""
    if any(folder.is_relative_to(library.path) for library in libraries.everything(conn)):
        # The user's own torrents may seed from a library. Its scan finds them there.
        return ErrorCode.SAME_FILE
    is_own = is_own_folder(folder, root)
    if not folder.is_absolute() or ".." in folder.parts or not (is_listed or is_own):
        # Without a list everything below the folder is the download's; of a folder that others share that is not true.
        return ErrorCode.PATH_ESCAPES
    return None
