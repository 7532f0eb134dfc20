"""Several series at once over the API and each database: a wish, a library, a profile, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kurabito.downloads.edits.store import KEPT
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

    from kurabito.db import Connection

EDITS = "/api/v1/series/edits"
SERIES = (
    "INSERT INTO series (id, title, season, kind, episode_offset, state, wanted, created_at, updated_at) "
    "VALUES (:id, :title, 1, 'tv', 0, :state, 'all', :now, :now)"
)
LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (7, 'S', '/srv', :now, :now)"


def _shows(conn: Connection) -> None:
    for number, state in enumerate(("followed", "ignored", "asked"), start=1):
        conn.run(SERIES, {"id": number, "title": f"The Lantern {number}", "state": state})
    conn.run(LIBRARY)


async def _add_shows(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    await site.queue.database.write(_shows)


async def _shown(site: Site) -> list[tuple[Any, ...]]:
    items = (await site.http.get("/api/v1/series", params={"order": "oldest"})).json()["items"]
    return [(one["state"], one["wanted"], one["library_id"]) for one in items]


async def test_an_edit_gives_what_it_names_and_is_undone_once(site: Site) -> None:
    await _add_shows(site)
    profile = (await site.http.post("/api/v1/profiles", json={"name": "HD"})).json()
    before = await _shown(site)
    reply = await site.http.post(EDITS, json={"series_ids": [1, 2, 3, 2], "wanted": "missing", "library_id": 7})
    made = reply.json()
    assert (reply.status_code, made["changed"]) == (201, 3)
    assert made["edit"] == {"wanted": "missing", "library_id": 7}
    assert await _shown(site) == [("followed", "missing", 7)] * 3
    assert (await site.http.get("/api/v1/series/1/profile")).json() is None
    undone = await site.http.post(f"{EDITS}/{made['id']}/undo")
    assert undone.json() == {"changed": 3}
    assert await _shown(site) == before
    assert (await site.http.get(f"{EDITS}/{made['id']}")).json()["undone_at"] is not None
    assert (await site.http.post(f"{EDITS}/{made['id']}/undo")).json()["error"]["code"] == "series_edit_undone"

    # The profile alone; a profile that is gone when it is undone leaves the default.
    await site.http.post(EDITS, json={"series_ids": [1], "profile_id": profile["id"]})
    other = (await site.http.post(EDITS, json={"series_ids": [1, 2], "profile_id": None})).json()
    await site.http.delete(f"/api/v1/profiles/{profile['id']}")
    assert (await site.http.post(f"{EDITS}/{other['id']}/undo")).json() == {"changed": 2}
    assert (await site.http.get("/api/v1/series/1/profile")).json() is None
    assert await _shown(site) == before


async def test_an_edit_that_cannot_be_made_changes_nothing(site: Site) -> None:
    await _add_shows(site)
    before = await _shown(site)
    for body, status in (
        ({"series_ids": [1]}, 422),
        ({"series_ids": [], "wanted": "all"}, 422),
        ({"series_ids": [1], "wanted": "some"}, 422),
        ({"series_ids": [1, 99], "wanted": "none"}, 404),
        ({"series_ids": [1], "wanted": "none", "library_id": 99}, 404),
        ({"series_ids": [1], "wanted": "none", "profile_id": 99}, 404),
    ):
        assert (await site.http.post(EDITS, json=body)).status_code == status, body
    assert await _shown(site) == before
    assert (await site.http.get(f"{EDITS}/1")).status_code == 404


async def test_only_the_last_edits_are_kept(site: Site) -> None:
    await _add_shows(site)
    edit = {"series_ids": [1], "library_id": None}
    made = [(await site.http.post(EDITS, json=edit)).json()["id"] for _ in range(KEPT + 1)]
    assert (await site.http.get(f"{EDITS}/{made[0]}")).status_code == 404
    assert (await site.http.get(f"{EDITS}/{made[1]}")).status_code == 200
