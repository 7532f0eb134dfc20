"""Settings that are followed without a restart: whether files may be removed is told to data planes until they know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kurabito.app.own.live import LiveSettings
from kurabito.clock import ManualClock
from kurabito.errors import DatabaseUnavailable
from kurabito.settings import Settings


class Database:
    """A database that is away for the first writes."""

    def __init__(self, away: int) -> None:
        self.away = away
        self.tries = 0
        self.stored: list[bool] = []

    async def write(self, fn: Callable[..., object]) -> None:
        self.tries += 1
        if self.tries <= self.away:
            raise DatabaseUnavailable("the database is locked")
        assert isinstance(fn, partial)
        self.stored.append(fn.keywords["allowed"])


async def until(condition: Callable[[], object], clock: ManualClock) -> None:
    async with asyncio.timeout(20):
        while not condition():
            clock.advance(1)
            await asyncio.sleep(0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path, allow_delete=True)


def following(
    settings: Settings, database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> LiveSettings:
    for part in ("_follow_library", "_follow_downloads", "_follow_metadata"):
        monkeypatch.setattr(LiveSettings, part, lambda *_: None)
    gate = SimpleNamespace(trust=lambda **_: None)
    server = SimpleNamespace(limit=lambda _: None)
    product = SimpleNamespace(database=database)
    nothing = cast("Any", None)
    return LiveSettings(
        settings, cast("Any", product), cast("Any", gate), cast("Any", server), nothing, None, clock=clock
    )


async def test_data_planes_are_told_to_remove_nothing_although_the_database_was_away(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, clock = Database(away=3), ManualClock()
    live = following(settings, database, clock, monkeypatch)
    live.hear(settings.model_copy(update={"allow_delete": False}))
    running = asyncio.create_task(live.run())
    await until(lambda: database.stored, clock)
    assert (database.tries, database.stored) == (4, [False])
    running.cancel()


async def test_what_is_wanted_last_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    database, clock = Database(away=3), ManualClock()
    off = settings.model_copy(update={"allow_delete": False})
    live = following(off, database, clock, monkeypatch)
    live.hear(settings)
    running = asyncio.create_task(live.run())
    await until(lambda: database.tries, clock)
    live.hear(off)
    await until(lambda: len(database.stored) == 2, clock)
    assert set(database.stored) == {False}
    running.cancel()
