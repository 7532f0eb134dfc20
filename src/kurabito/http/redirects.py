"""Where an answer sends us, and what we may carry there."""

from __future__ import annotations

from typing import Final

import httpx2

from kurabito.http.errors import BadAnswer, LeadsToMagnet
from kurabito.http.redaction import shown

_MAGNET: Final = "magnet:"
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
# On the way to another host everything else that was given stays behind: any of it may be a secret for the first one.
_CARRIED: Final = (
    "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range", "range", "user-agent",
)  # fmt: skip
_OF_A_BODY: Final = ("content-length", "content-type", "transfer-encoding")


def redirected(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request | None:
    """The request that the answer asks for instead, or None when it asks for none that we would send."""
    location = response.headers.get("location")
    if response.status_code not in _MOVED or not location:
        return None
    if location[: len(_MAGNET)].lower() == _MAGNET:
        raise LeadsToMagnet(f"{shown(request.url)} redirects to a magnet link, which is no URL to fetch", location)
    try:
        url = request.url.join(location).copy_with(username=None, password=None)
    except httpx2.InvalidURL as error:
        raise BadAnswer(f"{shown(request.url)} redirects to something that is not a URL: {error}") from None
    reading = request.method in ("GET", "HEAD")
    # What every browser does since before it was written down: a form that moved is answered by a page to get.
    becomes_get = not reading and (
        response.status_code == 303 or (request.method == "POST" and response.status_code < 303)
    )
    same_place = _same_place(request.url, url)
    if not (same_place or reading or becomes_get):
        # A body was meant for the host that it was sent to.
        return None
    names = [name for name in request.headers if name != "host" and (same_place or name in _CARRIED)]
    headers = {name: request.headers[name] for name in names if not (becomes_get and name in _OF_A_BODY)}
    if reading or becomes_get:
        return httpx2.Request("GET" if becomes_get else request.method, url, headers=headers)
    return httpx2.Request(request.method, url, headers=headers, content=request.content)


def _same_place(old: httpx2.URL, new: httpx2.URL) -> bool:
    if old.host != new.host:
        return False
    upgraded = (old.scheme, new.scheme, _port(old), _port(new)) == ("http", "https", 80, 443)
    return upgraded or (old.scheme, _port(old)) == (new.scheme, _port(new))


def _port(url: httpx2.URL) -> int | None:
    return url.port or {"http": 80, "https": 443}.get(url.scheme)
