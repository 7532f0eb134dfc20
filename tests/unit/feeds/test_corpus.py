"""Feeds that sites really sent. They are not ours to give away, so they are read from KURABITO_CORPUS."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kurabito.feeds.errors import FeedUnreadable
from kurabito.feeds.parser import parse_feed

# The fixtures take every setting out of the environment before a test runs, so it is read here.
CORPUS = os.environ.get("KURABITO_CORPUS", "")
FEEDS = sorted(Path(CORPUS, "feeds").glob("*.xml")) if CORPUS else []


@pytest.mark.skipif(not FEEDS, reason="KURABITO_CORPUS does not name a folder with feeds")
def test_every_real_feed_gives_all_its_items() -> None:
    for path in FEEDS:
        data = path.read_bytes()
        promised = data.count(b"</item>") + data.count(b"</entry>")
        if not promised:
            with pytest.raises(FeedUnreadable):
                parse_feed(data, "https://feeds.example/")
            continue
        feed = parse_feed(data, "https://feeds.example/")
        assert (len(feed.items), feed.refused) == (promised, ()), path.name
        dated = [item for item in feed.items if item.pub_date]
        assert dated == list(feed.items) or b"pubDate" not in data, path.name
