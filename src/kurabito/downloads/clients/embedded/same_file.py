"""Whether what a host sends is the file that was asked for: not a page about it, and not another one than before."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from kurabito.http import Reply
from kurabito.http.errors import BadAnswer

LOOKED_AT: Final = 512
"""How many bytes of the beginning tell a page."""
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml", ".shtml", ".mhtml"})
_OPENINGS: Final = (b"<!doctype html", b"<html")


def refuse_page(name: str, reply: Reply, beginning: bytes) -> None:
    """Raise BadAnswer for a web page under a name that is none of a page: a login, an error, a notice of a removal."""
    if PurePosixPath(name).suffix.lower() in _SUFFIXES:
        return
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    opening = beginning[:LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    # Some hosts call everything a page; no text has a zero byte.
    if opening.startswith(_OPENINGS) or (kind in _PAGES and b"\0" not in opening):
        raise BadAnswer(
            f"the host sent a web page and not the file {name}; open its URL in a browser to see what it wants, and retry"
        )


def if_range(etag: str | None, modified: str | None) -> str | None:
    """What the next piece depends on; a weak tag does not promise the same bytes."""
    return etag if etag is not None and not etag.startswith("W/") else modified


def is_another(before: tuple[int, str | None, str | None], now: tuple[int, str | None, str | None]) -> bool:
    """Whether a file changed between two answers, by its size, its tag and its time; what one of them left out does not count.

    >>> is_another((10, '"1"', None), (10, '"2"', None))
    True
    >>> is_another((10, '"1"', None), (10, None, "Mon, 01 Jun 2026 10:00:00 GMT"))
    False
    """
    return any(old and new and old != new for old, new in zip(before, now, strict=True))
