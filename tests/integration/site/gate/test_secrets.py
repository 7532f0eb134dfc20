"""No secret is in the database or in the log, whatever was done with it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito import logs
from kurabito.access import SESSION_COOKIE, Passwords
from kurabito.db import Connection, Database, Dialect

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import Serving

FIXED = "the-key-of-the-settings"
SHARED = "the-secret-part-of-a-shared-address"
PASSWORD = "correct horse battery"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that is logged, at the most talkative level."""
    names = ("kurabito", "uvicorn", "asyncio")
    before = {name: (logging.getLogger(name).level, logging.getLogger(name).propagate) for name in names}
    stream = io.StringIO()
    logs.configure(format="json", level="debug", stream=stream)
    yield stream
    for name, (level, propagate) in before.items():
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(level)
        logger.propagate = propagate


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"migrated_{request.param}"))


def everything(conn: Connection) -> str:
    """Every row of every table."""
    tables = {
        Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE type = 'table'",
        Dialect.POSTGRES: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    }
    names = [name for (name,) in conn.all(tables[conn.dialect])]
    assert {"api_keys", "passwords", "sessions", "login_links"} <= set(names)
    return str({name: conn.all(f"SELECT * FROM {name}") for name in names})


async def test_no_secret_is_kept_or_logged(
    serving: Serving, database: Database, log: io.StringIO, tmp_path: Path
) -> None:
    async with serving(api_key=FIXED) as house:
        await Passwords(database).set(PASSWORD)
        new = await house.keys.create("backup", ["read"])
        unused = await house.sessions.new_link()
        link = await house.sessions.new_link()
        session = await house.sessions.redeem(link)
        assert session is not None
        for headers in (
            {"X-Api-Key": new.secret},
            {"X-Api-Key": FIXED},
            {"Cookie": f"{SESSION_COOKIE}={session}"},
        ):
            async with house.browser(**headers) as browser:
                assert (await browser.get("/api/v1/asking")).status_code == 200
                # Refused for another reason, which is logged.
                await browser.post("/services/register", headers={"Origin": "https://evil.example"})
                await browser.get(f"/tasks?token={link}&password={PASSWORD}", headers={"X-Api-Key": "wrong"})
                await browser.get(f"/login?token={link}")
                # Unknown to this site; at another it may be good.
                await browser.post(f"/shared/{SHARED}/calendar.ics", headers={"Origin": "https://evil.example"})
    written = log.getvalue()
    assert '"refused"' in written
    kept = database.read_blocking(everything)
    assert new.key.id in kept
    for file in tmp_path.glob("migrated.db*"):
        kept += file.read_bytes().decode("latin-1")
    for secret in (new.secret, new.secret.split("_", 2)[2], FIXED, PASSWORD, SHARED, link, unused, session):
        assert secret not in kept
        assert secret not in written
