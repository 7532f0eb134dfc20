"""People come in with a password or a link, and stay for as long as they come back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kurabito.access import Passwords, Scope, Sessions
from kurabito.access.sessions import LIFETIME
from kurabito.clock import ManualClock
from kurabito.db import Database, open_database
from kurabito.errors import ConfigError, InvalidInput


async def test_a_session_is_the_keepers(database: Database) -> None:
    sessions = Sessions(database)
    holder = await sessions.holder(await sessions.open())
    assert holder is not None
    assert holder.may(Scope.READ)
    assert holder.may(Scope.WRITE)


async def test_a_session_ends_when_it_is_closed_and_the_others_go_on(database: Database) -> None:
    sessions = Sessions(database)
    one, other = await sessions.open(), await sessions.open()
    await sessions.close(one)
    assert await sessions.holder(one) is None
    assert await sessions.holder(other) is not None


async def test_a_session_that_is_used_lasts_and_one_that_is_not_ends(database: Database, clock: ManualClock) -> None:
    sessions = Sessions(database)
    used, forgotten = await sessions.open(), await sessions.open()
    clock.advance(LIFETIME - 1)
    assert await sessions.holder(used) is not None
    clock.advance(2)
    assert await sessions.holder(used) is not None
    assert await sessions.holder(forgotten) is None


async def test_a_link_begins_one_session(database: Database) -> None:
    sessions = Sessions(database)
    link = await sessions.new_link()
    token = await sessions.redeem(link)
    assert token is not None
    assert await sessions.holder(token) is not None
    assert await sessions.redeem(link) is None


async def test_of_many_who_redeem_a_link_at_once_one_comes_in(database: Database) -> None:
    sessions = Sessions(database)
    link = await sessions.new_link()
    tokens = await asyncio.gather(*(sessions.redeem(link) for _ in range(10)))
    assert len([token for token in tokens if token is not None]) == 1


async def test_a_link_redeemed_over_two_connections_at_once_begins_one_session(
    database: Database, url: str, clock: ManualClock
) -> None:
    other = open_database(url, clock=clock)
    other.open()
    try:
        for _ in range(10):
            link = await Sessions(database).new_link()
            tokens = await asyncio.gather(Sessions(database).redeem(link), Sessions(other).redeem(link))
            assert len([token for token in tokens if token is not None]) == 1
    finally:
        other.close()


async def test_a_link_is_good_for_a_day(database: Database, clock: ManualClock) -> None:
    sessions = Sessions(database)
    in_time, too_late = await sessions.new_link(), await sessions.new_link()
    clock.advance(86_399)
    assert await sessions.redeem(in_time) is not None
    clock.advance(1)
    assert await sessions.redeem(too_late) is None


@pytest.mark.parametrize("token", ["", "nonsense", "\ud800", "' OR 1=1 --"])
async def test_what_is_no_token_is_nobodys(database: Database, token: str) -> None:
    sessions = Sessions(database)
    await sessions.open()
    assert await sessions.holder(token) is None
    assert await sessions.redeem(token) is None


async def test_tokens_are_nowhere_in_the_database(database: Database) -> None:
    sessions = Sessions(database)
    token, link = await sessions.open(), await sessions.new_link()
    stored = database.read_blocking(
        lambda conn: str(conn.all("SELECT * FROM sessions") + conn.all("SELECT * FROM login_links"))
    )
    assert token not in stored
    assert link not in stored


async def test_the_password_fits_and_no_other_does(database: Database) -> None:
    passwords = Passwords(database)
    assert not await passwords.is_set()
    assert not await passwords.fits("correct horse")
    await passwords.set("correct horse")
    assert await passwords.is_set()
    assert await passwords.fits("correct horse")
    assert not await passwords.fits("correct horsf")
    assert not await passwords.fits("")
    assert not await passwords.fits("\ud800")


async def test_a_new_password_ends_every_session_and_link(database: Database) -> None:
    sessions, passwords = Sessions(database), Passwords(database)
    token, link = await sessions.open(), await sessions.new_link()
    await passwords.set("correct horse")
    assert await sessions.holder(token) is None
    assert await sessions.redeem(link) is None
    await passwords.set("battery staple")
    assert not await passwords.fits("correct horse")
    assert await passwords.fits("battery staple")


async def test_the_password_is_nowhere_in_the_database(database: Database) -> None:
    await Passwords(database).set("correct horse")
    stored = str(database.read_blocking(lambda conn: conn.all("SELECT * FROM passwords")))
    assert "scrypt$" in stored
    assert "correct horse" not in stored


@pytest.mark.parametrize("password", ["", "seven77", "x" * 1001])
async def test_a_password_that_protects_nothing_is_refused(database: Database, password: str) -> None:
    with pytest.raises(InvalidInput, match="password"):
        await Passwords(database).set(password)


async def test_a_password_file_goes_before_the_database(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from the file\n", encoding="utf-8")
    await Passwords(database).set("from the database")
    passwords = Passwords(database, file=file)
    assert await passwords.is_set()
    assert await passwords.fits("from the file")
    assert not await passwords.fits("from the database")


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
async def test_a_password_file_that_cannot_be_used_is_a_clear_error(
    database: Database, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match="password file"):
        await Passwords(database, file=file).fits("anything")
