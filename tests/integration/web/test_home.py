"""*Home*: what arrived, what is shown next, and what needs its keeper; and the search box of every page."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from kurabito.attention import ActionId
from kurabito.clock import from_datetime, to_datetime
from kurabito.feeds.subscriptions import StartWith, SubscriptionSettings
from kurabito.settings.fields import fields
from kurabito.web.home.remedies import PLACES
from kurabito.web.navigation import SUBPAGES

if TYPE_CHECKING:
    from tests.integration.web.conftest import Site

HOUR = 3_600_000_000
SERIES = (
    "INSERT INTO series (id, title, season, kind, episode_offset, state, created_at, updated_at) "
    "VALUES (:id, :title, 2, 'tv', 0, 'followed', :now, :now)"
)
ALIAS = (
    "INSERT INTO series_aliases (series_id, name, folded, season, kind, source) "
    "VALUES (:id, :title, :folded, 2, 'tv', 'keeper')"
)
EPISODE = (
    "INSERT INTO episodes (series_id, kind, number, state, aired_at, created_at, updated_at) "
    "VALUES (:id, 'tv', :number, :state, :now + :away, :now, :now)"
)
FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, 'The Lantern/05.mkv', 1, 1, :now, :now)"
)
ARRIVES = (
    "INSERT INTO episode_files (episode_id, file_id, created_at) "
    "SELECT episodes.id, (SELECT min(id) FROM library_files), :now FROM episodes WHERE number = :number"
)


async def run(site: Site, *statements: tuple[str, dict[str, Any]]) -> None:
    def work(conn: Any) -> None:
        for statement, values in statements:
            conn.run(statement, values)

    await site.queue.database.write(work)


async def test_a_new_keeper_is_told_what_comes_first(site: Site) -> None:
    seen = await site.read("/")
    assert "Three steps to your first show" in seen
    assert "Arrived lately" not in seen
    assert "Nothing is downloading." in seen


async def test_every_button_of_a_notice_leads_to_a_page_that_is_there(furnished: Site) -> None:
    await furnished.feeds.subscriptions.create(SubscriptionSettings(name="Feed", url="https://a.example/rss"))
    for action in ActionId:
        path, _, anchor = PLACES[action].format(target=1).partition("#")
        page = await furnished.get(path)
        assert page.status_code == 200, action
        assert not anchor or f'id="{anchor}"' in page.text, action


async def test_what_arrived_and_what_is_shown_next_is_on_the_first_page(furnished: Site) -> None:
    assert "No episode has arrived yet." in await furnished.read("/")
    of = {"id": 1, "title": "The Lantern"}
    await run(
        furnished,
        (SERIES, of),
        (EPISODE, {"id": 1, "number": 5, "state": "have", "away": -200 * HOUR}),
        (EPISODE, {"id": 1, "number": 6, "state": "wanted", "away": 3 * HOUR}),
        (EPISODE, {"id": 1, "number": 7, "state": "wanted", "away": 300 * HOUR}),
        (FILE, {}),
        (ARRIVES, {"number": 5}),
    )
    seen = await furnished.read("/")
    assert re.search(r"Arrived lately T The Lantern S02E05 · \d+ s ago", seen)
    # Only its day is known, so no hour is told.
    assert re.search(r"Airing today and next T The Lantern S02E06 Unaired (Today|Tomorrow)", seen)
    assert "S02E07" not in seen
    # A file that is gone is not what arrived.
    await run(furnished, ("UPDATE library_files SET is_missing = 1", {}))
    assert "S02E05" not in await furnished.read("/")


async def test_an_arrival_is_what_came_at_once_and_not_all_that_ever_came(furnished: Site) -> None:
    came = ARRIVES.replace(":now FROM", ":now - :ago FROM")
    episodes = [(EPISODE, {"id": 1, "number": number, "state": "have", "away": -200 * HOUR}) for number in (1, 2, 3, 5)]
    arrivals = [(came, {"number": number, "ago": ago * HOUR}) for number, ago in ((1, 50), (2, 49), (3, 3), (5, 0))]
    await run(furnished, (SERIES, {"id": 1, "title": "The Lantern"}), *episodes, (FILE, {}), *arrivals)
    assert "The Lantern 2 episodes" in await furnished.read("/")


async def test_what_needs_its_keeper_is_hidden_until_it_changes(furnished: Site) -> None:
    feed = SubscriptionSettings(name="Mikan", url="https://feeds.example/rss", is_enabled=True)
    await furnished.feeds.subscriptions.create(feed, StartWith.MISSING)
    await run(furnished, ("UPDATE subscriptions SET failures = 3, error_code = 'timed_out'", {}))
    page = (await furnished.get("/")).text
    assert "The feed <bdi>Mikan</bdi> cannot be read." in page
    assert 'href="/following/1"' in page
    (key,) = re.findall(
        r'id="notice-(\w+)" data-tone="warning">\s*<div class="notice-text"><p><a href="/following/1">The feed', page
    )
    seen = (await furnished.post(f"/notices/{key}/hide")).text
    assert "1 hidden" in seen
    shown = seen[: seen.index('id="hidden-notices"')]
    assert "Mikan" not in shown
    await run(furnished, ("UPDATE subscriptions SET error_code = 'bad_status'", {}))
    # What it was is over, so hiding that again changes nothing.
    seen = (await furnished.post(f"/notices/{key}/hide")).text
    assert "Mikan" in seen
    assert "hidden-notices" not in seen


async def test_tasks_are_named_for_people_and_checks_are_folded_away(furnished: Site) -> None:
    name = await furnished.queue.database.read(lambda conn: conn.value("SELECT name FROM library_roots WHERE id = 1"))
    await furnished.post("/library/1/scan")
    await furnished.queue.enqueue("feeds.check", {})
    await furnished.queue.enqueue("feeds.fetch", {"subscription_id": 99})
    for path in ("/now", "/tasks"):
        seen = await furnished.read(path)
        assert f"Scan of {name} library.scan" in seen
        assert "1 routine check Check which feeds are due feeds.check" in seen
        assert "Feed fetch feeds.fetch" in seen


async def test_the_box_finds_shows_by_any_name_pages_and_the_way_to_releases(site: Site) -> None:
    await run(
        site,
        (SERIES, {"id": 1, "title": "Dungeon Meshi"}),
        (ALIAS, {"id": 1, "title": "Delicious in Dungeon", "folded": "deliciousindungeon"}),
    )
    page = (await site.get("/find", q="Delicious in")).text
    assert 'href="/series/1"' in page
    assert 'href="/search?q=Delicious+in"' in page
    assert 'href="/duplicates"' in (await site.get("/find", q="dupl")).text.split('id="found"')[1]
    assert "Nothing in your collection has this name." in (await site.get("/find", q="zzz")).text
    assert (await site.get("/find")).status_code == 200


async def test_the_box_finds_settings_and_pages_below_others_in_the_readers_language(furnished: Site) -> None:
    async def found(text: str) -> str:
        return (await furnished.get("/find", q=text)).text.split('id="found"')[1].split("</ul>")[0]

    assert 'href="/settings/backups"' in await found("backup")
    assert 'href="/settings/libraries#setting-trash_days"' in await found("days trash")
    assert 'href="/settings/metadata#setting-tmdb_key"' in await found("tmdb_key")
    assert 'href="/trash"' in await found("TRASH")
    assert "Nothing in your collection has this name." not in await found("blocklist")
    # What nearly every text has finds none, unless a name has it.
    assert "setting-" not in await found("the")
    assert 'href="/settings/general#setting-tz"' in await found("time zone")
    # Files are searched where they are listed, for the words as they were typed.
    assert 'href="/library/1?contains=E05%2F%25#files-section"' in await found("E05/%")
    furnished.client.headers["Accept-Language"] = "ja"
    assert 'href="/settings/backups"' in await found("バックアップ")


async def test_everything_that_the_box_leads_to_is_there(furnished: Site) -> None:
    for page in SUBPAGES:
        assert (await furnished.get(page.path)).status_code == 200, page.path
    for field in fields():
        shown = (await furnished.get(f"/settings/{field.group}")).text
        assert f'id="setting-{field.name}"' in shown, field.name


async def test_the_calendar_has_the_episodes_of_followed_shows_by_day(furnished: Site) -> None:
    # Before bgm.tv was asked, and without a show that is followed, there is something to begin with.
    assert "No calendar yet." in await furnished.read("/calendar")
    assert "You follow no show yet." in await furnished.read("/calendar/shows")
    now = await furnished.queue.database.read(lambda conn: conn.now())
    today = to_datetime(now).date()
    end_of_day = from_datetime(datetime.combine(today, time(23, 59), UTC)) - now
    await run(
        furnished,
        (SERIES, {"id": 1, "title": "The Lantern"}),
        (EPISODE, {"id": 1, "number": 4, "state": "wanted", "away": end_of_day - 48 * HOUR}),
        (EPISODE, {"id": 1, "number": 5, "state": "have", "away": end_of_day}),
        (EPISODE, {"id": 1, "number": 6, "state": "wanted", "away": end_of_day + 144 * HOUR}),
        (EPISODE, {"id": 1, "number": 7, "state": "wanted", "away": end_of_day + 168 * HOUR}),
        (SERIES.replace("'followed'", "'ignored'"), {"id": 2, "title": "The Dark Lamp"}),
        (EPISODE, {"id": 2, "number": 1, "state": "wanted", "away": end_of_day}),
    )
    assert (await furnished.get("/calendar")).headers["location"] == "/calendar/shows"
    assert "No calendar yet." in await furnished.read("/calendar", view="week")
    seen = await furnished.read("/calendar/shows")
    assert "Today T The Lantern S02E05 In library" in seen
    assert "S02E06 Unaired" in seen
    assert [name for name in ("S02E04", "S02E07", "Dark Lamp") if name in seen] == []
    week = timedelta(days=7)
    assert "S02E04 Wanted" in await furnished.read("/calendar/shows", **{"from": (today - week).isoformat()})
    assert "S02E07 Unaired" in await furnished.read("/calendar/shows", **{"from": (today + week).isoformat()})
    quiet = await furnished.read("/calendar/shows", **{"from": "2019-01-01"})
    assert "No followed show has an episode in these days." in quiet
    for wrong in ("tomorrow", "0001-01-01"):
        assert (await furnished.get("/calendar/shows", **{"from": wrong})).status_code == 422
