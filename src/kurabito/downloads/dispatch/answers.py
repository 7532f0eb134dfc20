"""What downloaders say, read with care: a broken answer counts for nothing, and one about something else even less."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kurabito.downloads.items import MOST_FILES, Owner, TransferFile
from kurabito.http.errors import BadAnswer

LONGEST_REASON: Final = 500
_HASH: Final = re.compile(r"[!-+\--~]{1,200}")
_LARGEST: Final = 2**63 - 1
_LONGEST_PATH: Final = 4_096


class ReadItem(NamedTuple):
    """Whether a downloader took something."""

    is_accepted: bool
    hash: str | None = None
    reason: str | None = None
    owner: Owner | None = None
    """None where the downloader does not tell."""
    may_pass: bool = False
    """It may take it later."""


class Report(NamedTuple):
    """How something is doing at a downloader."""

    status: str
    progress: float
    size: int | None
    rate: int | None
    peers: int | None
    detail: str | None
    owner: Owner | None = None
    content_path: str | None = None
    """The folder in which its files lie, as the downloader sees it."""
    files: tuple[TransferFile, ...] | None = None


def read_items(answer: Any, asked: Collection[str]) -> dict[str, ReadItem]:
    """What became of the URLs that were asked for. Of two answers the one that took it counts: it may be there."""
    found: dict[str, ReadItem] = {}
    for entry in _entries(answer, "results"):
        url, status = entry.get("url"), entry.get("status")
        if not isinstance(url, str) or url not in asked:
            continue
        if status == "accepted":
            found[url] = ReadItem(True, read_hash(entry.get("hash")), owner=_owner(entry.get("owner")))
        elif status == "rejected":
            may_pass = entry.get("may_pass") is True
            found.setdefault(url, ReadItem(False, reason=_text(entry.get("reason")), may_pass=may_pass))
    return found


def read_reports(answer: Any, asked: Collection[str]) -> dict[str, Report]:
    """How the hashes that were asked for are doing; those that are not there are left out."""
    found: dict[str, Report] = {}
    for entry in _entries(answer, "statuses"):
        known, status = read_hash(entry.get("hash")), _text(entry.get("status"))
        if known is not None and known in asked and status is not None:
            found[known] = Report(
                status.lower(),
                _share(entry.get("progress")),
                _count(entry.get("size")),
                _count(entry.get("rate")),
                _count(entry.get("peers"), 2**31 - 1),
                _text(entry.get("detail")),
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
