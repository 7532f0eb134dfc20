"""The page of notifications, the same over the API and by command."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.integration.web.conftest import Site
from tests.support.destinations import taking_messages
from typer.testing import CliRunner

from kurabito.cli.commands import app

PAGE = "/notifications"
TITLE = "Kurabito\N{FULLWIDTH COLON}テスト"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_destination_is_added_tested_changed_and_removed(site: Site) -> None:
    async with taking_messages() as server:
        assert f'href="{PAGE}"' in (await site.get("/settings/general")).text
        fields = {"name": "Hook", "language": "ja", "hears_failed": "yes", "quiet_from": "22:00", "quiet_to": "07:00"}
        address = f"http://{server.host}/hook?key=geheim"
        refused = await site.post(PAGE, kind="apprise", url="file:///etc/passwd", **fields)
        assert (refused.status_code, "ntfy://topic" in refused.text) == (422, True)
        late = await site.post(PAGE, kind="webhook", url=address, **(fields | {"quiet_to": "25:00"}))
        assert (late.status_code, "22:00" in late.text) == (422, True)
        added = await site.post(PAGE, kind="webhook", url=address, token="bearer-of-mine", **fields)
        assert "Not used yet" in added.text
        tested = await site.post(f"{PAGE}/1/test")
        assert ("The test message was sent" in tested.text, server.bearers) == (True, ["Bearer bearer-of-mine"])
        assert (server.sent[0]["title"], server.sent[0]["events"][0]["code"]) == (TITLE, "test")
        # The address is kept when none is given, and what it hears of is changed.
        changed = await site.post(f"{PAGE}/1", url="", token="", is_enabled="yes", hears_disk="yes", **fields)
        assert changed.text.count("Disk nearly full") > refused.text.count("Disk nearly full")
        server.status = "500 Internal Server Error"
        failed = await site.post(f"{PAGE}/1/test")
        assert "The test message did not arrive" in failed.text
        assert "Messages to" in (await site.get("/")).text
        for secret in ("geheim", "bearer-of-mine"):
            assert all(secret not in page.text for page in (late, added, tested, changed, failed))
        for language in ("ja", "zh-Hans", "zh-Hant"):
            site.client.headers["Accept-Language"] = language
            assert "通知" in (await site.get(PAGE)).text
        site.client.headers["Accept-Language"] = "en"
        assert "No destination yet" in (await site.post(f"{PAGE}/1/remove")).text
        assert (await site.post(f"{PAGE}/1/test")).status_code == 404


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_the_same_by_command(site: Site, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_DATABASE", url)
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))

    async def run(*words: str) -> tuple[int, str]:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["notifications", *words])
        return result.exit_code, result.output

    async with taking_messages() as server:
        monkeypatch.setenv("KURABITO_NOTIFICATION_URL", f"http://{server.host}/geheim")
        added = await run("add", "Hook", "--webhook", "--hears", "disk", "--quiet", "22:00-07:00")
        assert added == (0, "destination 1; try it with `kurabito notifications test 1`\n")
        assert await run("test", "1") == (0, "the test message was sent\n")
        server.status = "500 Internal Server Error"
        code, _ = await run("test", "1")
        _, listed = await run("list")
        assert (code, "failing" in listed, "geheim" in listed) == (1, True, False)
        _, history = await run("history", "1")
        assert [word in history for word in ("sent", "failed", "Kurabito: test")] == [True] * 3
        assert (await run("remove", "1"))[0] == 0
