"""Media servers over the API and their page: a token is written and never shown, and a test says what is wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.integration.api.conftest import Site
from tests.support.media_servers import TOKEN, MediaServerStandIn, standing_in

PATH = "/api/v1/media-servers"


@pytest.fixture
async def jellyfin() -> AsyncIterator[MediaServerStandIn]:
    async with standing_in() as server:
        yield server


async def test_a_server_is_added_tested_changed_and_removed(site: Site, jellyfin: MediaServerStandIn) -> None:
    order = {
        "kind": "jellyfin",
        "name": "Living room",
        "url": f"{jellyfin.url}/",
        "token": TOKEN,
        "path_maps": [{"core": "/srv/media", "server": "/media"}],
    }
    made = await site.http.post(PATH, json=order)
    assert made.status_code == 201, made.text
    server = made.json()
    assert (server["url"], server["has_token"], server["health"]) == (jellyfin.url, True, "new")
    assert (await site.http.post(PATH, json=order)).status_code == 409
    own = f"{PATH}/{server['id']}"
    tested = (await site.http.post(f"{own}/test")).json()
    assert (tested["is_good"], tested["answered_as"], tested["server"]["health"]) == (True, "Living room", "healthy")
    # Another address is another server: it is not given the token of the first.
    moved = await site.http.patch(own, json={"url": f"{jellyfin.url}/elsewhere"})
    assert (moved.json()["has_token"], moved.json()["path_maps"]) == (False, order["path_maps"])
    failed = (await site.http.post(f"{own}/test")).json()
    assert (failed["is_good"], failed["error_code"], failed["server"]["failures"]) == (False, "bad_status", 1)
    listed = await site.http.get(PATH)
    assert [one["health"] for one in listed.json()["items"]] == ["failing"]
    assert all(TOKEN not in reply.text for reply in (made, moved, listed))
    assert (await site.http.delete(own)).status_code == 204
    assert (await site.http.delete(own)).status_code == 404


REFUSED = (
    ({"url": "nas:8096"}, "url"),
    ({"url": "http://me:secret@nas"}, "url"),
    ({"path_maps": [{"core": "media", "server": "/media"}]}, "path_maps"),
    ({"name": " "}, "name"),
)


async def test_what_cannot_be_used_is_refused_by_its_field(site: Site) -> None:
    for change, field in REFUSED:
        reply = await site.http.post(PATH, json={"kind": "kodi", "name": "Kodi", "url": "http://nas:8080", **change})
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["message"].partition(":")[0]) == (422, "invalid_input", field)
