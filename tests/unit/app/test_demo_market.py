"""The market of the demo has a new release for those who follow a group."""

from __future__ import annotations

from urllib.parse import quote

from kurabito.demo.feeds import nowhere
from kurabito.demo.market import MarketStand


async def test_the_newest_release_of_a_group_comes_after_its_feed_was_read() -> None:
    market = MarketStand(nowhere)

    def titles(query: str) -> int:
        answer = market._answer(f"/page/1.xml?term={quote(query)}")
        assert answer is not None
        return answer.body.count(b"<item>")

    found = titles("The Gatekeepers")
    assert titles("The Gatekeepers") == found
    of_group = titles("The Gatekeepers Kura")
    assert of_group > 1
    assert titles("The Gatekeepers Kura") == of_group + 1
    assert titles("The Gatekeepers") == found + 1
    await market.close()
