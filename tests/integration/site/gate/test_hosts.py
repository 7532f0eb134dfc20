"""We answer to our own names only: a page whose name was made to lead to us learns nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House, Serving


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8484",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example#localhost",
        "user@localhost",
        "[::1.evil.example]",
        "[::1]evil.example",
        "[::1",
        "[]",
        "localhost:80@evil.example",
        "localhost:evil",
        "192.168.1.5",
        "0.0.0.0",
        "",
    ],
)
async def test_a_strange_host_is_refused_everywhere_even_with_a_good_key(house: House, host: str) -> None:
    secret = await house.key("read")
    for path in ("/health", "/login", "/api/v1/asking"):
        async with house.line() as line:
            await line.say(f"GET {path} HTTP/1.1", f"Host: {host}", f"X-Api-Key: {secret}")
            answer = await line.hear()
        assert (answer.status, answer.code) == (421, "unknown_host"), path


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8484",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:8484",
        "nas.example",
        "NAS.example:443",
    ],
)
async def test_our_own_names_are_answered_with_any_port(serving: Serving, host: str) -> None:
    async with serving(allowed_hosts=["Nas.Example"]) as house, house.line() as line:
        await line.say("GET /health HTTP/1.1", f"Host: {host}")
        assert (await line.hear()).status == 200


async def test_a_request_without_a_host_is_refused(house: House) -> None:
    async with house.line() as line:
        await line.say("GET /health HTTP/1.0")
        assert (await line.hear()).code == "unknown_host"


@pytest.mark.parametrize("listens_on", ["0.0.0.0", "::"])
async def test_listening_everywhere_any_address_is_ours_and_still_no_strange_name(
    serving: Serving, listens_on: str
) -> None:
    async with serving(listens_on=listens_on) as house:
        for host, status in [
            ("192.168.1.5:8484", 200),
            ("[fe80::1]:8484", 200),
            ("evil.example", 421),
            ("1.2.3.4.evil.example", 421),
        ]:
            async with house.line() as line:
                await line.say("GET /health HTTP/1.1", f"Host: {host}")
                assert (await line.hear()).status == status, host


async def test_the_address_we_listen_on_is_ours(serving: Serving) -> None:
    async with serving(listens_on="192.168.1.5") as house, house.browser(Host="192.168.1.5:8484") as browser:
        assert (await browser.get("/health")).status_code == 200
