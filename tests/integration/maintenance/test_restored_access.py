"""A copy that is restored lets nobody in whom the present database had shut out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kurabito.access import Keys, Passwords, Sessions, SharedAddresses
from kurabito.db import Database, migrate, open_database
from kurabito.maintenance import backups

NOW = 1_800_000_000_000_000


@asynccontextmanager
async def opened(file: Path) -> AsyncIterator[Database]:
    database = open_database(f"sqlite:///{file}")
    database.open()
    try:
        migrate(database, "runtime")
        migrate(database, "product")
        yield database
    finally:
        database.close()


async def test_what_was_ended_revoked_or_changed_since_stays_so(tmp_path: Path) -> None:
    file, copy = tmp_path / "kurabito.db", tmp_path / "copy.db"
    async with opened(file) as database:
        keys, sessions, addresses = Keys(database), Sessions(database), SharedAddresses(database)
        await Passwords(database).set("the first password")
        leaked, good = await keys.create("leaked", ["write"]), await keys.create("good", ["read"])
        renewed, revoked, kept = [await addresses.create(name) for name in ("renewed", "revoked", "kept")]
        ended, link = await sessions.open(), await sessions.new_link()
        backups.back_up(file, copy)
        await keys.revoke(leaked.key.id)
        again = await addresses.renew(renewed.address.id)
        await addresses.revoke(revoked.address.id)
        await sessions.close(ended)
        assert await sessions.redeem(link)
        await Passwords(database).set("the second password")
    backups.restore(copy, file, NOW)
    async with opened(file) as database:
        keys, sessions, addresses = Keys(database), Sessions(database), SharedAddresses(database)
        assert await keys.holder(leaked.secret) is None
        assert await keys.holder(good.secret) is not None
        assert await sessions.holder(ended) is None
        assert await sessions.redeem(link) is None
        assert not await sessions.all()
        assert [await addresses.holder(one.token) is not None for one in (renewed, revoked, kept, again)] == [
            False,
            False,
            True,
            True,
        ]
        assert await Passwords(database).fits("the second password")
        assert not await Passwords(database).fits("the first password")


async def test_a_copy_of_a_lost_database_has_its_own_password_and_keys(tmp_path: Path) -> None:
    file, copy = tmp_path / "kurabito.db", tmp_path / "copy.db"
    async with opened(file) as database:
        await Passwords(database).set("the first password")
        good, ended = await Keys(database).create("good", ["read"]), await Sessions(database).open()
        backups.back_up(file, copy)
    for lost in (b"", b"SQLite format 3\0" + b"\xff" * 4_000):
        file.write_bytes(lost) if lost else file.unlink()
        backups.restore(copy, file, NOW + len(lost))
        async with opened(file) as database:
            assert await Passwords(database).fits("the first password")
            assert await Keys(database).holder(good.secret) is not None
            assert await Sessions(database).holder(ended) is None


async def test_an_installation_that_was_just_made_keeps_its_password_and_takes_the_keys(tmp_path: Path) -> None:
    file, copy, other = tmp_path / "kurabito.db", tmp_path / "copy.db", tmp_path / "other.db"
    async with opened(other) as database:
        await Passwords(database).set("the first password")
        good = await Keys(database).create("good", ["read"])
        backups.back_up(other, copy)
    async with opened(file) as database:
        await Passwords(database).set("the second password")
    backups.restore(copy, file, NOW)
    async with opened(file) as database:
        assert await Passwords(database).fits("the second password")
        assert await Keys(database).holder(good.secret) is not None
