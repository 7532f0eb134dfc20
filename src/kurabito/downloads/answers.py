"""What downloaders say, read with care: a broken answer counts for nothing, and one about something else even less."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kurabito.errors import BadAnswer

LONGEST_REASON: Final = 500
_HASH: Final = re.compile(r"[!-+\--~]{1,200}")
_LARGEST: Final = 2**63 - 1


class ItemAnswer(NamedTuple):
    """Whether a downloader took something."""

    is_accepted: bool
    hash: str | None = None
    reason: str | None = None
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


def read_items(answer: Any, asked: Collection[str]) -> dict[str, ItemAnswer]:
    """What became of the URLs that were asked for. Of two answers the one that took it counts: it may be there."""
    found: dict[str, ItemAnswer] = {}
    for entry in _entries(answer, "results"):
        url, status = entry.get("url"), entry.get("status")
        if not isinstance(url, str) or url not in asked:
            continue
        if status == "accepted":
            found[url] = ItemAnswer(True, read_hash(entry.get("hash")))
        elif status == "rejected":
            may_pass = entry.get("may_pass") is True
            found.setdefault(url, ItemAnswer(False, reason=_text(entry.get("reason")), may_pass=may_pass))
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
