"""The groups of a show are listed as a keeper would choose among them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kurabito.downloads.follow.offers import offers
from kurabito.downloads.search.decisions import FoundRelease, read
from kurabito.indexers.port import IndexerItem
from kurabito.modules.download_types import DownloadType

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def found(group: str, season: int, episode: int, days: int) -> FoundRelease:
    title = f"[{group}] Yoru S{season} - {episode:02} [1080p]"
    item = IndexerItem(
        title=title,
        download_url=f"https://a.example/{title}.torrent",
        download_type=DownloadType.TORRENT,
        pub_date=NOW - timedelta(days=days),
    )
    return read(FoundRelease(key=title, item=item, indexer_id=1, indexers=("A",), least_seeders=0), ())


def test_the_group_that_released_most_of_the_newest_season_is_first() -> None:
    releases = [
        found("Once", 2, 6, 0),
        *(found("Steady", 2, episode, 42 - 7 * episode) for episode in range(1, 6)),
        *(found("Gone", 2, episode, 60 + episode) for episode in range(1, 9)),
        *(found("Old", 1, episode, 400 + episode) for episode in range(1, 13)),
    ]
    listed = [(one.group, one.season, one.releases) for one in offers(releases)]
    assert listed == [("Steady", 2, 5), ("Once", 2, 1), ("Gone", 2, 8), ("Old", 1, 12)]
