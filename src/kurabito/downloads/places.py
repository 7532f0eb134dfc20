"""Where a download goes: a folder of its own below the download root, as its downloader sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath, PurePosixPath
from typing import Final, NamedTuple

from kurabito.db import Connection

# What some file system refuses, and what a program could take for more than a name.
_NOT_IN_NAMES: Final = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')
_LONGEST_NAME: Final = 120
_MAPS: Final = "SELECT core_prefix, downloader_prefix FROM path_maps WHERE module_id = :module_id"


class PathMap(NamedTuple):
    """The same folder as the core and as a downloader see it."""

    core: str
    downloader: str


def path_maps(conn: Connection, module_id: int) -> list[PathMap]:
    """The path maps of a downloader."""
    return [PathMap(*row) for row in conn.all(_MAPS, {"module_id": module_id})]


def save_path(root: PurePath, maps: Sequence[PathMap], series: str, series_id: int, link_id: int) -> str:
    """The folder of one link: everything below it is that link's.

    >>> save_path(PurePosixPath("/data/downloads"), [PathMap("/data", "/mnt/nas")], "Kura: 1/2", 7, 42)
    '/mnt/nas/downloads/Kura 1 2/42'
    """
    folder = root / (_name(series) or f"series {series_id}") / str(link_id)
    # The longest prefix knows best.
    for core, downloader in sorted(maps, key=lambda one: -len(one.core)):
        if folder.is_relative_to(core):
            return str(PurePosixPath(downloader) / folder.relative_to(core).as_posix())
    return str(folder)


def _name(series: str) -> str:
    name = re.sub(r"\s+", " ", _NOT_IN_NAMES.sub(" ", series)).strip(" .")
    # Bytes are what file systems count.
    return name.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .")
