"""*File names*: the naming of a library is tried while it is typed, kept, and gone with its library."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from kurabito.library.libraries import LibrarySettings
from kurabito.placements.naming.presets import PRESETS, Preset

if TYPE_CHECKING:
    from tests.integration.web.conftest import Site

JELLYFIN = {name: str(value) for name, value in asdict(PRESETS[Preset.JELLYFIN]).items()}


async def library(site: Site, tmp_path: Path) -> str:
    (tmp_path / "anime").mkdir()
    await site.library.libraries.create(str(tmp_path / "anime"), LibrarySettings(name="Anime"))
    return "/library/1/naming"


async def test_a_naming_is_tried_kept_and_shown(site: Site, tmp_path: Path) -> None:
    address = await library(site, tmp_path)
    assert f'href="{address}"' in (await site.get("/library/1")).text
    page = await site.get(address)
    assert "Sousou no Frieren S01E08.mkv" in page.text
    tried = await site.post(f"{address}/try", **{**JELLYFIN, "episode_file": "{title} - {absolute:03}"})
    assert "Sousou no Frieren - 008.mkv" in tried.text
    assert "Sousou no Frieren S01E08.mkv" in (await site.get(address)).text
    kept = await site.post(address, **{**JELLYFIN, "episode_file": "{title} - {absolute:03}"})
    assert (kept.status_code, kept.url.path) == (200, address)
    assert "Sousou no Frieren - 008.mkv" in kept.text
    assert "Sousou no Frieren - s01e08.mkv" not in kept.text
    plex = await site.get(f"{address}?preset=plex")
    assert "Sousou no Frieren (2023) - s01e08.mkv" in plex.text
    assert 'preset=plex" aria-current="true"' in plex.text


async def test_a_template_that_is_wrong_is_told_with_its_place_and_typed_text_stays(site: Site, tmp_path: Path) -> None:
    address = await library(site, tmp_path)
    typed = {**JELLYFIN, "season_folder": "Season {saeson}"}
    refused = await site.post(address, **typed)
    assert refused.status_code == 422
    assert "There is no token <bdi>saeson</bdi>. (Character <bdi>8</bdi>)" in refused.text
    assert 'value="Season {saeson}"' in refused.text
    half = await site.post(f"{address}/try", **{**JELLYFIN, "film_file": "{title} <{year}"})
    assert half.status_code == 200
    assert "never closed" in half.text
    missing = await site.post(f"{address}/try", **{**JELLYFIN, "series_folder": "{title} {bgm_id}"})
    assert "{bgm_id} is unknown" in missing.text
    site.client.headers["Accept-Language"] = "ja"
    japanese = (await site.post(address, **typed)).text
    assert "<bdi>saeson</bdi> というトークンはありません。" in japanese
    assert "<bdi>8</bdi> 文字目" in japanese
    assert "no token" not in japanese


async def test_the_naming_goes_with_its_library(site: Site, tmp_path: Path) -> None:
    address = await library(site, tmp_path)
    await site.post(address, **{**JELLYFIN, "extras": "leave"})
    rows = "SELECT extras FROM library_naming"
    assert await site.queue.database.read(lambda conn: conn.all(rows)) == [("leave",)]
    await site.queue.database.write(lambda conn: conn.run("DELETE FROM library_roots WHERE id = 1"))
    assert await site.queue.database.read(lambda conn: conn.all(rows)) == []
