"""`GET /api/v1/attention`: what needs a person, from every part that can say so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.db import Connection, leases
from kurabito.library.loop import Reconciler
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS
from kurabito.runtime.sql.queue import SqlQueue

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


async def test_a_feed_that_fails_is_named_until_it_is_paused(site: Site) -> None:
    feed = {"name": "Shows", "url": "https://feeds.example/rss"}
    made = (await site.http.post(f"{API}/subscriptions", json=feed)).json()
    assert "feed_failing" not in await items(site)
    await change(site, "UPDATE subscriptions SET failures = 3, error_code = 'timed_out' WHERE id = :id", id=made["id"])
    found = (await items(site))["feed_failing"]
    assert found == {
        "code": "feed_failing",
        "severity": "warning",
        "facts": {"id": made["id"], "name": "Shows", "failures": 3, "error_code": "timed_out"},
        "since": None,
        "action": {"id": "open_subscription", "target": made["id"]},
    }
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
    assert found["action"] == {"id": "open_downloader", "target": module}
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
