"""What of a feed's address is refused over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site


@pytest.mark.parametrize("address", ["http://[x", "http://", "ftp://a.example/rss"])
async def test_a_feed_without_a_name_and_a_whole_address_is_refused_at_the_address(site: Site, address: str) -> None:
    for name in ({}, {"name": "Kura"}):
        answer = await site.http.post("/api/v1/subscriptions", json={"url": address, **name})
        assert answer.status_code == 422
        assert "url: " in answer.json()["error"]["message"]
