"""`kurabito dataplane` alone."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE, Until

from kurabito.db import open_database
from kurabito.protocol import planes
from kurabito.runtime import open_queue

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands


def living(commands: Commands) -> list[planes.PlaneRecord]:
    database = open_database(f"sqlite:///{commands.state / 'kurabito.db'}", create=False)
    database.open()
    try:
        return database.read_blocking(planes.living)
    finally:
        database.close()


def test_it_says_that_it_lives_and_leaves_when_told(commands: Commands, until: Until) -> None:
    assert commands.run("db", "migrate").returncode == 0
    with commands.started("dataplane") as (process, log):
        until(lambda: living(commands))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0
    assert living(commands) == []
    assert "Traceback" not in log.read_text()


def test_once_it_leaves_when_there_is_nothing_to_do(commands: Commands) -> None:
    assert commands.run("db", "migrate").returncode == 0
    assert commands.run("dataplane", "--once").returncode == 0
    assert living(commands) == []


def test_it_makes_no_database_of_its_own(commands: Commands) -> None:
    outcome = commands.run("dataplane", "--once")
    assert outcome.returncode == 1
    assert outcome.stderr.splitlines()[-1].startswith("error: there is no database at ")
    assert not commands.state.exists()


def test_it_leaves_migrations_to_others(commands: Commands) -> None:
    commands.state.mkdir()

    async def make() -> None:
        async with open_queue(f"sqlite:///{commands.state / 'kurabito.db'}"):
            pass

    asyncio.run(make())
    outcome = commands.run("dataplane", "--once")
    assert outcome.returncode == 1
    assert "the database lacks 0001_access, 0002_data_planes" in outcome.stderr
