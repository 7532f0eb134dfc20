"""Pages of other sites cannot use the keeper's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House

FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://[broken"},
    {"Origin": "http://kura.localhost"},
    # Another port of this machine is another program.
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:8484"},
]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_what_another_page_sends_changes_nothing(house: House, headers: dict[str, str]) -> None:
    async with house.browser(Cookie=await house.cookie(), Host="localhost:8484") as browser:
        wanted = {"name": "x", "scopes": ["read"]}
        answer = await browser.post("/api/v1/keys", json=wanted, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_origin")
        answer = await browser.delete("/api/v1/keys/00000000", headers=headers)
        assert answer.json()["error"]["code"] == "foreign_origin"
    assert await house.keys.all() == []


async def test_another_page_cannot_try_to_log_in(house: House) -> None:
    async with house.browser(Host="localhost:8484") as browser:
        for headers in FOREIGN:
            assert (await browser.post("/login", headers=headers)).status_code == 403, headers


async def test_another_page_cannot_listen_to_events(house: House) -> None:
    async with house.browser(Cookie=await house.cookie(), Host="localhost:8484", Accept="text/event-stream") as browser:
        for headers in FOREIGN:
            assert (await browser.get("/api/v1/events", headers=headers)).status_code == 403, headers


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("localhost:8484", {"Origin": "http://localhost:8484"}),
        ("localhost:8484", {"Origin": "http://LOCALHOST:8484", "Sec-Fetch-Site": "same-origin"}),
        ("localhost:8484", {"Sec-Fetch-Site": "none"}),
        # Browsers leave a default port out, proxies may add it.
        ("localhost:443", {"Origin": "https://localhost"}),
        ("localhost", {"Origin": "http://localhost"}),
        # No browser.
        ("localhost:8484", {}),
    ],
)
async def test_our_own_page_and_programs_may(house: House, host: str, headers: dict[str, str]) -> None:
    async with house.browser(Cookie=await house.cookie(), Host=host) as browser:
        assert (await browser.post("/api/v1/bodies", headers=headers)).status_code == 200
        events = await browser.get("/api/v1/events", headers={**headers, "Accept": "text/event-stream"})
        assert events.status_code == 200


async def test_a_link_on_another_page_may_lead_here(house: House) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        assert (await browser.get("/", headers={"Sec-Fetch-Site": "cross-site"})).text == "for keeper"
