"""Settings in the database: what wins, what is refused, who hears of a change."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.db import Database, migrate, open_database
from kurabito.db.postgres.roles import ensure_role
from kurabito.errors import ConfigError, InvalidInput
from kurabito.protocol.rights import DATA_PLANE, READABLE
from kurabito.settings import Origin, Settings, load
from kurabito.settings.errors import SettingLocked
from kurabito.settings.store import SEEN_WITHIN, SettingsStore, stored_settings


@pytest.fixture
def local(url: str, tmp_path: Path) -> Settings:
    (tmp_path / "kurabito.toml").write_text("trash_days = 10\n")
    return load(state=tmp_path, database=url)


@pytest.fixture
def store(database: Database, local: Settings) -> SettingsStore:
    return SettingsStore(database, local)


async def one(store: SettingsStore, name: str) -> Origin:
    return next(origin for origin in await store.all() if origin.name == name)


async def test_a_stored_value_wins_over_the_file_until_it_is_removed(
    store: SettingsStore, local: Settings, tmp_path: Path
) -> None:
    assert (await one(store, "trash_days")).origin == str(tmp_path / "kurabito.toml")
    await store.set("trash_days", "60")
    assert (await one(store, "trash_days"))[1:3] == (60.0, "database")
    assert stored_settings(local).trash_days == 60
    await store.unset("trash_days")
    assert (await one(store, "trash_days")).value == 10
    assert stored_settings(local).trash_days == 10


async def test_the_environment_wins_and_locks(
    database: Database, store: SettingsStore, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.set("trash_days", 60)
    monkeypatch.setenv("KURABITO_TRASH_DAYS", "5")
    locked = SettingsStore(database, load(state=tmp_path, database=url))
    shown = await one(locked, "trash_days")
    assert (shown.value, shown.origin, shown.is_locked) == (5.0, "KURABITO_TRASH_DAYS", True)
    with pytest.raises(SettingLocked, match="trash_days is set by KURABITO_TRASH_DAYS, which wins over the database"):
        await locked.set("trash_days", 7)
    await locked.unset("trash_days")
    monkeypatch.delenv("KURABITO_TRASH_DAYS")
    assert stored_settings(load(state=tmp_path, database=url)).trash_days == 10


@pytest.mark.parametrize("name", ["state", "database", "host", "port", "api_key", "password_file"])
async def test_what_opens_the_database_or_the_door_is_not_in_it(store: SettingsStore, name: str) -> None:
    with pytest.raises(SettingLocked, match=f"{name} cannot be in the database: set KURABITO_{name.upper()}"):
        await store.set(name, "anything")
    assert (await one(store, name)).is_locked


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("trash_days", -1, "trash_days: Input should be greater than 0"),
        ("trash_days", "long", "trash_days: Input should be a valid number"),
        ("trash_dais", 1, r"trash_dais: no setting has this name; did you mean trash_days\?"),
        ("proxy", "ftp://x", "proxy: must begin with one of http://"),
        ("heartbeat_seconds", 20, r"heartbeat_seconds: heartbeat_seconds \(20\) must be at most half of lease_seconds"),
    ],
)
async def test_a_value_that_cannot_be_used_is_refused_by_name(
    store: SettingsStore, name: str, value: object, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem) as refused:
        await store.set(name, value)
    assert refused.value.field == name
    assert not [origin for origin in await store.all() if origin.origin == "database"]


async def test_every_kind_of_value_comes_back_as_it_was_meant(store: SettingsStore, local: Settings) -> None:
    await store.set("allowed_hosts", "nas.local, media.example")
    await store.set("allow_delete", "true")
    await store.set("download_root", "/srv/downloads")
    await store.set("elsewhere_minutes", None)
    await store.set("thumbnail_images", 7)
    applied = stored_settings(local)
    assert applied.allowed_hosts == ("nas.local", "media.example")
    assert applied.allow_delete is True
    assert applied.download_root == Path("/srv/downloads")
    assert applied.elsewhere_minutes is None
    assert applied.thumbnail_images == 7


async def test_a_secret_is_used_and_never_given_back(store: SettingsStore, local: Settings) -> None:
    changed = await store.set("tmdb_key", "hunter2")
    assert changed.tmdb_key is not None
    assert changed.tmdb_key.get_secret_value() == "hunter2"
    assert (await one(store, "tmdb_key")).value == "***"
    assert "hunter2" not in json.dumps(await store.all())
    key = stored_settings(local).tmdb_key
    assert key is not None
    assert key.get_secret_value() == "hunter2"


def test_the_role_of_data_planes_cannot_read_it(migrated_postgres: str) -> None:
    role = "kurabito_dataplane"
    database = open_database(migrated_postgres)
    database.open()
    try:
        assert ensure_role(database, role, DATA_PLANE, READABLE)
        asked = "SELECT has_table_privilege(:role, CAST(:name AS text), 'SELECT')"
        stored = database.read_blocking(lambda conn: conn.all(asked, {"role": role, "name": "stored_settings"}))
        roots = database.read_blocking(lambda conn: conn.all(asked, {"role": role, "name": "library_roots"}))
    finally:
        database.close()
    assert (stored, roots) == ([(False,)], [(True,)])


async def test_listeners_hear_of_each_change_once(store: SettingsStore) -> None:
    heard: list[float] = []
    with store.listen(lambda settings: heard.append(settings.trash_days)):
        await store.set("trash_days", 60)
        await store.set("trash_days", 60)
        await store.refresh()
        await store.unset("trash_days")
    await store.set("trash_days", 70)
    assert heard == [60, 10]


async def test_another_process_hears_of_a_change_in_time(
    database: Database, store: SettingsStore, local: Settings
) -> None:
    clock, heard = ManualClock(), asyncio.Event()
    other = SettingsStore(database, local, clock)
    with other.listen(lambda _: heard.set()):
        following = asyncio.create_task(other.run())
        await store.set("log_level", "debug")
        assert other.current is local
        async with asyncio.timeout(PATIENCE):
            while not heard.is_set():
                clock.advance(SEEN_WITHIN)
                await asyncio.sleep(0)
        following.cancel()
    assert other.current.log_level == "debug"


async def test_a_stored_value_that_no_longer_fits_says_how_to_remove_it(
    store: SettingsStore, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.set("heartbeat_seconds", 15)
    monkeypatch.setenv("KURABITO_LEASE_SECONDS", "20")
    with pytest.raises(ConfigError, match=r"heartbeat_seconds \(15\).*; `kurabito config unset NAME` removes"):
        stored_settings(load(state=tmp_path, database=url))


def test_a_database_without_the_table_has_nothing_stored(tmp_path: Path) -> None:
    local = load(state=tmp_path)
    assert stored_settings(local) is local
    database = open_database(local.database)
    database.open()
    migrate(database, "runtime")
    database.close()
    assert stored_settings(local) is local


async def test_a_value_that_comes_back_as_it_is_shown_keeps_its_secret(store: SettingsStore, local: Settings) -> None:
    await store.change({"proxy": "http://me:hunter2@nas:3128", "tmdb_key": "hunter3"})
    shown = {name: (await one(store, name)).value for name in ("proxy", "tmdb_key")}
    assert shown == {"proxy": "http://me:***@nas:3128", "tmdb_key": "***"}
    await store.change({**shown, "trash_days": 60})
    applied = stored_settings(local)
    assert applied.tmdb_key is not None
    assert (applied.proxy, applied.tmdb_key.get_secret_value()) == ("http://me:hunter2@nas:3128", "hunter3")
    assert applied.trash_days == 60


@pytest.mark.parametrize(("name", "value"), [("proxy", "http://me:***@other:3128"), ("tmdb_key", "***")])
async def test_a_value_changed_around_its_mask_is_refused(store: SettingsStore, name: str, value: str) -> None:
    await store.set("proxy", "http://me:hunter2@nas:3128")
    with pytest.raises(InvalidInput, match=rf"{name}: its secret is shown as \*\*\*") as refused:
        await store.set(name, value)
    assert refused.value.field == name
    assert (await store.refresh()).proxy == "http://me:hunter2@nas:3128"


async def test_a_key_is_not_sent_to_another_host_than_the_one_it_was_given_for(store: SettingsStore) -> None:
    await store.set("tmdb_url", "https://mirror.example/3")
    await store.set("tmdb_key", "hunter2")
    await store.set("tmdb_url", "https://mirror.example:443/4")
    with pytest.raises(InvalidInput, match="tmdb_url: tmdb_key was given for another host"):
        await store.set("tmdb_url", "https://elsewhere.example/3")
    with pytest.raises(InvalidInput, match="tmdb_url: tmdb_key was given for another host"):
        await store.change({"tmdb_url": "https://elsewhere.example/3", "tmdb_key": "***"})
    assert (await store.refresh()).tmdb_url == "https://mirror.example:443/4"
    changed = await store.change({"tmdb_url": "https://elsewhere.example/3", "tmdb_key": "hunter3"})
    assert changed.tmdb_url == "https://elsewhere.example/3"
