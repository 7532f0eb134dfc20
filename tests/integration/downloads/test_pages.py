"""*Rules* and *Downloads* over real downloaders: what a page promises is what happens, on each database."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.support.sites import open_pages

from kurabito.app.compose.fixes import PollOnSight
from kurabito.app.product import open_product
from kurabito.clock import ManualClock
from kurabito.downloads.tasks import POLL
from kurabito.feeds.preferences import Policy
from kurabito.modules.download_types import DownloadType
from kurabito.runtime import TaskState
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

KEY = "a key for the tests"
MAGNET = "magnet:?xt=urn:btih:{:040x}"
FIRST, SECOND, SMALL = (
    ("[Kura] Dawn - 01 [1080p]", MAGNET.format(1)),
    ("[Kura] Dawn - 02 [1080p]", MAGNET.format(2)),
    ("[Lantern] Dawn - 02 [720p]", MAGNET.format(3)),
)


class Site:
    """The pages, asked as a browser without JavaScript asks."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def get(self, path: str, /, **query: str) -> str:
        """What a reader sees, on one line."""
        page = await self._client.get(path, params=query or None)
        assert page.status_code == 200, page.text
        return text_of(page)

    async def post(self, path: str, status: int = 200, /, **fields: str) -> str:
        """Send a form, and go where it leads."""
        page = await self._client.post(path, data=fields, follow_redirects=True)
        assert page.status_code == status, page.text
        return text_of(page)


def text_of(page: httpx2.Response) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


@pytest.fixture
async def site(core: Core, tmp_path: Path) -> AsyncIterator[Site]:
    settings = Settings(api_key=KEY, state=tmp_path / "state", elsewhere_minutes=90)
    product = open_product(settings, core.queue, feeds=core.feeds, downloads=core.downloads)
    async with open_pages(settings, product) as client:
        yield Site(client)


async def test_a_rule_does_what_its_preview_says(core: Core, site: Site, a: StandIn) -> None:
    assert "No rules" in await site.get("/rules")
    await core.register(a)
    page = await site.post("/rules", name="no small ones", action="exclude", resolutions="480, 720p", is_enabled="yes")
    assert "no small ones Exclude · Everything Resolutions 480, 720" in page
    await core.bring(FIRST, SECOND, SMALL)
    await core.work()
    assert await core.statuses() == ["downloading", "downloading"]

    # Tried while it is written: nothing happens yet.
    draft = {"name": "only Lantern", "action": "include", "groups": "lantern", "is_enabled": "yes"}
    page = await site.post("/rules/try", **draft, scope="series:1")
    assert "2 downloads cancelled 2 releases excluded 0 releases downloaded" in page
    assert "[Kura] Dawn - 02 [1080p] Would be cancelled Show download Not included by only Lantern" in page
    assert await core.statuses() == ["downloading", "downloading"]
    page = await site.post("/rules", **draft, scope="series:1")
    assert "only Lantern Include · Series Dawn Groups lantern" in page
    await core.work()
    assert await core.statuses() == ["cancelled", "cancelled"]
    assert a.has == {}

    # Without the first rule the small one is let through; seen before it is done.
    page = await site.get("/rules/1/remove")
    assert "0 downloads cancelled 0 releases excluded 1 release downloaded" in page
    assert "[Lantern] Dawn - 02 [720p] Would be downloaded" in page
    assert await core.statuses() == ["cancelled", "cancelled"]
    await site.post("/rules/1/remove")
    await core.work()
    assert await core.statuses() == ["cancelled", "cancelled", "downloading"]
    series = await site.get("/series/1")
    assert "1 Wanted 2 Downloading" in series
    assert "[Lantern] Dawn - 02 [720p] Lantern 720p 0 s ago Downloading 0 %" in re.sub(
        # The clock of the releases stands still in another year.
        r"\d+ (s|min|h|days) ago|14 Nov 2023",
        "0 s ago",
        series,
    )

    # Off and on again, and changed in its place.
    assert "2 releases downloaded" not in await site.get("/rules/2")
    page = await site.get("/rules/2/off")
    assert "0 releases excluded 1 release downloaded" in page
    assert "[Kura] Dawn - 02 [1080p] Would be allowed Not downloaded now" in page
    assert "Disabled · Include" in await site.post("/rules/2/off")
    await core.work()
    assert await core.statuses() == ["cancelled", "cancelled", "downloading", "downloading"]
    page = await site.post("/rules/2", name="all of Kura", action="exclude", groups="Kura", is_enabled="yes")
    assert "all of Kura Exclude · Everything Groups Kura" in page
    await core.work()
    assert await core.statuses() == ["cancelled", "cancelled", "downloading", "cancelled"]
    assert (await core.all("SELECT count(*) FROM filter_rules"))[0] == (1,)


async def test_a_rule_that_cannot_be_used_says_where_it_is_wrong(site: Site) -> None:
    page = await site.post("/rules/try", pattern="1080p(")
    assert "This pattern cannot be used: The pattern has an error: missing ) at character 6: (" in page
    for fields, said in (
        ({"name": "x", "pattern": "[z-a]"}, "invalid character class range at character 2: z-a]"),
        ({"name": "x"}, "Enter a pattern or fill in another field."),
        ({"name": " ", "words": "batch"}, "This name cannot be used:"),
        ({"name": "x", "resolutions": "tall"}, "These resolutions cannot be used:"),
        ({"name": "x", "min_size": "-1"}, "Enter a number from 0 to "),
        ({"name": "x", "min_size": "nan"}, "Enter a number from 0 to "),
        ({"name": "x", "words": "y", "scope": "planet:1"}, "This choice cannot be used:"),
        ({"name": "x", "words": "y", "scope": "series:"}, "Choose what the rule applies to."),
        ({"name": "x", "words": "y", "rule_order": "first"}, "This number cannot be used:"),
    ):
        assert said in await site.post("/rules", 422, **fields), fields
    assert "No rules" in await site.get("/rules")
    assert "Rule not found" in await site.post("/rules/7/remove", 404)


async def test_downloads_tell_who_was_asked_and_do_as_they_are_told(
    core: Core, site: Site, a: StandIn, b: StandIn
) -> None:
    assert "No downloader is connected" in await site.get("/downloads")
    a.rejects = lambda _url: "unsupported <b>"
    await core.register(a, priority=90)
    await core.register(b, priority=10)
    await core.bring(FIRST)
    await core.work()
    b.say(f"{1:040x}", "downloading", progress=0.25, size=4 << 20, rate=1 << 20, peers=3)
    await core.poll()
    page = await site.get("/downloads")
    assert "[Kura] Dawn - 01 [1080p] Downloading 25 % 3 peers 4.0 MiB 1.0 MiB/s 3 s B " in page
    assert "1 download 1.0 MiB of 4.0 MiB 4.0 MiB 1.0 MiB/s" in page
    page = await site.get("/downloads/1")
    assert "A · refused: unsupported <b>" in page
    assert "B · accepted" in page

    assert "Paused" in await site.post("/downloads/1/pause", next="/downloads")
    assert "Paused" not in await site.post("/downloads/1/resume")
    assert "Download not found" in await site.post("/downloads/7/cancel", 404)
    await site.post("/downloads/1/cancel")
    await core.work()
    assert b.has == {}
    assert "No active downloads" in await site.get("/downloads")
    assert "Cancelled" in await site.get("/downloads", show="cancelled")
    # Tried again it is another download, which its page shows.
    page = await site.post("/downloads/1/retry")
    assert "Sending to a downloader" in page
    await core.work()
    assert "The download cannot do that now" in await site.post("/downloads/1/retry", 409)
    b.say(f"{1:040x}", "completed", progress=1.0, size=4 << 20, rate=1 << 20, peers=3)
    await core.poll()
    assert "1 Downloaded" in await site.get("/series/1")
    page = await site.get("/downloads", show="completed", downloader="2")
    assert "Completed" in page
    # It is not asked again how fast it is, so it is not shown for ever how fast it was.
    assert "MiB/s" not in page
    assert "No downloads match" in await site.get("/downloads", show="completed", downloader="1")
    await site.post("/downloads/2/remove", delete_files="yes")
    await core.work()
    assert [one.query for one in b.asked if one.method == "DELETE"] == ["delete_files=true"]
    assert "No downloads match" in await site.get("/downloads", show="completed")


async def test_a_complete_download_shows_where_it_is_and_its_files(core: Core, site: Site, a: StandIn) -> None:
    await core.register(a)
    await core.bring(FIRST)
    await core.work()
    assert "Files" not in await site.get("/downloads/1")
    files = [{"path": f"Dawn/{number:03}.mkv", "size": 1 << 20, "complete": True} for number in range(102)]
    files[1] |= {"wanted": False, "complete": False}
    a.say(f"{1:040x}", "completed", progress=1.0, content_path="/home/me/incoming", files=files)
    await core.poll()
    # A path may break at each slash.
    page = (await site.get("/downloads/1")).replace(" ", "")
    assert "downloader/home/me/incoming" in page
    assert "FilesDawn/000.mkv1.0MiBDawn/001.mkv1.0MiBNotselectedDawn/002.mkv1.0MiB" in page
    assert "Dawn/099.mkv1.0MiB2morefiles" in page


async def test_what_is_the_users_is_shown_as_yours_and_offers_nothing_that_would_touch_it(
    core: Core, site: Site, a: StandIn
) -> None:
    a.tells = True
    a.has_by_hand(f"{1:040x}", progress=0.5)
    await core.register(a)
    await core.bring(FIRST, SECOND)
    await core.work()
    yours = "Not added by Kurabito: it belongs to A, and Kurabito only watches it."
    overview = await site.get("/downloads")
    assert overview.count(yours) == 1
    assert overview.count("Pause") == 1
    page = await site.get("/downloads/1")
    assert yours in page
    assert "Stop watching this download? Nothing changes in its downloader." in page
    assert "Download it with another downloader, too? Your own download stays as it is." in page
    assert "Delete this download here? Nothing changes in its downloader." in page
    assert "Also delete its files" not in page
    assert yours not in await site.get("/downloads/2")
    # Whoever asks for it all the same is told why not.
    for wish, fields in (("pause", {}), ("resume", {}), ("remove", {"delete_files": "yes"})):
        assert "download 1 is yours" in await site.post(f"/downloads/1/{wish}", 409, **fields)
    # Complete, it can be downloaded again like any other.
    a.say(f"{1:040x}", "completed", progress=1.0)
    await core.poll()
    for path in ("/downloads?show=everything", "/downloads/1"):
        assert "Download this episode again?" in await site.get(path)
    await site.post("/downloads/1/remove")
    await core.work()
    assert f"{1:040x}" in a.has


async def test_a_downloader_that_is_away_is_in_plain_sight(core: Core, site: Site, a: StandIn, b: StandIn) -> None:
    await core.register(a, priority=90)
    await core.bring(FIRST)
    await core.work()
    await a.stop()
    await core.poll()
    what_next = (
        "1 download is waiting for it. Kurabito checks it every 1 min. Its downloads continue when it responds. "
        "After 90 min, a download is sent to another downloader automatically."
    )
    for path in ("/downloads", "/downloads/1"):
        page = await site.get(path)
        assert what_next in page
        assert "Downloader not responding" in page
    assert "A Not responding Last response" in await site.get("/downloads")
    assert "The service is not responding" in await site.post("/downloads/1/pause", 502)
    await core.register(b, DownloadType.MAGNET, priority=10)
    page = await site.post("/downloads/1/send-elsewhere")
    await core.work()
    assert "B · accepted" in await site.get("/downloads/1")
    assert b.added == [f"{1:040x}"]

    # It has nothing that could be lost, and is missed all the same.
    await core.run("UPDATE service_modules SET last_seen_at = last_seen_at - 600000000 WHERE module_id = 1")
    page = await site.get("/downloads/downloaders")
    assert page.index("A Not responding") < page.index("B Online")
    assert "Supports magnet Address" in page
    assert "This priority cannot be used:" in await site.post("/downloads/downloaders/2", 422, priority="5000")
    refused = await site.post("/downloads/downloaders/2", 422, priority="7", path_maps="/srv/downloads")
    assert "These path mappings cannot be used: Write each mapping as /srv/downloads => /downloads" in refused
    refused = await site.post("/downloads/downloaders/2", 422, priority="7", path_maps="here => there")
    assert "Use full paths without .. , not here ." in refused
    page = await site.post("/downloads/downloaders/2", priority="100", path_maps="/downloads => /mnt/nas")
    assert "/downloads => /mnt/nas" in page
    assert (await core.feeds.services.get(2)).path_maps == (("/downloads", "/mnt/nas"),)
    # This one cannot test paths, and that is what is said.
    tested = await site.post("/downloads/downloaders/2/test")
    assert "Could not confirm that both see the same folder Whether B sees /downloads could not be tested" in tested
    assert page.index("B Disabled") < page.index("A Not responding")
    await site.post("/downloads/downloaders/2", priority="100")
    assert (await core.feeds.services.get(2)).path_maps == (("/downloads", "/mnt/nas"),)
    assert "B" not in [one.registration.service_name for one in await core.feeds.services.able_to(DownloadType.MAGNET)]
    assert "Downloader not found" in await site.post("/downloads/downloaders/9/remove", 404)
    await site.post("/downloads/downloaders/1/remove")
    assert "A Not responding" not in await site.get("/downloads/downloaders")


async def test_a_stalled_download_is_marked(core: Core, site: Site, a: StandIn) -> None:
    await core.register(a)
    await core.bring(FIRST)
    await core.work()
    a.say(f"{1:040x}", "downloading", progress=0.5, peers=0)
    await core.poll()
    assert "Stalled" not in await site.get("/downloads")
    await core.run("UPDATE downloads SET progressed_at = progressed_at - 7200000000")
    assert "Stalled" in await site.get("/downloads")
    assert "No progress since" in await site.get("/downloads/1")


async def test_pages_of_downloads_go_on_where_the_last_one_ended(core: Core, site: Site, a: StandIn) -> None:
    """Several states are one list, however they are mixed."""
    titles = [(f"[Kura] Dawn - {number:02} [1080p]", MAGNET.format(number)) for number in range(1, 71)]
    a.rejects = lambda url: None if int(url[-3:], 16) % 2 else "odd"
    await core.register(a)
    await core.bring(*titles)
    await core.work()
    await core.run("UPDATE downloads SET status = 'no_downloader' WHERE status = 'failed'")
    first = await site.get("/downloads")
    second = await site.get("/downloads", cursor=str(21))
    numbers = [sorted(int(found) for found in re.findall(r"Dawn - (\d\d) ", page)) for page in (first, second)]
    assert numbers == [list(range(21, 71)), list(range(1, 21))]


async def test_somebody_chooses_one_of_several_releases(core: Core, site: Site, a: StandIn) -> None:
    await core.register(a)
    await core.subscribe(conflict_policy=Policy.ASK)
    await core.bring(SECOND, SMALL)
    await core.work()
    assert await core.statuses() == []
    for path in ("/downloads", "/downloads/conflicts"):
        page = await site.get(path)
        assert "Dawn Episode 2 Choose one; the others are skipped." in page
        assert "[Lantern] Dawn - 02 [720p] Choose" in page
    # The page of the show says why nothing comes, and what was never had is not downloaded again.
    page = await site.get("/series/1")
    assert re.search(r"Wanted [^.]*Choose a release", page)
    assert "Download this episode now?" in page
    assert "Download again" not in page
    page = await site.post("/downloads/conflicts/1", link_id="2")
    assert "Nothing to choose." in page
    await core.work()
    assert a.added == [f"{3:040x}"]
    assert "A release was already chosen" in await site.post("/downloads/conflicts/1", 409, link_id="1")
    assert "No release to choose any more" in await site.post("/downloads/conflicts/5", 404, link_id="1")


async def test_an_episode_is_wanted_again_from_its_download_and_from_its_series(
    core: Core, site: Site, a: StandIn
) -> None:
    await core.register(a)
    await core.bring(SECOND, SMALL)
    await core.work()
    a.say(f"{2:040x}", "completed", progress=1.0)
    await core.poll()
    core.clock.advance(1)
    page = await site.get("/downloads/1")
    assert "Download again… Download this episode again?" in page
    assert "Download another release… Download another release of this episode?" in page
    assert SMALL[0] in await site.post("/downloads/1/want-other")
    assert "Download again" not in await site.get("/series/1")
    await site.post("/downloads/2/cancel")
    assert "Download this episode again?" in await site.get("/series/1")
    core.clock.advance(1)
    await site.post("/episodes/1/want-again", next="/series/1")
    await core.work()
    assert await core.all("SELECT link_id, status FROM downloads ORDER BY id") == [
        (1, "completed"),
        (2, "cancelled"),
        (1, "downloading"),
    ]


async def test_a_page_of_downloads_says_that_it_is_not_all_of_them(
    core: Core, site: Site, a: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.register(a)
    await core.bring(FIRST, SECOND, SMALL)
    await core.work()
    assert " 2 downloads " in await site.get("/downloads")
    for name in ("_DOWNLOADS", "_SORTED"):
        monkeypatch.setattr(f"kurabito.web.downloads.downloads.{name}", 1)
    assert "1 download on this page" in await site.get("/downloads")
    seen = await site.get("/downloads", sort="name")
    assert "1 download on this page" in seen
    assert "Only the newest 1 are sorted." in seen


async def test_an_open_page_has_downloaders_asked_every_five_seconds(core: Core, tmp_path: Path, a: StandIn) -> None:
    await core.register(a)
    await core.bring(FIRST)
    await core.work()
    settings = Settings(api_key=KEY, state=tmp_path / "state")
    clock = ManualClock()
    sight = PollOnSight(open_product(settings, core.queue, feeds=core.feeds, downloads=core.downloads), clock)
    asked = []
    for seconds in (0, 1, 3, 1, 4.9, 0.1):
        clock.advance(seconds)
        await sight.look()
        waiting = (await core.queue.list(task_type=POLL, state=TaskState.QUEUED)).items
        asked.append(len(waiting))
        for task in waiting:
            await core.queue.cancel(task.id)
    assert asked == [1, 0, 0, 1, 0, 1]
