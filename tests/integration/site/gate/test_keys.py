"""`/api/v1/keys`, as a program and as the page use it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.access import Scope

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House

KEYS = "/api/v1/keys"


async def test_a_key_is_made_used_listed_and_revoked(house: House) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        answer = await browser.post(KEYS, json={"name": "backup", "scopes": ["write", "module"]})
        assert answer.status_code == 201
        made, secret = answer.json()["key"], answer.json()["secret"]
        assert (made["name"], made["scopes"], made["revoked_at"]) == ("backup", ["module", "write"], None)
        async with house.browser(X_Api_Key=secret) as program:
            assert (await program.get("/api/v1/asking")).json()["name"] == "backup"
            listed = (await browser.get(KEYS)).json()
            assert listed == {"items": [{**made, "last_used_at": made["created_at"]}], "next_cursor": None}
            revoked = await browser.delete(f"{KEYS}/{made['id']}")
            assert (revoked.status_code, revoked.json()["revoked_at"]) == (200, made["created_at"])
            assert (await program.get("/api/v1/asking")).status_code == 401
        assert secret not in (await browser.get(KEYS)).text


@pytest.mark.parametrize("key_id", ["00000000", "settings", "%00", "%F0%9F%94%91", "0" * 1000])
async def test_a_key_that_never_was_cannot_be_revoked(house: House, key_id: str) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        answer = await browser.delete(f"{KEYS}/{key_id}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "key_not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["admin"]},
        {"name": "x", "scopes": ["read"], "scope": "write"},
        {"name": "", "scopes": ["read"]},
        {"name": "x" * 101, "scopes": ["read"]},
        {"name": "nul\x00", "scopes": ["read"]},
        {"name": "half \ud800", "scopes": ["read"]},
        {"name": "\x1b[2J", "scopes": ["read"]},
        [],
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(house: House, body: Any) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        answer = await browser.post(KEYS, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")
    assert await house.keys.all() == []


@pytest.mark.parametrize(
    ("own", "wanted", "status"),
    [("write", "read", 201), ("write", "write", 201), ("write", "module", 403), ("read", "read", 403)],
)
async def test_no_key_makes_one_that_may_more_than_itself(house: House, own: str, wanted: str, status: int) -> None:
    async with house.browser(X_Api_Key=await house.key(own)) as browser:
        answer = await browser.post(KEYS, json={"name": "child", "scopes": [wanted]})
    assert answer.status_code == status
    made = [key for key in await house.keys.all() if key.name == "child"]
    assert [key.scopes for key in made] == ([frozenset({Scope(wanted)})] if status == 201 else [])
