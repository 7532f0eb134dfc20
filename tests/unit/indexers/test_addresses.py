"""The addresses of proxies that are typed for an indexer."""

from __future__ import annotations

import pytest

from kurabito.errors import InvalidInput
from kurabito.indexers.addresses import proxy_of


@pytest.mark.parametrize("url", ["http://nas:3128", "socks5h://me:secret@[::1]:1080", "https://proxy.example/"])
def test_a_proxy_is_taken_as_it_is_written(url: str) -> None:
    assert proxy_of(f" {url} ") == url


@pytest.mark.parametrize(
    "url", ["http://[::1]x/", "http://[::1", "http://nas:99999", "http://%5b/", "ftp://nas", "http://", "http://a b"]
)
def test_one_that_nothing_can_be_sent_through_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="must be the URL of a proxy"):
        proxy_of(url)
