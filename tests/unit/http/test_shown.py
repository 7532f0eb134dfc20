"""A URL as it may stand in a log."""

from __future__ import annotations

import httpx2
import pytest

from kurabito.http.shown import shown


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://me:hunter2@example.org:8443/rss?key=1#top", "https://example.org:8443/rss"),
        ("http://[::1]/a%20b?c", "http://[::1]/a%20b"),
        ("ftp://me@example.org/", "ftp://example.org/"),
    ],
)
def test_neither_user_nor_query_is_shown(url: str, kept: str) -> None:
    assert shown(httpx2.URL(url)) == kept
