"""Where a download goes: a folder of its own below the download root, as its downloader sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from kurabito.modules.path_maps import PathMap, mapped

# What some file system refuses, and what a program could take for more than a name.
_NOT_IN_NAMES: Final = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')
_LONGEST_NAME: Final = 120


def save_path(root: PurePath, maps: Sequence[PathMap], series: str, series_id: int, link_id: int) -> str:
    """The folder of one link: everything below it is that link's.

    >>> save_path(PurePath("/data/downloads"), [PathMap("/data", "/mnt/nas")], "Kura: 1/2", 7, 42)
    '/mnt/nas/downloads/Kura 1 2/42'
    """
    folder = root / (_name(series) or f"series {series_id}") / str(link_id)
    return mapped(folder, maps)


def _name(series: str) -> str:
    name = re.sub(r"\s+", " ", _NOT_IN_NAMES.sub(" ", series)).strip(" .")
    # Bytes are what file systems count.
    return name.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .")
