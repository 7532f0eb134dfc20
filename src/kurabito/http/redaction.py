"""A URL as it may stand in a log or a message."""

from __future__ import annotations

import re
from typing import Final

import httpx2

from kurabito.logs import MASK, mask_text

# Trackers put passkeys into paths as well: a part of letters and digits alone that is longer than names are.
_TOKEN: Final = re.compile(r"(?<=/)(?=[^/]*\d)[0-9A-Za-z]{20,}(?=[/.]|$)")

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s'\"<>]+")


def without_passkeys(text: str) -> str:
    """A text of others without the passwords, keys and passkeys of the URLs in it."""
    return _URL.sub(lambda found: _TOKEN.sub(MASK, found[0]), mask_text(text))


def bare(url: httpx2.URL) -> str:
    """Scheme, host and path: the query and the user's name and password may be secrets."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def has_passkey(url: str) -> bool:
    """Whether a URL has what looks like a passkey in its query, in its path or before its host."""
    path = url.partition("://")[2].partition("?")[0]
    return mask_text(url) != url or _TOKEN.search(path) is not None


def shown(url: httpx2.URL) -> str:
    """Scheme, host and path, without what in the path looks like a passkey."""
    path = url.raw_path.partition(b"?")[0].decode("ascii")
    return mask_text(bare(url).removesuffix(path)) + _TOKEN.sub(MASK, path)
