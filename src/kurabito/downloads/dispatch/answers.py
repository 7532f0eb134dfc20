"""The answers of downloaders, read with care: what is broken, or about something else, is left out."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from kurabito.downloads.items import MOST_FILES, DownloadItemResult, DownloadStatus, Owner, TransferFile, TransferStatus
from kurabito.http.errors import BadAnswer

LONGEST_REASON: Final = 500
_HASH: Final = re.compile(r"[!-+\--~]{1,200}")
_LARGEST: Final = 2**63 - 1
_LONGEST_PATH: Final = 4_096


def read_results(answer: Any, asked: Collection[str]) -> dict[str, DownloadItemResult]:
    """What became of the URLs that were asked for. Of two answers the one that took it counts: it may be there."""
    found: dict[str, DownloadItemResult] = {}
    for entry in _entries(answer, "results"):
        url, status = entry.get("url"), entry.get("status")
        if not isinstance(url, str) or url not in asked:
            continue
        if status == "accepted":
            found[url] = DownloadItemResult.accepted(url, read_hash(entry.get("hash")), _owner(entry.get("owner")))
        elif status == "rejected":
            may_pass = entry.get("may_pass") is True
            found.setdefault(url, DownloadItemResult.rejected(url, _text(entry.get("reason")), may_pass=may_pass))
    return found


def read_statuses(answer: Any, asked: Collection[str]) -> dict[str, DownloadStatus]:
    """How the hashes that were asked for are doing; those that are not there are left out."""
    found: dict[str, DownloadStatus] = {}
    for entry in _entries(answer, "statuses"):
        known, word = read_hash(entry.get("hash")), _text(entry.get("status"))
        if known is not None and known in asked and word is not None:
            status, detail = _status(word.lower())
            found[known] = DownloadStatus(
                known,
                status,
                _share(entry.get("progress")),
                _count(entry.get("size")),
                _count(entry.get("rate")),
                _count(entry.get("peers"), 2**31 - 1),
                _text(entry.get("detail")) or detail,
                _owner(entry.get("owner")),
                _path(entry.get("content_path")),
                _files(entry.get("files")),
            )
    return found


def read_cancelled(answer: Any, asked: Collection[str]) -> set[str]:
    """The hashes that are there no longer; whether they ever were makes no difference."""
    over = (entry for entry in _entries(answer, "results") if entry.get("status") in ("cancelled", "not_found"))
    return {known for entry in over if (known := read_hash(entry.get("hash"))) is not None and known in asked}


def read_hash(value: Any) -> str | None:
    """A hash as it is compared; None for what cannot be one, as it could not be asked for."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        return None
    return value.lower() if re.fullmatch(r"[0-9A-Fa-f]{40}", value) else value


def _status(word: str) -> tuple[TransferStatus, str | None]:
    """The status that a word means, and a detail: any other word than ours, such as paused, is a download that can go on."""
    return (TransferStatus(word), None) if word in set(TransferStatus) else (TransferStatus.DOWNLOADING, word)


def _owner(value: Any) -> Owner | None:
    return Owner(value) if isinstance(value, str) and value in set(Owner) else None


def _files(value: Any) -> tuple[TransferFile, ...] | None:
    """A list of files; None if one of them makes no sense, as part of a download is not the download."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_FILES:
        return None
    found = [_file(entry) for entry in value if isinstance(entry, dict)]
    files = tuple(file for file in found if file is not None)
    return files if len(files) == len(value) else None


def _file(entry: Mapping[str, Any]) -> TransferFile | None:
    path, size = _path(entry.get("path")), _count(entry.get("size"))
    if path is None or size is None or path.startswith("/") or ".." in path.split("/"):
        return None
    return TransferFile(path, size, entry.get("wanted") is not False, entry.get("complete") is True)


def _path(value: Any) -> str | None:
    """A path as it is: what is no text for a database is none."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_PATH or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _entries(answer: Any, name: str) -> Iterator[Mapping[str, Any]]:
    listed = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise BadAnswer(f"a downloader's answer has no list called {name!r}")
    return (entry for entry in listed if isinstance(entry, dict))


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return "".join(char for char in value if char.isprintable())[:LONGEST_REASON].strip() or None


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(max(float(value), 0.0), 1.0)


def _count(value: Any, most: int = _LARGEST) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value <= most else None
