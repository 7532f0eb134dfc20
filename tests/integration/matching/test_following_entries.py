"""An entry of the calendar can be followed before any feed brought a release of it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.identity.aliases import AliasSource
from kurabito.catalog.intake import CatalogIntake
from kurabito.catalog.states import SeriesState
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.metadata.errors import MetadataNotFound
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.matching.conftest import Desk

SUBSCRIBE = (
    "INSERT INTO subscriptions (id, name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES (1, 'feed', 'https://feeds.example', 'ask', 'missing', 1000000, :now, :now)"
)


def item(number: int, title: str) -> FeedItem:
    return FeedItem(title=title, download_url=f"https://feeds.example/{number}.torrent")


async def test_an_entry_becomes_a_series_that_releases_find(desk: Desk) -> None:
    entry = OfflineEntry(
        "蔵の夜 第2期", RecordKind.TV, "ja", Ids(bgm_id=5), date(2024, 4, 1), title_english="Kura no Yoru 2nd Season"
    )
    desk.index(entry)
    desk.run(SUBSCRIBE)
    entries = FollowFromMetadata(desk.database, desk.catalog, desk._fill_in)
    followed = await entries.follow_entry(5)
    assert (followed.title, followed.season, followed.state) == ("Kura no Yoru", 2, SeriesState.FOLLOWED)
    assert {(alias.name, alias.season, alias.source) for alias in followed.aliases} == {
        ("Kura no Yoru", 2, AliasSource.RECORD),
        ("蔵の夜", 2, AliasSource.RECORD),
    }
    assert desk.get(followed.metadata_id).details.bgm_id == 5
    assert desk.filled_in == ["sync"]
    # Again, by its record or by its entry, leads to the same one.
    assert followed.metadata_id is not None
    assert (await entries.follow_record(followed.metadata_id)).id == (await entries.follow_entry(5)).id == followed.id

    intake = CatalogIntake(desk.database)
    brought = (item(1, "[Kura] Kura no Yoru S2 - 01"), item(2, "[Kura] Someone Else - 01"))
    await intake.receive(FetcherResults(subscription_id=1, items=brought))
    links = (await desk.catalog.links(series_id=followed.id)).items
    assert [link.title for link in links] == ["[Kura] Kura no Yoru S2 - 01"]

    # A series that a feed brought and nobody was sure of is the one that is followed then, and its links go on.
    asked = next(one for one in (await desk.catalog.series()).items if one.title == "Someone Else")
    assert asked.state is SeriesState.ASKED
    record = desk.record(title_english="Someone Else")
    assert (await entries.follow_record(record)).id == asked.id
    (link,) = (await desk.catalog.links(series_id=asked.id)).items
    assert link.held_reason is None
    with pytest.raises(MetadataNotFound):
        await entries.follow_entry(99)
