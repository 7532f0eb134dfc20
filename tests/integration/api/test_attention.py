"""`GET /api/v1/attention`: what needs a person, from every part that can say so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kurabito.app.compose.attention import open_attention
from kurabito.app.own.pages import open_access
from kurabito.app.product import open_product
from kurabito.app.serve import served_registry
from kurabito.attention import AttentionCode
from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.db import Connection, leases
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.library.libraries import LibrarySettings
from kurabito.library.loop import Reconciler
from kurabito.notifications.model import DestinationKind, DestinationSettings
from kurabito.notifications.watch import LOOK
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

API = "/api/v1"
FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:library, 'Nobody/01.mkv', 1, 1, :now, :now)"
)


async def items(site: Site) -> dict[str, dict[str, Any]]:
    answer = await site.http.get(f"{API}/attention")
    assert answer.status_code == 200, answer.text
    assert answer.json()["next_cursor"] is None
    return {item["code"]: item for item in answer.json()["items"]}


async def change(site: Site, statement: str, **values: Any) -> None:
    assert isinstance(site.queue, SqlQueue)
    await site.queue.database.write(lambda conn: conn.run(statement, values))


async def test_there_is_nothing_to_see_to_while_all_is_well(site: Site) -> None:
    assert set(await items(site)) <= {"disk_full"}


async def test_a_missing_key_is_named_once_shows_are_followed_or_folders_wait(site: Site, tmp_path: Path) -> None:
    (tmp_path / "Severance").mkdir()
    made = await site.http.post(f"{API}/libraries", json={"name": "Shows", "path": str(tmp_path)})
    await change(site, FILE, library=made.json()["id"])
    assert not {"key_missing", "index_missing"} & set(await items(site))
    waits = (
        "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, created_at, updated_at) "
        "VALUES (:library, 'Nobody', '{}', 1, 'job', :now, :now)"
    )
    await change(site, waits, library=made.json()["id"])
    found = await items(site)
    assert found["key_missing"]["action"]["id"] == "enter_key"
    assert found["index_missing"]["action"]["id"] == "fetch_index"
    await change(site, "UPDATE folder_matches SET is_ignored = 1")
    assert not {"key_missing", "index_missing"} & set(await items(site))
    followed = (
        "INSERT INTO series (title, season, kind, episode_offset, state, created_at, updated_at) "
        "VALUES ('The Lantern', 1, 'tv', 0, 'followed', :now, :now)"
    )
    await change(site, followed)
    assert set(await items(site)) - {"disk_full", "data_plane_missing"} == {"key_missing"}


async def test_a_database_that_a_newer_version_has_updated_is_named(site: Site) -> None:
    newer = (
        "INSERT INTO kurabito_migrations (set_name, number, name, checksum, applied_at) "
        "VALUES ('product', 9999, 'from_the_future', 'x', :now)"
    )
    await change(site, newer)
    found = (await items(site))["schema_changed"]
    assert found["facts"] == {"name": "9999_from_the_future"}
    await change(site, "DELETE FROM kurabito_migrations WHERE number = 9999")
    assert "schema_changed" not in await items(site)


async def test_a_feed_that_fails_is_named_until_it_is_paused(site: Site) -> None:
    feed = {"name": "Shows", "url": "https://feeds.example/rss"}
    made = (await site.http.post(f"{API}/subscriptions", json=feed)).json()
    assert "feed_failing" not in await items(site)
    await change(site, "UPDATE subscriptions SET failures = 3, error_code = 'timed_out' WHERE id = :id", id=made["id"])
    found = (await items(site))["feed_failing"]
    key = found.pop("key")
    assert found == {
        "code": "feed_failing",
        "severity": "warning",
        "facts": {"id": made["id"], "name": "Shows", "failures": 3, "error_code": "timed_out"},
        "since": None,
        "action": {"id": "fetch_feed", "target": made["id"]},
        "is_hidden": False,
    }
    await change(site, "UPDATE subscriptions SET failures = 4 WHERE id = :id", id=made["id"])
    assert (await items(site))["feed_failing"]["key"] == key
    await site.http.patch(f"{API}/subscriptions/{made['id']}", json={"is_enabled": False})
    assert "feed_failing" not in await items(site)


async def test_a_downloader_that_is_silent_is_named_since_it_was_seen(site: Site) -> None:
    body = {
        "service_type": "downloader",
        "service_name": "box",
        "host": "127.0.0.1",
        "port": 9,
        "capabilities": {"download_endpoint": "/downloads", "supported_download_types": ["magnet"]},
        "instance_id": "i",
        "token": "t",
    }
    module = (await site.http.post("/services/register", json=body)).json()["service_id"]
    assert "downloader_unreachable" not in await items(site)
    await change(site, "UPDATE service_modules SET last_seen_at = last_seen_at - 3600000000")
    found = (await items(site))["downloader_unreachable"]
    assert found["facts"] == {"id": module, "name": "box", "waiting": 0, "has_more": False}
    assert found["action"] == {"id": "ask_downloaders", "target": module}
    assert found["since"] is not None


async def test_a_scan_that_failed_is_named_until_the_next_one_succeeds(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    body = {"name": "Films", "path": str(tmp_path / "films")}
    library = (await site.http.post(f"{API}/libraries", json=body)).json()["id"]
    await site.http.post(f"{API}/libraries/{library}/scan")
    await end_scan(site, "failed", "ROOT_UNAVAILABLE")
    found = (await items(site))["scan_failed"]
    assert found["facts"] == {"id": library, "name": "Films", "error_code": "ROOT_UNAVAILABLE"}
    assert found["action"] == {"id": "scan_library", "target": library}
    await site.http.post(f"{API}/libraries/{library}/scan")
    await end_scan(site, "completed", None)
    assert "scan_failed" not in await items(site)


async def end_scan(site: Site, status: str, code: str | None) -> None:
    """Play the data plane: take the next job and end it."""
    assert isinstance(site.queue, SqlQueue)
    reconciler = Reconciler(site.queue)
    while await reconciler.step():
        pass

    def work(conn: Connection) -> None:
        ((job, *_),) = leases.claim(conn, JOBS, "plane#1", lease=30_000_000, limit=1)
        ended = [(job, "plane#1", status, 1.0, code, None)]
        assert not leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)

    await site.queue.database.write(work)
    while await reconciler.step():
        pass


async def test_a_library_without_a_data_plane_and_a_folder_without_a_match_are_named(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "films").mkdir()
    made = await site.http.post(f"{API}/libraries", json={"name": "Films", "path": str(tmp_path / "films")})
    library = made.json()["id"]
    assert isinstance(site.queue, SqlQueue)
    database = site.queue.database

    def store(conn: Connection) -> None:
        conn.run(FILE, {"library": library})

    async def fill_in() -> None:
        """Nothing is known of them."""

    await database.write(store)
    await CatalogMatcher(database, fill_in).match(library, "a job")
    found = await items(site)
    assert found["data_plane_missing"]["action"] == {"id": "start_data_plane", "target": None}
    assert (found["matches_open"]["severity"], found["matches_open"]["facts"]) == ("notice", {"count": 1})
    assert list(found)[-1] == "matches_open"
    # Most names are known once the index is there.
    assert found["index_missing"]["action"] == {"id": "fetch_index", "target": None}


async def test_what_is_hidden_comes_back_when_it_changes_and_when_it_comes_again(site: Site) -> None:
    feed = {"name": "Shows", "url": "https://feeds.example/rss"}
    made = (await site.http.post(f"{API}/subscriptions", json=feed)).json()

    async def fail(failures: int, code: str | None) -> dict[str, Any]:
        values = {"id": made["id"], "failures": failures, "code": code}
        await change(site, "UPDATE subscriptions SET failures = :failures, error_code = :code WHERE id = :id", **values)
        return (await items(site)).get("feed_failing", {})

    async def hide(key: str, *, is_hidden: bool = True) -> int:
        return (await site.http.put(f"{API}/attention/{key}", json={"is_hidden": is_hidden})).status_code

    key = (await fail(3, "timed_out"))["key"]
    assert await hide(key) == 204
    assert (await fail(9, "timed_out"))["is_hidden"]
    assert not (await fail(9, "bad_status"))["is_hidden"]
    assert await hide(key) == 404
    assert not (await fail(9, "timed_out"))["is_hidden"]
    assert await hide(key) == 204
    assert await hide(key, is_hidden=False) == 204
    assert not (await fail(9, "timed_out"))["is_hidden"]
    assert await hide(key) == 204
    assert await fail(0, None) == {}
    assert not (await fail(3, "timed_out"))["is_hidden"]


async def test_a_release_that_is_not_taken_unasked_is_asked_about(site: Site) -> None:
    await change(
        site, "INSERT INTO series (id, title, state, created_at, updated_at) VALUES (1, 'Yoru', 'followed', 1, 1)"
    )
    episode = "INSERT INTO episodes (id, series_id, kind, number, created_at, updated_at) VALUES (1, 1, 'tv', 1, 1, 1)"
    await change(site, episode)
    search = "INSERT INTO wanted_searches (episode_id, searches, outcome, next_at) VALUES (1, 1, 'too_large', 1)"
    await change(site, search)
    found = (await items(site))["releases_ask"]
    assert (found["facts"], found["action"]["id"]) == ({"count": 1}, "open_wanted")
    page = await site.http.get("/matches", headers={"Accept": "text/html"})
    assert 'id="asked-room"' in page.text
    await change(site, "UPDATE episodes SET state = 'downloading'")
    assert "releases_ask" not in await items(site)


async def test_downloads_that_failed_or_stand_still_are_counted_while_their_episodes_are_wanted(site: Site) -> None:
    for statement in (
        "INSERT INTO series (id, title, kind, created_at, updated_at) VALUES (1, 'The Lantern', 'tv', :now, :now)",
        "INSERT INTO episodes (id, series_id, kind, number, created_at, updated_at) VALUES (1, 1, 'tv', 1, :now, :now)",
        (
            "INSERT INTO anime_links (id, release_key, series_id, episode_id, title, url, download_type, created_at) "
            "VALUES (1, 'k', 1, 1, 'The Lantern - 01', 'magnet:?xt=1', 'magnet', :now)"
        ),
        (
            "INSERT INTO downloads (id, link_id, status, queued_at, created_at, updated_at) "
            "VALUES (1, 1, 'failed', :now, :now, :now)"
        ),
    ):
        await change(site, statement)
    found = await items(site)
    assert found["downloads_failed"]["facts"] == {"count": 1}
    await change(site, "UPDATE downloads SET status = 'downloading', progressed_at = :now - 8000000000, peers = 0")
    found = await items(site)
    assert "downloads_failed" not in found
    assert found["downloads_stalled"]["action"] == {"id": "open_downloads", "target": None}
    await change(site, "UPDATE downloads SET status = 'failed'")
    await change(site, "UPDATE episodes SET state = 'have'")
    assert "downloads_failed" not in await items(site)


async def test_a_data_plane_that_is_starting_is_not_missing(url: str, tmp_path: Path) -> None:
    settings = Settings(api_key="a key for the tests", state=tmp_path / "state", database=url)
    (tmp_path / "films").mkdir()
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        product = open_product(settings, queue)
        await product.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
        starting = [True]
        needs = open_attention(settings, product, is_starting=lambda: starting[0])
        assert AttentionCode.DATA_PLANE_MISSING not in {one.code for one in await needs.list()}
        starting[0] = False
        assert AttentionCode.DATA_PLANE_MISSING in {one.code for one in await needs.list()}


async def test_a_data_plane_that_is_starting_is_told_to_nobody(url: str, tmp_path: Path) -> None:
    settings = Settings(api_key="a key for the tests", state=tmp_path / "state", database=url)
    (tmp_path / "films").mkdir()
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        product = open_product(settings, queue)
        await product.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
        phone = DestinationSettings(kind=DestinationKind.WEBHOOK, name="Phone", url="http://127.0.0.1:9/hook")
        await product.notifications.add(phone)
        starting = [True]
        look = served_registry(
            settings, product, open_access(settings, queue.database), is_starting=lambda: starting[0]
        ).handler(LOOK)
        assert look is not None
        for told in (False, True):
            await look.fn()
            subjects = await queue.database.read(lambda conn: conn.all("SELECT subject FROM notified_subjects"))
            assert any("data_plane" in subject for (subject,) in subjects) is told
            starting[0] = False
