"""What people ask about folders, and say of them, over HTTP; and what they follow from the calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.db import Connection
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'a', '/a', :now, :now)"
FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, :now, :now)"
)


async def _fill_in() -> None:
    pass


async def scanned(site: Site, *folders: str) -> None:
    """Have the folders found by a scan, and matched."""
    assert isinstance(site.queue, SqlQueue)
    database = site.queue.database

    def write(conn: Connection) -> None:
        conn.run(LIBRARY)
        for folder in folders:
            conn.run(FILE, {"path": f"{folder}/01.mkv"})

    database.write_blocking(write)
    await CatalogMatcher(database, _fill_in).match(1, "a job")


async def created(site: Site, **details: Any) -> int:
    answer = await site.http.post("/api/v1/metadata", json=details)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def test_open_folders_are_listed_with_their_candidates_and_a_choice_is_kept(site: Site) -> None:
    old = await created(site, title_english="Lighthouse", year=1998)
    new = await created(site, title_english="Lighthouse", year=2019)
    await scanned(site, "Lighthouse", "Lighthouse (2019)", "Nobody", "Nothing")
    first = (await site.http.get("/api/v1/matches", params={"limit": 2})).json()
    assert [one["folder"] for one in first["items"]] == ["Lighthouse", "Nobody"]
    rest = (await site.http.get("/api/v1/matches", params={"cursor": first["next_cursor"]})).json()
    assert ([one["folder"] for one in rest["items"]], rest["next_cursor"]) == (["Nothing"], None)
    lighthouse, nobody = first["items"]
    assert [(one["metadata_id"], one["reasons"]) for one in lighthouse["candidates"]] == [
        (record, ["name", "shared_name"]) for record in (old, new)
    ]
    assert lighthouse["read_as"] == {"names": ["Lighthouse"], "season": None, "year": None, "kind": None}
    (matched,) = (await site.http.get("/api/v1/matches", params={"state": "matched"})).json()["items"]
    assert (matched["folder"], matched["metadata_id"], matched["matched_by"]) == ("Lighthouse (2019)", new, "offline")

    choose = f"/api/v1/matches/{lighthouse['id']}/choose"
    for wrong in ({}, {"choice": "record:1", "none": True}, {"choice": "record:99"}):
        refused = await site.http.post(choose, json=wrong)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_input"), wrong
    chosen = (await site.http.post(choose, json={"choice": f"record:{old}"})).json()
    assert (chosen["state"], chosen["metadata_id"]) == ("chosen", old)
    by_record = await site.http.post(f"/api/v1/matches/{nobody['id']}/choose", json={"metadata_id": new})
    assert by_record.json()["metadata_id"] == new
    ignored = await site.http.post(f"/api/v1/matches/{rest['items'][0]['id']}/choose", json={"none": True})
    assert ignored.json()["state"] == "ignored"
    assert (await site.http.get("/api/v1/matches")).json()["items"] == []
    assert (await site.http.get("/api/v1/matches", params={"state": "ignored"})).json()["items"] == [ignored.json()]
    assert (await site.http.get(f"/api/v1/matches/{nobody['id']}")).json() == by_record.json()
    gone = await site.http.post("/api/v1/matches/999/choose", json={"none": True})
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "match_not_found")
    again = [await site.http.post("/api/v1/matches/look") for _ in range(2)]
    assert again[0].status_code == 202
    assert again[0].json() == again[1].json()


async def test_an_entry_is_followed_from_the_calendar(site: Site) -> None:
    record = await created(site, title_english="Lighthouse", year=2019, bgm_id=7)
    followed = await site.http.post("/api/v1/calendar/follow", json={"metadata_id": record})
    assert followed.status_code == 200, followed.text
    assert (followed.json()["state"], followed.json()["metadata_id"]) == ("followed", record)
    assert (await site.http.post("/api/v1/calendar/follow", json={"bgm_id": 7})).json()["id"] == followed.json()["id"]
    for body, status in (({"bgm_id": 8}, 404), ({}, 422), ({"bgm_id": 7, "metadata_id": record}, 422)):
        assert (await site.http.post("/api/v1/calendar/follow", json=body)).status_code == status


async def test_a_title_is_searched_and_chosen_for_folders_and_for_a_series(site: Site) -> None:
    wanted = await created(site, title_english="Lighthouse", title_japanese="灯台", year=2019)
    await scanned(site, "Todai", "Todai 2nd copy")
    found = (await site.http.get("/api/v1/metadata/search", params={"text": "light", "source": "records"})).json()
    assert [(one["key"], one["metadata_id"], one["year"]) for one in found["items"]] == [
        (f"record:{wanted}", wanted, 2019)
    ]
    assert found["failed"] == []
    open_folders = (await site.http.get("/api/v1/matches")).json()["items"]
    ids = [one["id"] for one in open_folders]
    choice = {"match_ids": ids, "key": f"record:{wanted}"}
    chosen = await site.http.post("/api/v1/matches/choose-title", json=choice)
    assert [(one["state"], one["metadata_id"]) for one in chosen.json()] == [("chosen", wanted)] * len(ids)
    for wrong, status in (
        ({**choice, "match_ids": []}, 422),
        ({**choice, "key": "x"}, 422),
        ({**choice, "match_ids": [99]}, 404),
    ):
        assert (await site.http.post("/api/v1/matches/choose-title", json=wrong)).status_code == status, wrong
    series = (await site.http.post("/api/v1/calendar/follow", json={"metadata_id": wanted})).json()
    other = await created(site, title_english="Another")
    place = f"/api/v1/series/{series['id']}/record"
    assert (await site.http.put(place, json={"key": f"record:{other}"})).json() == {
        "series_id": series["id"],
        "metadata_id": other,
    }
    assert (await site.http.put("/api/v1/series/404/record", json={"key": f"record:{other}"})).status_code == 404
    story = (await site.http.get(f"/api/v1/metadata/{other}/story")).json()
    assert (story["episodes"], story["summaries"], story["ended_on"]) == ([], {}, None)
    assert (await site.http.get("/api/v1/metadata/404/story")).status_code == 404
