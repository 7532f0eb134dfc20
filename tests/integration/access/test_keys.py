"""Programs come in with keys."""

from __future__ import annotations

import pytest

from kurabito.access import Keys, Scope
from kurabito.access.errors import KeyNotFound
from kurabito.clock import ManualClock
from kurabito.db import Database
from kurabito.errors import InvalidInput


async def test_whoever_has_the_secret_is_known_with_name_and_rights(database: Database) -> None:
    keys = Keys(database)
    new = await keys.create("backup script", ["read"])
    holder = await keys.holder(new.secret)
    assert holder is not None
    assert (holder.name, holder.key_id) == ("backup script", new.key.id)
    assert holder.may(Scope.READ)
    assert not holder.may(Scope.WRITE)
    assert not holder.may(Scope.MODULE)


@pytest.mark.parametrize(
    ("scopes", "may"),
    [
        (["write"], {Scope.READ, Scope.WRITE}),
        (["module"], {Scope.MODULE}),
        (["read", "module"], {Scope.READ, Scope.MODULE}),
    ],
)
async def test_writing_includes_reading_and_nothing_else_is_included(
    database: Database, scopes: list[str], may: set[Scope]
) -> None:
    keys = Keys(database)
    holder = await keys.holder((await keys.create("some", scopes)).secret)
    assert holder is not None
    assert {scope for scope in Scope if holder.may(scope)} == may


async def test_a_revoked_key_is_refused_at_once_and_stays_listed(database: Database, clock: ManualClock) -> None:
    keys = Keys(database)
    old = await keys.create("old", ["read"])
    clock.advance(1)
    new = await keys.create("new", ["read"])
    await keys.revoke(old.key.id)
    assert await keys.holder(old.secret) is None
    assert await keys.holder(new.secret) is not None
    listed = await keys.all()
    assert [(key.name, key.revoked_at is None) for key in listed] == [("new", True), ("old", False)]


async def test_revoking_twice_changes_nothing(database: Database, clock: ManualClock) -> None:
    keys = Keys(database)
    new = await keys.create("some", ["read"])
    first = await keys.revoke(new.key.id)
    clock.advance(60)
    assert await keys.revoke(new.key.id) == first


async def test_a_key_that_never_was_cannot_be_revoked(database: Database) -> None:
    with pytest.raises(KeyNotFound, match="key list"):
        await Keys(database).revoke("00000000")


async def test_the_secret_is_nowhere_in_the_database(database: Database) -> None:
    new = await Keys(database).create("some", ["read"])
    rows = database.read_blocking(lambda conn: conn.all("SELECT * FROM api_keys"))
    assert new.secret.split("_", 2)[2] not in str(rows)


async def test_its_last_use_is_noted_by_the_minute(database: Database, clock: ManualClock) -> None:
    keys = Keys(database)
    new = await keys.create("some", ["read"])
    await keys.holder(new.secret)
    (first,) = await keys.all()
    clock.advance(59)
    await keys.holder(new.secret)
    assert await keys.all() == [first]
    clock.advance(2)
    await keys.holder(new.secret)
    (later,) = await keys.all()
    assert first.last_used_at is not None
    assert later.last_used_at is not None
    assert (later.last_used_at - first.last_used_at).total_seconds() == 61


async def test_the_key_of_the_settings_is_taken_as_it_is(database: Database) -> None:
    keys = Keys(database, fixed="geheim-ß")
    holder = await keys.holder("geheim-ß")
    assert holder is not None
    assert all(holder.may(scope) for scope in Scope)
    assert await keys.holder("geheim") is None
    assert await Keys(database).holder("geheim-ß") is None


@pytest.mark.parametrize("secret", ["", "kura__", "kura_00000000_x", "' OR 1=1 --", "\x00", "\ud800"])
async def test_what_is_no_secret_opens_nothing(database: Database, secret: str) -> None:
    assert await Keys(database, fixed="other").holder(secret) is None


@pytest.mark.parametrize(
    ("name", "scopes", "field"),
    [
        ("", ["read"], "name"),
        ("   ", ["read"], "name"),
        ("x" * 101, ["read"], "name"),
        ("x", [], "scopes"),
        ("x", ["admin"], "scopes"),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused_by_its_field(
    database: Database, name: str, scopes: list[str], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await Keys(database).create(name, scopes)
    assert refused.value.field == field
    assert await Keys(database).all() == []


@pytest.mark.parametrize("name", ["nul\x00", "line\nbreak", "\x1b[2J", "half \ud800"])
async def test_a_name_that_a_terminal_or_a_database_would_choke_on_is_refused(database: Database, name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        await Keys(database).create(name, ["read"])


@pytest.mark.parametrize("key_id", ["", "nul\x00", "half \ud800", "0" * 9])
async def test_what_is_no_id_is_no_key(database: Database, key_id: str) -> None:
    with pytest.raises(KeyNotFound):
        await Keys(database).revoke(key_id)
