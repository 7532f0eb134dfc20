"""What the system tells about itself."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

KEY = "a key for the tests"


async def test_the_system_names_itself_and_its_settings_without_secrets(site: Site) -> None:
    answer = await site.http.get("/api/v1/system")
    system = answer.json()
    assert (system["version"], system["started_at"]) == (version("kurabito"), "2026-01-02T03:04:05Z")
    assert system["database"] in ("sqlite", "postgresql")
    assert (system["workers"], system["data_planes"], system["live_clients"]) == ([], [], 0)
    settings = {setting["name"]: setting for setting in system["settings"]}
    assert (settings["port"]["value"], settings["port"]["origin"]) == (8484, "default")
    assert settings["api_key"]["value"] == "***"
    assert KEY not in answer.text
