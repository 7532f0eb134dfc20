"""The way in and the way out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.web.conftest import Site


@pytest.fixture
def stranger(site: Site) -> Site:
    site.doors.everybody = False
    return site


async def test_a_link_begins_one_session_and_leads_on(stranger: Site) -> None:
    link = await stranger.sessions.new_link()
    answer = await stranger.get(f"/login?token={link}&next=/tasks")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/;" in cookie
    assert "Secure" not in cookie
    assert await stranger.sessions.holder(answer.cookies["kurabito_session"]) is not None
    again = await stranger.get(f"/login?token={link}")
    assert again.status_code == 401
    assert "used before" in again.text
    assert "set-cookie" not in again.headers


async def test_a_password_begins_a_session_and_a_wrong_one_does_not(stranger: Site) -> None:
    await stranger.passwords.set("open sesame")
    assert (await stranger.post("/login", password="open barley")).status_code == 401
    answer = await stranger.post("/login", password="open sesame", next="//evil.test")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "kurabito_session" in answer.cookies


async def test_without_a_password_the_page_says_how_to_come_in(stranger: Site) -> None:
    page = await stranger.get("/login")
    assert 'type="password"' not in page.text
    assert "kurabito user password" in page.text
    assert (await stranger.post("/login", password="")).status_code == 401


async def test_guessing_is_slowed_down_and_the_page_says_for_how_long(stranger: Site) -> None:
    await stranger.passwords.set("open sesame")
    for _ in range(5):
        await stranger.post("/login", password="wrong")
    refused = await stranger.post("/login", password="open sesame")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "Try again in 1 s" in refused.text
    # A link is too long to be guessed, and any page can make a browser ask for one: it neither waits nor counts.
    assert (await stranger.get("/login?token=guess")).status_code == 401
    stranger.clock.advance(1)
    assert (await stranger.post("/login", password="open sesame")).status_code == 303


async def test_dead_links_are_not_held_against_the_keeper(stranger: Site) -> None:
    await stranger.passwords.set("open sesame")
    for number in range(120):
        assert (await stranger.get(f"/login?token={number}")).status_code == 401
    assert (await stranger.post("/login", password="open sesame")).status_code == 303


async def test_many_guesses_sent_at_once_are_slowed_down_too(stranger: Site) -> None:
    await stranger.passwords.set("open sesame")
    answers = await asyncio.gather(*(stranger.post("/login", password=f"guess {n}") for n in range(20)))
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 15


async def test_whoever_comes_in_often_is_not_slowed_down(stranger: Site) -> None:
    links = [await stranger.sessions.new_link() for _ in range(8)]
    assert [(await stranger.get(f"/login?token={link}")).status_code for link in links] == [303] * 8


async def test_leaving_ends_the_session(site: Site) -> None:
    token = await site.sessions.open()
    site.client.cookies.set("kurabito_session", token)
    answer = await site.post("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert await site.sessions.holder(token) is None
    assert 'kurabito_session="";' in answer.headers["set-cookie"]


async def test_whoever_is_in_is_not_asked_again(site: Site) -> None:
    answer = await site.get("/login?next=/system")
    assert (answer.status_code, answer.headers["location"]) == (303, "/system")


@pytest.mark.parametrize("base_path", ["/kurabito"])
async def test_under_a_base_path_the_cookie_and_every_link_stay_below_it(stranger: Site) -> None:
    link = await stranger.sessions.new_link()
    answer = await stranger.get(f"/kurabito/login?token={link}&next=/tasks%3Fstate%3Ddead")
    assert answer.headers["location"] == "/kurabito/tasks?state=dead"
    assert "Path=/kurabito;" in answer.headers["set-cookie"]
