"""Who comes in: keys with their scopes, sessions while they last, and nobody else."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.access import SESSION_COOKIE
from kurabito.access.sessions import LIFETIME
from kurabito.site.gate import Gate

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House, Serving


@pytest.mark.parametrize("path", ["/health", "/login", "/favicon.ico", "/static/kurabito.css"])
async def test_what_is_open_is_open(house: House, path: str) -> None:
    async with house.browser() as browser:
        assert (await browser.get(path)).status_code == 200


CLOSED = """
    GET /
    HEAD /
    GET /openapi.json
    GET /api/v1/keys
    POST /api/v1/keys
    OPTIONS /api/v1/keys
    DELETE /api/v1/keys/00000000
    POST /services/register
    POST /fetcher-results
    GET /nowhere
    GET /health/
    GET /HEALTH
    GET //health
    GET /login/more
    GET /static
    GET /api/v1/keys?x=/health
"""
"""What is not there, or almost like something open, is not told from what is closed."""


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Api-Key": ""},
        {"X-Api-Key": "wrong"},
        {"Authorization": "Bearer wrong"},
        {"Cookie": f"{SESSION_COOKIE}=wrong"},
        {"Cookie": SESSION_COOKIE},
    ],
)
async def test_everything_else_is_closed_to_strangers(house: House, headers: dict[str, str]) -> None:
    async with house.browser(**headers) as browser:
        for line in CLOSED.strip().splitlines():
            # Wrong keys in a row would have to wait.
            house.clock.advance(3601)
            answer = await browser.request(*line.split())
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "X-Api-Key"), line
            assert "HEAD" in line or answer.json()["error"]["code"] == "not_authenticated"


@pytest.mark.parametrize(
    ("path", "following"),
    [("/", "%2F"), ("/tasks?state=dead&q=a b", "%2Ftasks%3Fstate%3Ddead%26q%3Da%2520b"), ("/metrics", "%2Fmetrics")],
)
async def test_a_person_is_sent_to_the_login(house: House, path: str, following: str) -> None:
    async with house.browser(Accept="text/html,*/*;q=0.8") as browser:
        answer = await browser.get(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/login?next={following}")


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/keys"), ("POST", "/logout"), ("GET", "/api/nowhere")])
async def test_a_program_and_a_form_are_not(house: House, method: str, path: str) -> None:
    async with house.browser(Accept="text/html") as browser:
        assert (await browser.request(method, path)).status_code == 401


@pytest.mark.parametrize(
    ("scopes", "may"),
    [
        (["read"], {"GET /api/v1/asking", "HEAD /"}),
        (["write"], {"GET /api/v1/asking", "HEAD /", "POST /api/v1/bodies"}),
        (["module"], {"POST /services/register", "POST /fetcher-results"}),
    ],
)
async def test_a_key_opens_what_its_scopes_say(house: House, scopes: list[str], may: set[str]) -> None:
    asked = ["GET /api/v1/asking", "HEAD /", "POST /api/v1/bodies", "POST /services/register", "POST /fetcher-results"]
    async with house.browser(X_Api_Key=await house.key(*scopes)) as browser:
        answers = {what: await browser.request(*what.split()) for what in asked}
    assert {what: answer.status_code for what, answer in answers.items()} == {
        what: 200 if what in may else 403 for what in asked
    }
    refused = [answer for answer in answers.values() if answer.status_code == 403 and answer.request.method != "HEAD"]
    assert {answer.json()["error"]["code"] for answer in refused} == {"scope_missing"}


async def test_a_revoked_key_is_refused_from_the_next_request_on(house: House) -> None:
    new = await house.keys.create("backup", ["read"])
    async with house.browser(X_Api_Key=new.secret) as browser:
        assert (await browser.get("/api/v1/asking")).json()["name"] == "backup"
        await house.keys.revoke(new.key.id)
        assert (await browser.get("/api/v1/asking")).status_code == 401


@pytest.mark.parametrize("secret", ["plain", "schlüssel-鍵", "with spaces inside"])
async def test_the_key_of_the_settings_is_taken_as_it_is(serving: Serving, secret: str) -> None:
    async with serving(api_key=secret) as house, house.browser() as browser:
        answer = await browser.get("/api/v1/asking", headers={b"X-Api-Key": secret.encode()})
        assert answer.json()["name"] == "KURABITO_API_KEY"


async def test_a_session_opens_the_pages_and_the_interface(house: House) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        assert (await browser.get("/")).text == "for keeper"
        assert (await browser.get("/login")).text == "for keeper"
        assert (await browser.post("/api/v1/bodies")).status_code == 200
        assert (await browser.post("/services/register")).status_code == 403


async def test_a_session_ends_when_nobody_uses_it(house: House) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        house.clock.advance(LIFETIME - 1)
        assert (await browser.get("/api/v1/asking")).status_code == 200
        house.clock.advance(LIFETIME - 1)
        assert (await browser.get("/api/v1/asking")).status_code == 200
        house.clock.advance(LIFETIME + 1)
        assert (await browser.get("/api/v1/asking")).status_code == 401


async def test_cookies_of_other_programs_on_this_machine_do_no_harm(house: House) -> None:
    own = await house.cookie()
    for cookies in (
        f'prefs={{"a": 1, "b": [2]}}; {own}',
        f"=; ;;;\x7f; x; {own}; kurabito_session_old=1",
        # Of two with our name the browser sends the one with the longer path first.
        f"{own}; {SESSION_COOKIE}=another",
    ):
        async with house.browser(Cookie=cookies) as browser:
            assert (await browser.get("/api/v1/asking")).status_code == 200, cookies


async def test_a_wrong_key_is_refused_though_there_is_a_session(house: House) -> None:
    async with house.browser(Cookie=await house.cookie(), X_Api_Key="wrong") as browser:
        assert (await browser.get("/api/v1/asking")).status_code == 401


async def test_without_its_tables_the_database_lets_nobody_in_and_health_still_answers(house: House, url: str) -> None:
    secret = await house.key("read")
    with sqlite3.connect(Path(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("DROP TABLE api_keys")
    connection.close()
    async with house.browser(X_Api_Key=secret) as browser:
        assert (await browser.get("/health")).status_code == 200
        answer = await browser.get("/api/v1/asking")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "api_keys" not in answer.text


async def test_nobody_speaks_websocket_here(house: House) -> None:
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def silence(*_: Any) -> Any:
        raise AssertionError("nothing is read, and the site hears nothing")

    doors = Gate(silence, keys=house.keys, sessions=house.sessions, listens_on="127.0.0.1")
    await doors({"type": "websocket", "path": "/health", "headers": []}, silence, send)
    assert said == [{"type": "websocket.close", "code": 1008}]


async def test_wrong_keys_in_a_row_have_to_wait_longer_each_time(house: House) -> None:
    good = await house.key("read")
    async with house.browser() as browser:
        waits = []
        for number in range(9):
            refused = await browser.get("/api/v1/asking", headers={"X-Api-Key": f"wrong {number}"})
            waits.append(int(refused.headers.get("retry-after", "0")))
            house.clock.advance(waits[-1] if refused.status_code == 429 else 0)
        assert waits == [0, 0, 0, 0, 0, 1, 0, 2, 0]
        assert (await browser.get("/api/v1/asking", headers={"X-Api-Key": "wrong"})).status_code == 429
        # A key that was made here cannot be guessed, so its owner does not wait for the mistakes of others.
        assert (await browser.get("/api/v1/asking", headers={"X-Api-Key": good})).status_code == 200


@pytest.mark.parametrize("by", ["key", "session"])
async def test_a_stream_ends_with_the_key_or_session_that_opened_it(house: House, by: str) -> None:
    made, token = await house.keys.create("a program", ["read"]), await house.sessions.open()
    headers = {"X_Api_Key": made.secret} if by == "key" else {"Cookie": f"{SESSION_COOKIE}={token}"}
    async with house.browser(**headers) as browser, browser.stream("GET", "/api/v1/streams") as answer:
        assert answer.status_code == 200
        pieces = answer.aiter_lines()
        # It goes on as long as its caller may come in.
        for _ in range(5):
            while await anext(pieces) != ": still here":
                pass
        if by == "key":
            await house.keys.revoke(made.key.id)
        else:
            await house.sessions.close(token)
        async with asyncio.timeout(PATIENCE):
            async for _ in pieces:
                pass
        assert (await browser.get("/api/v1/asking")).status_code == 401
