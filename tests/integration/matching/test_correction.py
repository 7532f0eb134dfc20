"""A title is searched wherever it is known and chosen for any folder or series; a choice is evidence for the next ones."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING

import pytest

from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.matching.model import MatchReason, MatchState
from kurabito.errors import InvalidInput
from kurabito.http import Limits
from kurabito.metadata.errors import MetadataNotFound
from kurabito.metadata.health import SourceFailure
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.search import MetadataSearch, SearchSource
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.tmdb import TmdbClient

if TYPE_CHECKING:
    from tests.integration.matching.conftest import Desk
    from tests.integration.metadata.world import World

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def search(desk: Desk, world: World) -> MetadataSearch:
    once = Limits(attempts=1)
    tmdb = TmdbClient(
        desk.outbound, KEY, url=world.url("/3"), image_url=world.url("/t/p"), clock=desk.clock, limits=once
    )
    bangumi = BangumiClient(desk.outbound, url=world.url(), clock=desk.clock, limits=once)
    return MetadataSearch(desk.database, tmdb, bangumi)


@pytest.fixture
def known(desk: Desk, world: World) -> int:
    """One title of this name at each place; the record is also in the index and at bgm.tv."""
    desk.index(
        OfflineEntry(
            "灯台の夜", RecordKind.TV, "ja", Ids(bgm_id=1), date(2020, 1, 5), other_titles=("Lighthouse Night",)
        ),
        OfflineEntry("灯台の夜明け", RecordKind.OVA, "ja", Ids(bgm_id=2), date(2021, 1, 5)),
    )
    show = world_show(world)
    world.shows = [show(10, "灯台の夜", "2020-01-05"), show(11, "灯台の夜 映画", "2022-03-01", kind="movie")]
    named = {"name_cn": "", "summary": "", "date": "2020-01-05", "platform": "TV", "images": {}}
    world.subjects = {
        number: {"id": number, "name": name, **named} for number, name in ((1, "灯台の夜"), (3, "灯台の夜会"))
    }
    return desk.record(title_japanese="灯台の夜", bgm_id=1, year=2020)


def world_show(world: World) -> type:
    """The class of what TMDB has; its module is loaded by its path."""
    found: type = sys.modules[type(world).__module__].Show
    return found


async def test_a_name_is_searched_everywhere_and_nothing_is_offered_twice(
    desk: Desk, search: MetadataSearch, known: int, world: World
) -> None:
    found = await search.search("灯台の夜")
    assert [(one.key, one.source.value, one.metadata_id) for one in found.titles] == [
        (f"record:{known}", "records", known),
        ("bgm:2", "index", None),
        ("bgm:3", "bgm", None),
        ("tmdb:tv:10", "tmdb_tv", None),
        ("tmdb:movie:11", "tmdb_movie", None),
    ]
    assert found.failed == ()
    # By a name that only the index has, and in one place only.
    assert [one.key for one in (await search.search("lighthouse", [SearchSource.INDEX])).titles] == [f"record:{known}"]
    world.is_down = True
    # bgm.tv is asked once a second.
    desk.clock.advance(1)
    found = await search.search("灯台の夜")
    assert [one.key for one in found.titles] == [f"record:{known}", "bgm:2"]
    assert {one.source.value for one in found.failed} == {"bgm", "tmdb_tv", "tmdb_movie"}
    assert {one.failure for one in found.failed} <= set(SourceFailure)


async def test_what_was_found_is_chosen_for_many_folders_matched_or_not(
    desk: Desk, search: MetadataSearch, known: int
) -> None:
    await desk.scan("灯台の夜/01.mkv", "Unknown Lighthouse/01.mkv", "Another Light/01.mkv")
    matched = (await desk.all(MatchState.MATCHED))["灯台の夜"]
    folders = [matched.id, *(one.id for one in (await desk.open()).values())]
    for key, kind, tmdb_id, bgm_id in (
        ("bgm:2", RecordKind.OVA, None, 2),
        ("bgm:3", RecordKind.TV, None, 3),
        ("tmdb:movie:11", RecordKind.MOVIE, 11, None),
        (f"record:{known}", RecordKind.TV, None, 1),
    ):
        chosen = await desk.matches.choose_title(folders, await search.details_of(key))
        assert {one.state for one in chosen} == {MatchState.CHOSEN}
        (record,) = {one.metadata_id for one in chosen}
        details = desk.get(record).details
        assert (details.kind, details.tmdb_id, details.bgm_id) == (kind, tmdb_id, bgm_id)
        # The same title again is the same record.
        again = await desk.matches.choose_title(folders[:1], await search.details_of(key))
        assert again[0].metadata_id == record
    with pytest.raises(LookupError):
        await desk.matches.choose_title([folders[0], 404], known)


async def test_a_choice_is_evidence_for_the_next_folder_of_that_name_until_it_is_taken_back(
    desk: Desk, search: MetadataSearch, known: int
) -> None:
    await desk.scan("Todai/01.mkv")
    folder = (await desk.open())["Todai"]
    await desk.matches.choose_title([folder.id], known)
    await desk.scan("Archive/Todai/01.mkv", "Todai Season 2/01.mkv", "Todai (1999)/01.mkv", library_id=2)
    found = await desk.all(MatchState.MATCHED)
    assert [(name, one.metadata_id, one.reasons) for name, one in found.items()] == [
        ("Archive/Todai", known, (MatchReason.CHOSEN_BEFORE,))
    ]
    # Neither another season nor a year in which the record did not begin.
    assert set(await desk.open()) == {"Todai Season 2", "Todai (1999)"}
    await desk.matches.reopen(folder.id)
    await desk.scan("Later/Todai/01.mkv", library_id=2)
    assert "Later/Todai" in await desk.open()


async def test_a_series_gets_the_record_that_was_chosen(desk: Desk, search: MetadataSearch, known: int) -> None:
    desk.run(
        "INSERT INTO series (id, title, season, kind, episode_offset, state, created_at, updated_at) "
        "VALUES (7, 'Todai', 1, 'tv', 0, 'followed', :now, :now)"
    )
    record = await desk.matches.choose_for_series(7, await search.details_of("tmdb:tv:10"))
    assert (await desk.catalog.get(7)).metadata_id == record
    details = desk.get(record).details
    assert (details.tmdb_id, details.tmdb_kind, details.year) == (10, TmdbKind.TV, 2020)
    assert await desk.matches.choose_for_series(7, known) == known
    with pytest.raises(SeriesNotFound):
        await desk.matches.choose_for_series(404, known)


@pytest.mark.parametrize("key", ["", "record", "record:0", "record:x", "tmdb:book:1", "bgm:1:2", "record:\u0661"])
async def test_what_is_no_key_is_refused(search: MetadataSearch, key: str) -> None:
    with pytest.raises(InvalidInput):
        await search.details_of(key)


async def test_what_is_gone_is_not_chosen(search: MetadataSearch, known: int) -> None:
    for key in ("record:404", "bgm:404", "tmdb:tv:404"):
        with pytest.raises(MetadataNotFound):
            await search.details_of(key)
