"""Every answer, good or bad, tells browsers what to refrain from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House

ALWAYS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/health", {}, 200),
        ("/static/kurabito.css", {}, 200),
        ("/nowhere", {}, 404),
        ("/", {"X-Api-Key": "wrong"}, 401),
        ("/", {"X-Api-Key": "wrong", "Accept": "text/html"}, 303),
        ("/", {"Host": "evil.example"}, 421),
    ],
)
async def test_the_headers_are_on_every_answer(house: House, path: str, headers: dict[str, str], status: int) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        answer = await browser.get(path, headers=headers)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/", "no-store"),
        ("/api/v1/keys", "no-store"),
        ("/nowhere", "no-store"),
        ("/login", "no-store"),
        ("/kept", "private, max-age=60"),
        ("/static/kurabito.css", None),
    ],
)
async def test_no_cache_keeps_what_is_somebodys_unless_the_route_says_so(
    house: House, path: str, kept: str | None
) -> None:
    async with house.browser(Cookie=await house.cookie()) as browser:
        assert (await browser.get(path)).headers.get("Cache-Control") == kept


async def test_a_refusal_is_not_kept_either(house: House) -> None:
    async with house.browser() as browser:
        assert (await browser.get("/kept")).headers["Cache-Control"] == "no-store"
