"""A URL as it may stand in a log."""

from __future__ import annotations

import httpx2
import pytest

from kurabito.http.redaction import shown


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://me:hunter2@example.org:8443/rss?key=1#top", "https://example.org:8443/rss"),
        ("http://[::1]/a%20b?c", "http://[::1]/a%20b"),
        ("ftp://me@example.org/", "ftp://example.org/"),
        # Passkeys of trackers are in paths too.
        ("https://example.org/0123456789abcdef0123456789abcdef/rss", "https://example.org/***/rss"),
        ("https://example.org/rss/b7Qd81kLmnopQrst99Zz.xml", "https://example.org/rss/***.xml"),
        (
            "https://0123456789abcdef0123456789abcdef.example.org/feed",
            "https://0123456789abcdef0123456789abcdef.example.org/feed",
        ),
        ("https://example.org/Some-Show-S01E02-1080p-GROUP", "https://example.org/Some-Show-S01E02-1080p-GROUP"),
        ("https://example.org/internationalization", "https://example.org/internationalization"),
    ],
)
def test_neither_user_nor_query_is_shown(url: str, kept: str) -> None:
    assert shown(httpx2.URL(url)) == kept
