"""Requests that two programs could read differently, and heads that are too large.

Where a proxy and we do not agree on where a request ends, a client can hide a second one in its body. So whatever leaves
room for doubt is refused, and the connection ends.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import h11

LARGEST_HEAD: Final = 16 * 1024
_MOST_HEADERS: Final = 128
_MOST_SMALL_CHUNKS: Final = 4096
_SMALL: Final = 16
_VERSIONS: Final = frozenset({b"1.0", b"1.1"})
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


class BadRequest(h11.RemoteProtocolError):
    """A request that is refused by ourselves. Its message may be shown: nothing of the request is in it."""


class StrictConnection(h11.Connection):
    """h11 for a server, which takes no request that is in doubt."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, LARGEST_HEAD)
        self._pieces = 0
        self._bytes = 0

    # What h11 itself says of this method, with its two marks for "nothing yet".
    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        # Not `isinstance`, which costs as much as the rest of this method with these classes.
        if type(event) is h11.Data:
            self._count(event)
        elif type(event) is h11.Request:
            self._pieces = self._bytes = 0
            _check_framing(event)
            return _in_origin_form(event)
        return event

    def _count(self, piece: h11.Data) -> None:
        # Each chunk costs as much as a request does, whatever its size.
        self._pieces += 1
        self._bytes += len(piece.data)
        if self._pieces > _MOST_SMALL_CHUNKS and self._bytes < self._pieces * _SMALL:
            raise BadRequest("the body comes in too many small chunks; send larger ones")


def _check_framing(request: h11.Request) -> None:
    if len(request.headers) > _MOST_HEADERS:
        raise BadRequest(f"a request may have at most {_MOST_HEADERS} headers", error_status_hint=431)
    if request.http_version not in _VERSIONS:
        raise BadRequest("this server speaks HTTP/1.1", error_status_hint=505)
    framing = {name for name, _ in request.headers if name in _FRAMING}
    if len(framing) > 1:
        raise BadRequest("a request has Content-Length or Transfer-Encoding, never both")
    if b"transfer-encoding" in framing and request.http_version < b"1.1":
        raise BadRequest("HTTP/1.0 has no Transfer-Encoding; send Content-Length")


def _in_origin_form(request: h11.Request) -> h11.Request:
    """The request with its path alone as target; the host of `GET http://host/path` is the one that counts."""
    target = request.target
    if target.startswith(b"/") or (target == b"*" and request.method == b"OPTIONS"):
        return request
    try:
        url = urlsplit(target)
    except ValueError:
        url = None
    if url is None or url.scheme not in (b"http", b"https") or not url.netloc or b"@" in url.netloc:
        raise BadRequest("the target of a request is a path that begins with a slash")
    path = (url.path or b"/") + (b"?" + url.query if url.query else b"")
    headers = [(name, value) for name, value in request.headers if name != b"host"]
    return h11.Request(
        method=request.method,
        target=path,
        headers=[(b"host", url.netloc), *headers],
        http_version=request.http_version,
    )
