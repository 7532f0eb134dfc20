"""*Following* and *Series*: feeds are looked into, followed and mended; what they bring is shown, with the reason."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import httpx2
import pytest

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.identity.relink import Relinker, RelinkTask
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.catalog.states import SeriesWish
from kurabito.db import Connection
from kurabito.demo.feeds import DAWN, NEIGHBOUR, SEASON
from kurabito.downloads.choice import DEFAULT, ReleasePreferences
from kurabito.downloads.profiles.service import ReleaseProfiles
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.feeds.tasks import FetchResult, FetchTask
from kurabito.runtime.errors import PermanentError

if TYPE_CHECKING:
    from tests.integration.web.conftest import Site


async def follow(site: Site, url: str, new_series: NewSeries = NewSeries.ADD) -> int:
    """Follow everything that is in a feed, and read it."""
    settings = SubscriptionSettings(name="Feed", url=url, new_series=new_series, allows_private=True)
    made = await site.feeds.subscriptions.create(settings, StartWith.MISSING)
    await fetch(site, made.id)
    return made.id


async def fetch(site: Site, subscription_id: int = 1) -> FetchResult:
    return await site.feeds.tasks.fetch(FetchTask(subscription_id))


def host_of(url: str) -> str:
    return url.removeprefix("http://")


def text_of(page: httpx2.Response) -> str:
    """What a reader sees of a page, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


async def test_a_feed_is_looked_into_chosen_from_and_followed(site: Site, feeds: str) -> None:
    assert "No feeds yet" in (await site.get("/following")).text
    page = await site.post("/following/new", url="nonsense")
    assert page.status_code == 422
    assert "begins with https://" in page.text
    # This machine is nobody's site on the web: it is for the reader to say that it is meant.
    page = await site.post("/following/new", url=feeds + DAWN)
    assert page.status_code == 422
    assert "Allow this host" in page.text
    assert f'value="{feeds + DAWN}"' in page.text
    page = await site.post("/following/new", url=feeds + DAWN, allows_private=host_of(feeds))
    assert page.status_code == 200
    # Another host is not meant by that.
    other = await site.post(
        "/following/new", url=feeds.replace("127.0.0.1", "127.0.0.2"), allows_private=host_of(feeds)
    )
    assert "127.0.0.2 is a loopback address" in other.text
    assert "12 items: 0 of known series, 12 of new series, 0 unmatched." in page.text
    assert "The title names no episode" in page.text
    assert (await site.feeds.subscriptions.page()).items == ()

    keys = re.findall(r'name="chosen" value="([^"]+)"', page.text)
    answers = {"url": feeds + DAWN, "allows_private": host_of(feeds), "name": "Dawn", "new_series": "add"}
    page = await site.post("/following", **answers, start_with="chosen")
    assert page.status_code == 422
    assert "Choose at least one." in page.text
    page = await site.post("/following", **answers, start_with="chosen", chosen=keys[:2], fetch_interval="60")
    assert "This interval cannot be used:" in page.text
    # What was chosen is still chosen.
    assert page.text.count("checked><span>Select") == 2
    page = await site.post("/following", **answers, start_with="chosen", chosen=keys[:2], fetch_interval="3600")
    assert page.url.path == "/following/1"
    assert "Not read yet" in page.text
    assert await fetch(site) == FetchResult(items=12, new=12)

    page = await site.get("/following/1")
    assert text_of(page).count("Skipped It was in the feed before you followed it.") == 10
    assert "The Storehouse at Dawn · Episode 8" in text_of(page)
    assert "Every 60 min" in page.text
    taken = await site.get("/following/1", status="parsed")
    assert taken.text.count('class="entry item"') == 2
    assert (await site.get("/following/1", status="odd")).status_code == 422
    page = await site.post("/following", **answers)
    assert page.status_code == 409
    assert "You already follow this feed. Change its settings instead." in page.text
    # The next look knows the series.
    page = await site.post("/following/new", url=feeds + DAWN, allows_private=host_of(feeds))
    assert "12 items: 12 of known series" in page.text


def chosen_in(page: str) -> set[str]:
    return set(re.findall(r'type="radio" name="\w+" value="(\w+)" checked', page))


async def test_the_feed_of_one_show_is_offered_as_a_show_and_not_as_many(site: Site, feeds: str) -> None:
    page = await site.post("/following/new", url=feeds + DAWN, allows_private=host_of(feeds))
    assert chosen_in(page.text) == {"missing", "add"}
    page = await site.post("/following/new", url=feeds + SEASON, allows_private=host_of(feeds))
    assert chosen_in(page.text) == {"now", "ask"}
    # What was chosen stays chosen.
    answers = {"url": feeds + DAWN, "allows_private": host_of(feeds), "name": "", "start_with": "now"}
    page = await site.post("/following", **answers, new_series="ask")
    assert (page.status_code, chosen_in(page.text)) == (422, {"now", "ask"})


async def test_what_is_wrong_with_a_feed_is_said_and_can_be_mended(site: Site, feeds: str) -> None:
    settings = SubscriptionSettings(name="<b>Neighbour</b>", url=feeds + NEIGHBOUR, new_series=NewSeries.ADD)
    await site.feeds.subscriptions.create(settings, StartWith.MISSING)
    for _ in range(2):
        with pytest.raises(PermanentError):
            await fetch(site)
    for path in ("/following", "/following/1"):
        page = await site.get(path)
        assert "&lt;b&gt;Neighbour&lt;/b&gt;" in page.text
        assert "Failed 2 times in a row The address is inside your own network" in text_of(page)
        assert "Allow this host" in page.text
    page = await site.post("/following/1/allow", next="/following")
    assert page.url.path == "/following"
    assert await fetch(site) == FetchResult(items=2, new=2)
    page = await site.get("/following/1")
    assert "Allow this host" not in page.text
    assert "Tales from the Loft" in page.text

    assert "Paused" in (await site.post("/following/1/pause")).text
    assert "Resume" in (await site.post("/following/1/fetch")).text
    assert "Paused" not in (await site.post("/following/1/resume")).text
    changed = {"name": "Loft", "url": feeds + "/gone.rss", "fetch_interval": "21600", "allows_private": host_of(feeds)}
    page = await site.post("/following/1", **changed, series_id="77")
    assert "The series no longer exists." in page.text
    page = await site.post("/following/1", **changed, series_id="1")
    assert "Every 6 h" in page.text
    with pytest.raises(PermanentError):
        await fetch(site)
    assert "The site answered with an error." in (await site.get("/following/1")).text
    page = await site.post("/following/1/remove")
    assert page.url.path == "/following"
    assert "Feed not found" in (await site.get("/following/1")).text
    # What it brought stays.
    assert "Tales from the Loft" in (await site.get("/series/1")).text


async def test_a_feed_that_cannot_be_read_is_told_once_in_the_readers_language(site: Site, feeds: str) -> None:
    site.client.headers["Accept-Language"] = "ja"
    page = (await site.post("/following/new", url=feeds + DAWN)).text
    assert page.count("data-problem") == 1
    assert 'aria-describedby="url-problem"' in page
    assert "このアドレスは使えません" not in page
    # What the other side said stands below it.
    page = (await site.post("/following/new", url=feeds + "/gone.rss", allows_private=host_of(feeds))).text
    assert page.count("data-problem") == 1
    assert re.search(r'<p class="hint" lang="en"><bdi>[^<]*404', page)


async def test_a_rule_is_tried_while_it_is_written_and_then_helps(site: Site, feeds: str) -> None:
    await follow(site, feeds + SEASON)
    page = await site.get("/following")
    assert "Add a title rule" in page.text
    assert "第05話" in page.text
    page = await site.get("/following/rules", title="第05話 [1080p][字幕]")
    assert text_of(page).count("Matches, but names no series") == 2
    condition = unescape(re.findall(r'name="condition"[^>]* value="([^"]*)"', page.text)[0])
    parse = unescape(re.findall(r'name="parse"[^>]* value="([^"]*)"', page.text)[0])

    # Half a pattern is no error yet.
    page = await site.post("/following/rules/try", about="第05話", condition="(", parse=parse)
    assert page.status_code == 200
    assert "This pattern cannot be used:" in page.text
    draft = {"condition": condition, "parse": parse, "fields.title": "Kura no Bannin"}
    page = await site.post("/following/rules/try", about="第05話 [1080p][字幕]", **draft)
    assert "Would be read as Kura no Bannin · Episode 5" in text_of(page)
    assert "Would be read as Kura no Bannin · Episode 6" in text_of(page)
    assert "第05話" in (await site.get("/following")).text

    page = await site.post("/following/rules", **draft)
    assert page.status_code == 422
    assert "This name cannot be used:" in page.text
    page = await site.post("/following/rules", name="Bannin", **draft)
    assert page.url.path == "/following/rules"
    assert 'id="rule-1"' in page.text
    assert "第05話" not in (await site.get("/following")).text
    assert "Kura no Bannin · Episode 5" in text_of(await site.get("/following/1"))
    page = await site.post("/following/rules", name="Bannin", **draft)
    assert page.status_code == 409
    assert (await site.get("/following/rules/try")).status_code == 303
    page = await site.post("/following/rules/1/remove")
    assert 'id="rule-1"' not in page.text
    assert "Rule not found" in (await site.post("/following/rules/1/remove")).text


async def test_a_series_is_asked_about_followed_named_and_counted(site: Site, feeds: str) -> None:
    await follow(site, feeds + SEASON, NewSeries.ASK)
    page = await site.get("/series")
    assert "No shows yet" in page.text
    assert "12 episodes found" in page.text
    cards = re.findall(r'id="question-(\d+)".*?card-title"><bdi>([^<]+)', page.text, re.DOTALL)
    listed = {name: int(number) for number, name in cards}
    batch, gate = listed["Yoru no Kurabito"], listed["The Gatekeepers"]
    told = "Yoru no Kurabito · Episodes 1\N{EN DASH}12"
    assert f"On hold {told} Its series is waiting for your decision." in text_of(await site.get("/following/1"))
    page = await site.post(f"/series/{batch}/state", state="followed", next="/series")
    assert page.url.path == "/series"
    assert "0 / 12 · Downloading" in text_of(page)
    page = await site.get(f"/series/{batch}")
    assert page.text.count('<li data-episode="downloading"') == 12
    # What is followed is unfollowed; only what is new can be ignored.
    assert re.findall(r'name="state" value="ignored">([^<]+)', page.text) == ["Unfollow"]
    assert ">Ignore<" in (await site.get(f"/series/{gate}")).text
    assert "燈籠字幕组 1080p Blu-ray zh-Hans, ja Batch 9.6 GiB" in text_of(page)
    assert "Its series is waiting" not in page.text
    assert f"Accepted {told}" in text_of(await site.get("/following/1"))
    page = await site.post(f"/series/{gate}/state", state="ignored")
    assert "You do not follow its series." in page.text
    assert "The Gatekeepers" in (await site.get("/series", state="ignored")).text
    assert (await site.post(f"/series/{gate}/state", state="loved")).status_code == 422

    names = {"title": "夜の蔵人", "season": "1", "episode_offset": "24"}
    page = await site.post(f"/series/{batch}", **names, aliases="Yoru no Kurabito\nThe Gatekeepers | 2")
    assert page.status_code == 409
    assert "is a name of the series" in page.text
    assert "The Gatekeepers | 2</textarea>" in page.text
    page = await site.post(f"/series/{batch}", **names, aliases="Yoru no Kurabito\nYoru | 3\n")
    assert "<bdi>夜の蔵人</bdi>" in page.text
    assert "Yoru no Kurabito\nYoru | 3</textarea>" in page.text
    assert 'value="24"' in page.text
    page = await site.post(f"/series/{batch}", **{**names, "episode_offset": "-1"}, aliases="")
    assert "This number cannot be used:" in page.text
    assert "Show not found" in (await site.get("/series/4711")).text


async def test_the_wall_has_what_is_followed_or_in_a_library_and_several_are_followed_at_once(
    site: Site, feeds: str
) -> None:
    await follow(site, feeds + SEASON)
    catalog = Catalog(site.queue.database)
    one, other, third, *_ = (series.id for series in (await catalog.series()).items)

    def adopt(conn: Connection) -> None:
        conn.run("UPDATE series SET state = 'ignored'")
        conn.run(
            "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'S', '/srv', :now, :now)"
        )
        conn.run(
            "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
            "VALUES (1, 1, 'S/01.mkv', 1, 1, :now, :now)"
        )
        conn.run(
            "INSERT INTO episode_files (episode_id, file_id, created_at) "
            "SELECT id, 1, :now FROM episodes WHERE series_id IN (:one, :other)",
            {"one": one, "other": other},
        )

    await site.queue.database.write(adopt)

    async def on_wall(**asked: str) -> dict[int, str]:
        """The shows of a page, and what its cards say of following them."""
        cards = re.findall(
            r'id="series-(\d+)".*?card-state.*?data-tone="\w+">([^<]+)',
            (await site.get("/series", **asked)).text,
            re.DOTALL,
        )
        return {int(number): said for number, said in cards}

    assert await on_wall() == {one: "Not followed", other: "Not followed"}
    assert third in await on_wall(state="ignored")
    assert one not in await on_wall(state="ignored")
    page = await site.post(
        "/series/edits", series_id=[str(one), str(third)], wanted="missing", next="/series?order=title"
    )
    assert page.url.path == "/series"
    assert "2 shows are followed: missing and new episodes are downloaded." in text_of(page)
    assert await on_wall() == {one: "Followed", other: "Not followed", third: "Followed"}
    assert await on_wall(followed="yes") == await on_wall(state="followed") == {one: "Followed", third: "Followed"}
    assert await on_wall(followed="no") == {other: "Not followed"}
    # All that a filter lists, whatever is ticked beside it.
    await site.post("/series/edits", listed="yes", followed="no", series_id=[str(one)], wanted="future")
    wanted = await catalog.several([one, other, third])
    assert [wanted[number].wanted for number in (one, other, third)] == ["missing", "future", "missing"]
    # The button comes after the choice, and counts.
    await site.post("/series/edits", series_id=[str(one), str(third)], wanted=["all", "none"])
    assert await on_wall() == {one: "Not followed", other: "Followed"}
    assert (await site.post("/series/edits", series_id=["4711"], wanted="all")).status_code == 404
    assert (await site.post("/series/edits", series_id=[str(one)], wanted="some")).status_code == 422


async def test_several_shows_get_a_profile_a_library_and_a_wish_and_are_as_before_when_it_is_undone(
    site: Site, feeds: str
) -> None:
    await follow(site, feeds + SEASON)
    catalog, profiles = Catalog(site.queue.database), ReleaseProfiles(site.queue.database)
    one, other, *_ = (series.id for series in (await catalog.series()).items)
    await site.queue.database.write(
        lambda conn: conn.run(
            "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'Shelf', '/srv', :now, :now)"
        )
    )
    named = await profiles.add("HD <1>", DEFAULT)
    own = await profiles.set_own(other, ReleasePreferences(upgrade=True, wait_minutes=7))
    page = await site.post(
        "/series/edits",
        series_id=[str(one), str(other)],
        wanted="future",
        profile=str(named.id),
        to_library="1",
        next="/series?order=title&edited=99",
    )
    told = text_of(page)
    assert dict(page.url.params) == {"order": "title", "edited": "1"}
    assert "2 shows are followed: new episodes are downloaded." in told
    assert "2 shows now use profile HD <1>." in told
    assert "2 shows now go into library Shelf." in told
    for series in (await catalog.several([one, other])).values():
        assert (series.wanted, series.library_id) == ("future", 1)
        assert await profiles.of_series(series.id) == named
    # What was changed since stays; the rest is as it was.
    await catalog.change(one, {"library_id": None, "wanted": SeriesWish.MISSING})
    page = await site.post("/series/edits/1/undo", next="/series?edited=1")
    assert "Undone. A show that was changed since then keeps its newer choice." in text_of(page)
    assert 'class="undo"' not in page.text
    shows = await catalog.several([one, other])
    assert [(shows[it].wanted, shows[it].library_id) for it in (one, other)] == [("missing", None), ("all", None)]
    assert await profiles.of_series(one) is None
    again = await profiles.of_series(other)
    assert again is not None
    assert (again.series_id, again.preferences) == (other, own.preferences)
    assert (await site.post("/series/edits/1/undo")).status_code == 409
    assert (await site.post("/series/edits/4711/undo")).status_code == 404
    unchanged = await site.post("/series/edits", series_id=[str(one)], wanted="", profile="", to_library="")
    assert (unchanged.status_code, 'class="undo-notice"' in unchanged.text) == (200, False)
    assert (await site.post("/series/edits", wanted="all")).status_code == 422
    assert (await site.post("/series/edits", series_id=[str(one)], profile="4711")).status_code == 404
    assert 'class="undo-notice"' not in (await site.get("/series", edited="4711")).text


async def test_specials_stand_apart_and_what_names_no_episode_comes_last(site: Site, feeds: str) -> None:
    await follow(site, feeds + DAWN)
    page = await site.get("/series/1")
    seen = text_of(page)
    # What the table has is not repeated above it.
    assert page.text.count('class="grid"') == 1
    assert "The Storehouse at Dawn · Specials · Episode 1" in text_of(await site.get("/following/1"))
    releases = seen[seen.index("Air date") :]
    order = ["Episode 1", "Episode 3", "v2", "Episode 8", "Specials · Episode 1", "No episode number"]
    assert [releases.index(one) for one in order] == sorted(releases.index(one) for one in order)
    assert "[Lantern] The Storehouse at Dawn - 08 (720p)" in seen
    assert "The title names no episode, so it is not downloaded automatically." in seen


async def test_what_a_filter_rejects_and_what_is_yet_to_air_is_told(site: Site, feeds: str) -> None:
    await follow(site, feeds + DAWN)

    def change(conn: Connection) -> None:
        conn.run("UPDATE anime_links SET is_filtered = 1, filter_reason = 'too <small>' WHERE resolution = 720")
        conn.run("UPDATE episodes SET aired_at = :now + 3600000000 WHERE kind = 'tv' AND number > 6")
        conn.run("UPDATE episodes SET state = 'have' WHERE kind = 'tv' AND number < 4")

    await site.queue.database.write(change)
    assert "3 / 6" in text_of(await site.get("/series"))
    page = await site.get("/series/1")
    assert page.text.count('<li data-episode="unaired"') == 2
    told = "Excluded by a rule: too <small>"
    assert told in unescape(page.text.replace("<bdi>", "")).replace("</bdi>", "")
    assert text_of(await site.get("/following/1")).count("Excluded by a rule: too") == 2


async def test_what_was_read_again_is_listed_with_its_cause(site: Site) -> None:
    assert 'id="relinks"' not in (await site.get("/questions")).text
    await Relinker(site.queue).relink(RelinkTask(cause=RelinkCause.PARSER))
    assert "A new version reads titles differently 0 releases moved" in await site.read("/questions")
    assert "No release moved." in await site.read("/questions/relinks/1")
    assert (await site.get("/questions/relinks/4711")).status_code == 404


@pytest.mark.parametrize("year", ["9" * 5_000, "2²", "-1", "1e3", "2026 "])
async def test_a_year_that_is_none_filters_nothing(site: Site, year: str) -> None:
    assert (await site.get("/series", year=year)).status_code == 200
