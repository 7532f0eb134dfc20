"""The page of the media servers, and the same by command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.web.conftest import Site
from tests.support.media_servers import LOGIN, TOKEN, MediaServerStandIn, standing_in
from typer.testing import CliRunner

from kurabito.cli.commands import app


@pytest.fixture
async def server() -> AsyncIterator[MediaServerStandIn]:
    async with standing_in() as found:
        yield found


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_server_is_added_tested_changed_and_removed(site: Site, server: MediaServerStandIn) -> None:
    page = "/media-servers"
    assert 'href="/media-servers"' in (await site.get("/library")).text
    refused = await site.post(page, kind="plex", name="Plex", url="nas:32400", token=TOKEN, path_maps="")
    assert (refused.status_code, "http://nas:8096" in refused.text) == (422, True)
    fields = {"name": "Plex", "url": server.url, "path_maps": "/srv/media => /media"}
    added = await site.post(page, kind="plex", token=TOKEN, **fields)
    assert "Not notified yet" in added.text
    tested = await site.post(f"{page}/1/test")
    assert ("It responds" in tested.text, "Living room" in tested.text) == (True, True)
    changed = await site.post(f"{page}/1", token="", is_enabled="", **(fields | {"path_maps": "/srv/media /media"}))
    assert changed.status_code == 422
    changed = await site.post(f"{page}/1", token="", is_enabled="", **fields)
    assert 'data-tone="off"' in changed.text
    server.status = "500 Internal Server Error"
    assert "It does not respond" in (await site.post(f"{page}/1/test")).text
    assert TOKEN not in refused.text + added.text + tested.text + changed.text
    for language, words in (("ja", "メディアサーバー"), ("zh-Hans", "媒体服务器"), ("zh-Hant", "媒體伺服器")):
        site.client.headers["Accept-Language"] = language
        assert words in (await site.get(page)).text
    site.client.headers["Accept-Language"] = "en"
    assert "No media servers yet" in (await site.post(f"{page}/1/remove")).text
    assert (await site.post(f"{page}/1/test")).status_code == 404


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_the_same_by_command(
    site: Site, server: MediaServerStandIn, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KURABITO_DATABASE", url)
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("KURABITO_MEDIA_SERVER_TOKEN", LOGIN)

    async def run(*words: str) -> tuple[int, str]:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["media-servers", *words])
        return result.exit_code, result.output

    assert (await run("add", "kodi", server.url, "--map", "/srv/media=/media"))[0] == 0
    assert await run("test", "1") == (0, "it answers as Kodi\n")
    listed = (await run("list"))[1]
    assert ("healthy" in listed, server.url in listed, LOGIN in listed) == (True, True, False)
    server.status = "401 Unauthorized"
    assert (await run("test", "1"))[0] == 1
    assert (await run("remove", "1"))[0] == 0
    assert (await run("list"))[1] == ""


async def test_what_cannot_be_used_is_refused_at_its_field(site: Site) -> None:
    form = {"kind": "jellyfin", "name": "Films", "url": "http://nas:8096", "token": "geheim"}
    for field, typed in (("kind", "<script>"), ("token", "two\nlines"), ("token", "x" * 5_000)):
        answer = await site.post("/media-servers", **(form | {field: typed}))
        assert answer.status_code == 422
        assert "<script>" not in answer.text
        assert f'id="{field}-problem"' in answer.text
