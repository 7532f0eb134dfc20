"""The settings on the page: every one can be read and, where it is not locked, changed and reset."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest
from tests.integration.web.conftest import KEY, Opened, Site
from tests.support.eavesdroppers import eavesdropping

from kurabito.settings import Settings, load, variable
from kurabito.settings.fields import SECTIONS, FieldKind, SettingField, SettingGroup, fields
from kurabito.settings.store import SettingsStore, stored_settings
from kurabito.web.languages import catalogues

_OTHER = {
    "tz": "Europe/Berlin",
    "base_path": "/kura",
    "allowed_hosts": "nas.local, media.example",
    "trusted_proxies": "10.0.0.0/8",
    "allow_private_hosts": "nas.local",
    "proxy": "socks5://nas:1080",
    "browse_roots": "/srv/media, /mnt",
    "torrent_interface": "tun0",
    "bgm_image_host": "pictures.example",
}


def other(field: SettingField, settings: Settings) -> str:
    """A value that is not the one that is set, as a person types it."""
    now = getattr(settings, field.name)
    if field.name in _OTHER:
        return _OTHER[field.name]
    match field.kind:
        case FieldKind.CHOICE:
            return next(choice for choice in field.choices if choice != now)
        case FieldKind.SWITCH:
            return "" if now else "yes"
        case FieldKind.SECRET:
            return "a secret of the test"
        case FieldKind.FOLDER:
            return f"/srv/{field.name}"
        case FieldKind.NUMBER:
            least = field.least or 0
            return f"{(now or least) + 1:g}" if field.most is None or (now or least) + 1 <= field.most else f"{least:g}"
        case _:
            return "https://other.example/path"


@pytest.fixture
async def plain(url: str, tmp_path: Path, opened: Opened) -> AsyncIterator[Site]:
    async with opened(url, tmp_path, settings=load(state=tmp_path, database=url, api_key=KEY)) as site:
        yield site


def field_in(html: str, name: str) -> str:
    found = re.search(rf'<div class="field setting" id="setting-{name}".*?\n</div>\n', html, re.DOTALL)
    assert found, f"{name} is not on the page"
    return found[0]


async def test_every_setting_is_read_changed_and_reset_on_the_page(plain: Site, url: str, tmp_path: Path) -> None:
    local = load(state=tmp_path, database=url)
    walked = 0
    for group in SettingGroup:
        page = (await plain.get(f"/settings/{group}")).text
        mine = [field for field in fields() if field.group is group]
        assert re.findall(r'data-setting="(\w+)"', page) == [field.name for field in mine]
        for field in mine:
            shown = field_in(page, field.name)
            if "data-locked" in shown:
                assert variable(field.name) in unescape(shown) or "locked" in shown
                assert 'name="shown"' not in shown
                continue
            typed = other(field, local)
            answer = await plain.post(f"/settings/{group}", shown=field.name, **({field.name: typed} if typed else {}))
            assert answer.status_code == 200, (field.name, re.findall("data-problem.*", answer.text))
            assert "set on this page" in field_in(answer.text, field.name), field.name
            # Good news does not look like a problem.
            assert 'id="saved" data-tone="good"' in answer.text
            stored = stored_settings(local)
            assert getattr(stored, field.name) != getattr(local, field.name), field.name
            if field.kind is FieldKind.SECRET:
                assert typed not in answer.text
            elsewhere = SettingsStore(plain.queue.database, local)
            assert getattr(await elsewhere.refresh(), field.name) == getattr(stored, field.name)
            after = await plain.post(f"/settings/{group}/reset/{field.name}")
            assert after.status_code == 200
            assert getattr(stored_settings(local), field.name) == getattr(local, field.name)
            walked += 1
    assert walked > 30
    assert {field.name for field in fields()} == set(Settings.model_fields)


@pytest.mark.parametrize("tag", catalogues())
def test_every_setting_is_explained_in_every_language(tag: str) -> None:
    catalogue = catalogues()[tag]
    texts = ("setting_name", "setting")
    missing = [
        f"{text}.{name}" for text in texts for name in Settings.model_fields if not catalogue.has(f"{text}.{name}")
    ]
    assert not missing, f"write what these are called and what they are for into locales/system.toml: {missing}"
    # A name stands beside its field and in the results of the search box: in one line, and as no other.
    names = [catalogue.text(f"setting_name.{name}") for name in Settings.model_fields]
    assert max(map(len, names)) <= 30
    assert len(set(names)) == len(names)
    assert all(catalogue.has(f"setting_group.{group}") for group in SettingGroup)
    choices = [f"setting_choice.{field.name}_{choice}" for field in fields() for choice in field.choices]
    assert all(map(catalogue.has, choices))
    assert all(catalogue.has(f"setting_section.{section}") for section in SECTIONS.values())


async def test_a_page_of_settings_names_them_for_people_and_in_their_sections(plain: Site) -> None:
    for group in SettingGroup:
        page = (await plain.get(f"/settings/{group}")).text
        said = unescape(re.sub("<[^>]*>", " ", page))
        # The name of a variable is said where only that can set it.
        named = [field.name for field in fields() if "_" in field.name and re.search(rf"\b{field.name}\b", said)]
        assert named == []
    page = (await plain.get("/settings/downloads")).text
    before, after = page.split("<h2>Built-in downloader</h2>")
    assert ('id="setting-dead_hours"' in before, 'id="setting-torrent_port"' in after) == (True, True)
    answer = await plain.post("/settings/general", shown="tz", tz="Europe/Berlin")
    assert "<strong>Time zone</strong>" in answer.text.split('id="pending"')[1].split("</section>")[0]


@pytest.mark.parametrize(
    ("language", "group", "name", "typed", "said"),
    [
        ("en", "libraries", "trash_days", "-3", "Enter a number greater than 0 and at most 1,000,000."),
        ("ja", "downloads", "torrent_port", "99999", "1 から 65,535"),
        ("zh-Hans", "network", "proxy", "ftp://x", "socks5://nas:1080"),
        ("en", "advanced", "heartbeat_seconds", "29", "at most half of the lease"),
        ("zh-Hant", "general", "tz", "Mars/Olympus", "Asia/Taipei"),
        ("en", "metadata", "bgm_image_host", "", "Enter a value."),
    ],
)
async def test_what_is_wrong_is_said_at_the_field_in_the_readers_language(
    plain: Site, language: str, group: str, name: str, typed: str, said: str
) -> None:
    plain.client.headers["Accept-Language"] = language
    answer = await plain.post(f"/settings/{group}", shown=name, **{name: typed})
    assert answer.status_code == 422
    shown = field_in(answer.text, name)
    assert said in unescape(re.sub("<[^>]*>", "", shown)), shown
    assert typed in shown
    assert 'aria-invalid="true"' in shown


async def test_several_problems_stand_each_at_its_field_and_nothing_is_stored(
    plain: Site, url: str, tmp_path: Path
) -> None:
    answer = await plain.post(
        "/settings/libraries", shown=["trash_days", "dataplane_nice"], trash_days="never", dataplane_nice="20"
    )
    assert "data-problem" in field_in(answer.text, "trash_days")
    assert "data-problem" in field_in(answer.text, "dataplane_nice")
    local = load(state=tmp_path, database=url)
    assert stored_settings(local) is local


async def test_what_the_environment_sets_is_shown_as_locked_and_refused(
    url: str, tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KURABITO_TRASH_DAYS", "5")
    async with opened(url, tmp_path, settings=load(state=tmp_path, database=url, api_key=KEY)) as site:
        shown = field_in((await site.get("/settings/libraries")).text, "trash_days")
        assert "locked: set by KURABITO_TRASH_DAYS" in " ".join(shown.split())
        assert "disabled" in shown
        answer = await site.post("/settings/libraries", shown="trash_days", trash_days="9")
        assert answer.status_code == 409


async def test_a_change_that_needs_a_restart_says_so_and_offers_it(plain: Site) -> None:
    answer = await plain.post("/settings/general", shown="tz", tz="Europe/Berlin")
    assert "1 change takes effect after a restart" in answer.text
    assert 'action="/settings/restart"' in answer.text
    answer = await plain.post("/settings/libraries", shown="trash_days", trash_days="9")
    assert "2 changes" not in answer.text


async def test_a_folder_is_tested_and_not_left_behind(plain: Site, tmp_path: Path) -> None:
    root = tmp_path / "not" / "there"
    answer = await plain.post("/settings/downloads/test/download_root", shown="download_root", download_root=str(root))
    assert 'data-tone="good"' in field_in(answer.text, "download_root")
    assert "are free" in answer.text
    assert not root.parent.exists()
    answer = await plain.post("/settings/downloads/test/download_root", shown="download_root", download_root="/proc/x")
    assert 'data-tone="bad"' in field_in(answer.text, "download_root")


async def test_the_api_reads_changes_and_resets(plain: Site) -> None:
    answer = await plain.client.patch(
        "/api/v1/settings", json={"values": {"trash_days": 60, "tmdb_key": "hunter2"}, "reset": []}
    )
    assert answer.status_code == 200
    found = {one["name"]: one for one in answer.json()["items"]}
    assert (found["trash_days"]["value"], found["trash_days"]["place"]) == (60, "database")
    assert "hunter2" not in answer.text
    refused = await plain.client.patch("/api/v1/settings", json={"values": {"trash_days": 1, "tz": "Nowhere/At"}})
    assert (refused.status_code, "tz" in refused.text) == (422, True)
    locked = await plain.client.patch("/api/v1/settings", json={"values": {"port": 1}})
    assert locked.status_code == 409
    answer = await plain.client.patch("/api/v1/settings", json={"reset": ["trash_days"]})
    found = {one["name"]: one for one in answer.json()["items"]}
    assert found["trash_days"]["place"] == "default"


async def test_a_page_that_was_opened_earlier_takes_back_no_change_of_another(
    plain: Site, url: str, tmp_path: Path
) -> None:
    page = (await plain.get("/settings/libraries")).text
    sent = {name: unescape(value) for name, value in re.findall(r'name="(before\.\w+)" value="([^"]*)"', page)}
    assert sent["before.trash_days"] == "30"
    await plain.client.patch("/api/v1/settings", json={"values": {"trash_days": 60}})
    fields_sent: dict[str, str | list[str]] = {
        "shown": ["trash_days", "thumbnail_images"],
        "trash_days": "30",
        "thumbnail_images": "5",
        **sent,
    }
    refused = await plain.post("/settings/libraries", **{**fields_sent, "thumbnail_images": "many"})
    assert (refused.status_code, 'name="before.trash_days" value="30"' in refused.text) == (422, True)
    await plain.post("/settings/libraries", **fields_sent)
    stored = stored_settings(load(state=tmp_path, database=url))
    assert (stored.trash_days, stored.thumbnail_images) == (60, 5)


@pytest.mark.parametrize(
    ("group", "name", "typed"),
    [
        ("downloads", "download_root", "/srv/\0x"),
        ("downloads", "download_root", "/" + "x" * 300),
        ("metadata", "bgm_url", "http://127.0.0.1:99999"),
        ("metadata", "tmdb_url", "http://[::1"),
        ("metadata", "offline_ids_url", "http://"),
        ("network", "proxy", "gopher://nas"),
        ("network", "proxy", "http://[::1"),
    ],
)
async def test_what_cannot_be_tried_is_said_and_no_fault_of_ours(
    plain: Site, group: str, name: str, typed: str
) -> None:
    answer = await plain.post(f"/settings/{group}/test/{name}", shown=name, **{name: typed})
    assert answer.status_code == 200
    assert 'data-tone="bad"' in field_in(answer.text, name)


async def test_a_test_sends_the_key_to_no_other_host_than_its_own(url: str, tmp_path: Path, opened: Opened) -> None:
    settings = load(state=tmp_path, database=url, api_key=KEY, tmdb_key="hunter2")
    async with eavesdropping() as other, opened(url, tmp_path, settings=settings) as site:
        await site.post("/settings/metadata/test/tmdb_url", shown="tmdb_url", tmdb_url=other.url)
    assert other.heard
    assert b"hunter2" not in other.heard
