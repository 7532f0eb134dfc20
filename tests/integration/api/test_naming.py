"""How libraries name their files, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

SERIES = (
    "INSERT INTO series (title, season, kind, year, state, created_at, updated_at) "
    "VALUES ('Yoru no Kurabito', 2, 'tv', 2024, 'followed', :now, :now)"
)
PREVIEW = "/api/v1/naming/preview"


@pytest.fixture
async def naming(site: Site, tmp_path: Path) -> str:
    """Where the naming of a new library is asked for and changed."""
    (tmp_path / "anime").mkdir()
    made = await site.http.post("/api/v1/libraries", json={"name": "Anime", "path": str(tmp_path / "anime")})
    return f"/api/v1/libraries/{made.json()['id']}/naming"


async def test_a_library_names_for_jellyfin_until_it_is_told_otherwise(site: Site, naming: str) -> None:
    first = (await site.http.get(naming)).json()
    assert first["series_folder"] == PRESETS[Preset.JELLYFIN].series_folder
    changed = await site.http.put(naming, json={"preset": "plex", "season_folder": "", "extras": "leave"})
    assert changed.status_code == 200, changed.text
    again = await site.http.put(naming, json={"preset": "kodi", "numbering": "absolute"})
    assert again.json() == (await site.http.get(naming)).json()
    assert (again.json()["numbering"], again.json()["extras"]) == ("absolute", "folder")


async def test_what_is_wrong_is_refused_with_its_place_and_changes_nothing(site: Site, naming: str) -> None:
    for refused in (
        await site.http.put(naming, json={"episode_file": "{title} {epsiode}"}),
        await site.http.post(PREVIEW, json={"episode_file": "{title} {epsiode}"}),
    ):
        assert refused.status_code == 422
        error = refused.json()["error"]
        assert error["code"] == "invalid_template"
        assert error["message"] == "episode_file: there is no token {epsiode} (at character 9)"
    assert (await site.http.put(naming, json={"preset": "emby"})).status_code == 422
    assert (await site.http.get(naming)).json()["episode_file"] == PRESETS[Preset.JELLYFIN].episode_file
    assert (await site.http.get("/api/v1/libraries/99/naming")).status_code == 404
    assert (await site.http.put("/api/v1/libraries/99/naming", json={})).status_code == 404


async def test_a_naming_is_tried_on_ten_examples(site: Site) -> None:
    answer = await site.http.post(PREVIEW, json={"episode_file": "{title} - {episode:03}< - {episode_title}>"})
    items = answer.json()["items"]
    assert len(items) == 10
    assert items[0]["video"].endswith("/Season 01/Sousou no Frieren - 008 - Frieren the Slayer.mkv")
    assert items[0]["subtitle"].endswith(".zh-Hans.ass")
    missing = (await site.http.post(PREVIEW, json={"series_folder": "{title} {bgm_id}"})).json()["items"]
    assert next((one["video"], one["missing"]) for one in missing if one["missing"]) == (None, "bgm_id")


async def test_the_first_examples_are_the_series_of_the_user(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    await site.queue.database.write(lambda conn: conn.run(SERIES))
    items = (await site.http.post(PREVIEW, json={})).json()["items"]
    assert len(items) == 10
    assert items[0]["video"] == "Yoru no Kurabito (2024)/Season 02/Yoru no Kurabito S02E01.mkv"
