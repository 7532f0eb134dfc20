"""*Calendar*, *Matches*, records and posters: what is known is shown, what is missing is told with what to do about it."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

from kurabito.catalog.matching import matches
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.matches import MatchDecision, NewFolder
from kurabito.catalog.matching.model import MatchCandidate, MatchedBy, MatchReason
from kurabito.catalog.releases import Name
from kurabito.db import Connection
from kurabito.demo.feeds import DAWN
from kurabito.demo.metadata import MetadataStand
from kurabito.demo.shows import ALL_SHOWS
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.feeds.tasks import FetchTask
from kurabito.library.libraries import LibrarySettings
from kurabito.metadata.calendar import REFRESH
from kurabito.metadata.records import Details
from kurabito.metadata.runner import SYNC
from kurabito.metadata.sources.index import UPDATE
from kurabito.runtime import Registry, TaskContext, TaskState, Worker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.web.conftest import Opened, Site
    from tests.support.waiting import Eventually


async def fill_in(site: Site, *task_types: str) -> None:
    """Have these tasks done, one after the other."""
    registry = Registry()
    site.metadata.join(registry)
    async with Worker(site.queue, registry, name="filler", grace=0.0):
        for task_type in task_types:
            task = await site.queue.enqueue(task_type, unique_key=task_type)
            assert (await site.queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED


async def test_a_week_is_asked_for_and_shown_by_day_with_posters(illustrated: Site) -> None:
    seen = await illustrated.read("/calendar")
    assert "No calendar yet." in seen
    assert "fetch the ID index" in seen
    assert "Refreshing from bgm.tv" in (await illustrated.post("/calendar/refresh")).text
    await fill_in(illustrated, REFRESH)

    page = await illustrated.get("/calendar")
    on_now = [show for show in ALL_SHOWS if show.weekday is not None]
    assert page.text.count('class="card"') == len(on_now)
    assert page.text.count("poster-none") == len(on_now)
    # A page leads nobody to other sites for its pictures.
    assert "/pictures/" not in page.text
    seen = await illustrated.read("/calendar")
    assert seen.count("Today") == 1
    for day, title in (("Monday", "夜明けの蔵"), ("Sunday", "味噌と王女")):
        assert 0 < seen.index(title, seen.rindex(day)) - seen.rindex(day) < 90
    assert "黎明之仓" in (await illustrated.client.get("/calendar", headers={"Accept-Language": "zh-CN"})).text

    await fill_in(illustrated, SYNC)
    page = await illustrated.get("/calendar")
    assert "poster-none" not in page.text
    posters = re.findall(
        r'<img src="(/posters/[0-9a-f]{16}\.png)" alt="Poster of ([^"]+)"[^>]* loading="lazy"', page.text
    )
    assert len({path for path, _ in posters}) == len(on_now)
    assert "夜明けの蔵" in dict(posters).values()
    assert (await illustrated.get(posters[0][0])).headers["content-type"] == "image/png"


async def test_a_season_comes_from_the_imported_index(illustrated: Site, services: MetadataStand) -> None:
    assert "fetch the ID index" in (await illustrated.get("/calendar", year="2021", month="10")).text
    await asyncio.to_thread(services.import_index, illustrated.queue.database)
    page = await illustrated.get("/calendar", year="2021", month="10")
    seen = await illustrated.read("/calendar", year="2021", month="10")
    assert "Autumn 2021" in seen
    assert "Friday T The Town of White Walls OVA 12 Nov 2021" in seen
    assert "Saturday S Song of the Clay Wall Web series 9 Oct 2021" in seen
    assert page.text.count("poster-none") == 3
    assert "Summer 2021 Winter 2022" in seen
    assert "/calendar?year=2022&amp;month=1" in page.text
    assert "No show in the ID index starts" in (await illustrated.get("/calendar", year="2010", month="1")).text
    for wrong in ({"year": "2021", "month": "11"}, {"year": "99", "month": "10"}, {"month": "ten"}):
        assert (await illustrated.get("/calendar", **wrong)).status_code == 422


async def test_an_update_of_the_index_shows_how_far_it_is(illustrated: Site, eventually: Eventually) -> None:
    go_on, registry = asyncio.Event(), Registry()

    @registry.task(UPDATE)
    async def update(ctx: TaskContext) -> None:
        await ctx.report(4_000, 17_000)
        await go_on.wait()

    async def is_told() -> bool:
        return "Updating index 4,000 / 17,000" in await illustrated.read("/calendar")

    assert 'id="update-index"' in (await illustrated.get("/calendar")).text
    waiting = await illustrated.post("/calendar/index")
    assert "Updating index" in waiting.text
    assert 'id="update-index"' not in waiting.text
    async with Worker(illustrated.queue, registry, name="updater", grace=0.0):
        await eventually(is_told)
        (task,) = (await illustrated.queue.list(task_type=UPDATE)).items
        go_on.set()
        await illustrated.queue.wait(task.id, timeout=PATIENCE)
    ended = (await illustrated.get("/calendar")).text
    assert "Updating index" not in ended
    assert 'id="update-index"' in ended


async def test_what_the_calendar_shows_can_be_followed(illustrated: Site, services: MetadataStand) -> None:
    await asyncio.to_thread(services.import_index, illustrated.queue.database)
    await fill_in(illustrated, REFRESH)
    page = await illustrated.post("/calendar/follow", metadata_id="9", next="/calendar")
    assert page.text.count(">Followed<") == 1
    assert "The Gatekeepers Season 2" in await illustrated.read("/series")
    # One of a season long past has no record before somebody wants it.
    season = {"year": "2021", "month": "10"}
    begun = (await illustrated.get("/calendar", **season)).text
    assert begun.count('name="bgm_id"') == 3
    page = await illustrated.post("/calendar/follow", bgm_id="99000205")
    assert "Song of the Clay Wall" in page.text
    assert page.url.path == "/series/2"
    begun = (await illustrated.get("/calendar", **season)).text
    assert begun.count('name="bgm_id"') == 2
    assert 'href="/series/2"' in begun
    assert (await illustrated.post("/calendar/follow", metadata_id="4711")).status_code == 404
    assert (await illustrated.post("/calendar/follow")).status_code == 404


async def test_who_does_not_answer_is_told_with_what_to_do(
    opened: Opened, services: MetadataStand, tmp_path: Path
) -> None:
    wrong = {**services.settings, "bgm_url": f"{services.settings['bgm_url']}/nowhere"}
    async with opened(f"sqlite:///{tmp_path / 'kurabito.db'}", tmp_path / "state", **wrong) as site:
        registry = Registry()
        site.metadata.join(registry)
        task = await site.queue.enqueue(REFRESH, unique_key=REFRESH, max_attempts=1)
        async with Worker(site.queue, registry, name="filler", grace=0.0):
            assert (await site.queue.wait(task.id, timeout=PATIENCE)).state is TaskState.DEAD
        seen = await site.read("/calendar")
        assert "bgm.tv could not be reached. Check your connection" in seen
        assert "404" in seen


async def test_a_summary_keeps_its_lines_and_shows_none_of_their_ends(illustrated: Site) -> None:
    # bgm.tv ends lines as a form of a page does.
    told = Details(title_japanese="蔵の夜", summary="夜の蔵。\r\n<朝>の蔵。\u202e")
    record = await illustrated.metadata.service.create(told)
    page = (await illustrated.get(f"/metadata/{record.id}")).text
    assert '夜の蔵。\n&lt;朝&gt;の蔵。<span class="odd">\\u202e</span>' in page


async def test_a_record_says_where_its_ids_lead_and_what_it_lacks(illustrated: Site, services: MetadataStand) -> None:
    await asyncio.to_thread(services.import_index, illustrated.queue.database)
    await fill_in(illustrated, REFRESH)
    # bgm.tv knows no English titles, the index does.
    assert "The Gatekeepers Season 2" in await illustrated.read("/calendar")
    page = await illustrated.get("/metadata/9")
    assert "The poster is not downloaded yet." in page.text
    assert "Not looked up yet. The next sync does it." in page.text
    await fill_in(illustrated, SYNC)

    page = await illustrated.get("/metadata/9")
    assert "Nothing missing" in page.text
    assert 'href="https://www.themoviedb.org/tv/99001109/season/2" rel="noreferrer"' in page.text
    assert 'href="https://bgm.tv/subject/99000109"' in page.text
    assert 'href="https://anidb.net/anime/99002109"' in page.text

    page = await illustrated.get("/metadata/12")
    assert "TMDB has several candidates." in page.text
    assert page.text.count(">Choose<") == 2
    assert (await illustrated.post("/metadata/12/choose", tmdb_id="4711")).status_code == 422
    page = await illustrated.post("/metadata/12/choose", tmdb_id="99001612")
    assert "https://www.themoviedb.org/tv/99001612" in page.text
    assert "Nothing missing" in page.text
    assert (await illustrated.post("/metadata/sync", next="/metadata/12")).url.path == "/metadata/12"
    assert "Record not found" in (await illustrated.get("/metadata/4711")).text


async def test_a_folder_is_asked_about_until_somebody_says_what_it_is(illustrated: Site, tmp_path: Path) -> None:
    (tmp_path / "Shows").mkdir()
    kept = await illustrated.library.libraries.create(str(tmp_path / "Shows"), LibrarySettings(name="Shows"))
    old = Details(title_japanese="灯籠", title_english="The Lantern", year=2009, bgm_id=203)
    new = Details(title_japanese="灯籠", title_english="The Lantern", year=2021, bgm_id=204)
    record = await illustrated.metadata.service.create(new)

    def leave(conn: Connection) -> None:
        offers = (
            MatchCandidate("bgm:203", old, (MatchReason.NAME, MatchReason.SHARED_NAME)),
            MatchCandidate("bgm:204", new, (MatchReason.NAME, MatchReason.YEAR), record.id),
        )
        reading = FolderReading((Name.of("The Lantern"),), None, None, None)
        folders = [
            (NewFolder("The Lantern <3", reading, 1), MatchDecision(candidates=offers)),
            (NewFolder("ab/???", reading, 2), MatchDecision()),
        ]
        matches.add(conn, kept.library.id, "job", folders, MatchedBy.OFFLINE)

    assert "No unmatched folders." in (await illustrated.get("/matches")).text
    await illustrated.queue.database.write(leave)
    # The wall is empty, and says why and what to do instead of how to begin.
    wall = await illustrated.read("/series")
    assert "Folders of your libraries have no match yet." in wall
    assert "Match folders" in wall
    assert "No shows yet" not in wall
    page, seen = await illustrated.get("/matches"), await illustrated.read("/matches")
    assert "Matches 2" in await illustrated.read("/system")
    assert "The Lantern <3 Shows" in seen
    assert "2009 灯籠 Same name Others match as well" in seen
    assert page.text.count('class="against"') == 1
    # Nothing was found yet because nothing was looked into yet.
    assert "No show of this name was found." not in seen
    assert "Not searched online yet" in seen
    assert "There is no ID index yet" in seen

    assert (await illustrated.post("/matches/1/choose", choice="bgm:1")).status_code == 422
    page = await illustrated.post("/matches/1/choose", choice="bgm:203")
    assert "The Lantern" not in page.text
    page = await illustrated.post("/matches/2/ignore")
    assert "No unmatched folders." in page.text
    assert 'id="matches-count" data-live hidden' in page.text
    assert "???" in (await illustrated.get("/matches", state="ignored")).text
    chosen = await illustrated.get("/matches", state="chosen")
    assert f'href="/metadata/{record.id + 1}"' in chosen.text

    # The folder and its record lead to the search, which says what it lacks and finds what is known by another name.
    assert 'id="identify" href="/matches/search?record=' in (await illustrated.get(f"/metadata/{record.id + 1}")).text
    search = await illustrated.get("/matches/search", record=str(record.id + 1))
    assert 'action="/calendar/index"' in search.text
    assert f'name="record" value="{record.id + 1}"' in search.text
    await illustrated.post("/matches/search/choose", record=str(record.id + 1), key=f"record:{record.id}")
    assert f'href="/metadata/{record.id}"' in (await illustrated.get("/matches", state="chosen")).text
    again = await illustrated.post("/matches/search/choose", record=str(record.id + 1), key=f"record:{record.id}")
    assert again.status_code == 422
    page = await illustrated.post("/matches/1/reopen", next="/matches?state=chosen")
    assert "You have not chosen a match for any folder" in page.text
    assert "The Lantern" in (await illustrated.get("/matches")).text
    assert "Searching" in (await illustrated.post("/matches/look")).text
    assert (await illustrated.post("/matches/4711/ignore")).status_code == 404
    assert (await illustrated.get("/matches", cursor="x")).status_code == 404


async def test_a_series_shows_the_poster_and_the_ids_of_its_record(illustrated: Site, feeds: str) -> None:
    settings = SubscriptionSettings(name="Feed", url=feeds + DAWN, new_series=NewSeries.ADD, allows_private=True)
    made = await illustrated.feeds.subscriptions.create(settings, StartWith.MISSING)
    await illustrated.feeds.tasks.fetch(FetchTask(made.id))
    assert "No metadata yet" in (await illustrated.get("/series/1")).text
    path = "/posters/0123456789abcdef.png"
    record = await illustrated.metadata.service.create(Details(title_japanese="夜明けの蔵", poster_url=path, mal_id=7))

    def fill(conn: Connection) -> None:
        conn.run("UPDATE series SET metadata_id = :record", {"record": record.id})

    await illustrated.queue.database.write(fill)
    assert f'<img src="{path}" alt="Poster of The Storehouse at Dawn"' in (await illustrated.get("/series")).text
    page = await illustrated.get("/series/1")
    assert f'<img src="{path}"' in page.text
    assert 'href="https://myanimelist.net/anime/7"' in page.text
    assert f'href="/metadata/{record.id}"' in page.text
