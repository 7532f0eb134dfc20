"""A URL as it may stand in a log or a message."""

from __future__ import annotations

import httpx2

from kurabito.logs import mask_text


def shown(url: httpx2.URL) -> str:
    """Scheme, host and path: the query and the user's name and password may be secrets."""
    return mask_text(str(url.copy_with(username=None, password=None, query=None, fragment=None)))
