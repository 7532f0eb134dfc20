"""Where redirects lead, and what is carried along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.http import Limits, Outbound, Validators
from kurabito.http.errors import BadAnswer, BadStatus

if TYPE_CHECKING:
    from tests.integration.http.conftest import OpenSite, Site

SECRETS = {"Authorization": "Bearer s", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/xml"}


async def test_a_redirect_is_followed_and_the_last_url_is_told(outbound: Outbound, site: Site) -> None:
    site.moves("/a", "/b?c=1", "301 Moved Permanently")
    site.moves("/b", "d", "307 Temporary Redirect")
    site.says("/d", b"here")
    reply = await outbound.get(site.url("/a"))
    assert (reply.content, reply.url) == (b"here", site.url("/d"))


async def test_a_loop_of_redirects_ends(outbound: Outbound, site: Site) -> None:
    site.moves("/a", "/b")
    site.moves("/b", "/a")
    with pytest.raises(BadAnswer, match=r"http://site\.test:\d+/a is one redirect too many: 5 are followed"):
        await outbound.get(site.url("/a"))
    assert site.paths == ["/a", "/b"] * 3


async def test_the_last_redirect_that_is_allowed_is_followed(outbound: Outbound, site: Site) -> None:
    site.moves("/a", "/b")
    site.moves("/b", "/c")
    site.says("/c", b"here")
    assert (await outbound.get(site.url("/a"), limits=Limits(redirects=2))).content == b"here"
    with pytest.raises(BadAnswer):
        await outbound.get(site.url("/a"), limits=Limits(redirects=1))


async def test_secrets_stay_with_the_host_that_they_are_for(outbound: Outbound, site: Site) -> None:
    site.moves("/same", "/here")
    site.moves("/other", site.url("/there", host="other.test"))
    site.says("/here")
    site.says("/there")
    await outbound.get(site.url("/same"), headers=SECRETS)
    await outbound.get(site.url("/other"), headers=SECRETS, trusted=["other.test"])
    same, other = (asked.headers for asked in site.asked if asked.target in ("/here", "/there"))
    assert {name: same.get(name.lower()) for name in SECRETS} == SECRETS
    assert {name: other.get(name.lower()) for name in SECRETS} == dict.fromkeys(SECRETS) | {"Accept": "text/xml"}
    assert other["host"] == f"other.test:{site.port}"
    assert other["user-agent"].startswith("Kurabito/")


async def test_another_port_is_another_host(outbound: Outbound, site: Site, open_site: OpenSite) -> None:
    second = await open_site()
    site.moves("/", second.url("/"))
    second.says("/")
    await outbound.get(site.url(), headers=SECRETS)
    assert "authorization" not in second.asked[0].headers


async def test_a_feed_that_moved_can_still_say_that_nothing_changed(outbound: Outbound, site: Site) -> None:
    site.moves("/", site.url("/feed", host="cdn.test"))
    site.says("/feed", status="304 Not Modified")
    reply = await outbound.get(site.url(), validators=Validators(etag='"v1"'), trusted=["cdn.test"])
    assert reply.not_modified
    assert site.asked[1].headers["if-none-match"] == '"v1"'


async def test_no_cookie_is_kept(outbound: Outbound, site: Site) -> None:
    site.moves("/", "/next", set_cookie="session=1")
    site.says("/next", set_cookie="session=2")
    await outbound.get(site.url())
    await outbound.get(site.url("/next"))
    assert [asked.headers.get("cookie") for asked in site.asked] == [None, None, None]


@pytest.mark.parametrize(
    ("method", "status", "becomes"),
    [
        ("POST", "301 Moved", "GET"),
        ("POST", "302 Found", "GET"),
        ("POST", "303 See Other", "GET"),
        ("POST", "307 Temporary", "POST"),
        ("POST", "308 Permanent", "POST"),
        ("PUT", "302 Found", "PUT"),
        ("PUT", "303 See Other", "GET"),
        ("HEAD", "302 Found", "HEAD"),
        ("GET", "308 Permanent", "GET"),
    ],
)
async def test_the_method_after_a_redirect(
    outbound: Outbound, site: Site, method: str, status: str, becomes: str
) -> None:
    site.moves("/", "/next", status)
    site.says("/next")
    await outbound.request(method, site.url(), content=b"{}" if method in ("POST", "PUT") else None)
    assert site.asked[1].method == becomes
    assert site.asked[1].body == (b"{}" if becomes in ("POST", "PUT") else b"")


async def test_a_body_is_not_sent_on_to_another_host(outbound: Outbound, site: Site) -> None:
    site.moves("/", site.url("/next", host="other.test"), "307 Temporary Redirect")
    with pytest.raises(BadStatus, match=r"POST http://site\.test:\d+/ was answered with 307"):
        await outbound.request("POST", site.url(), json={"password": "x"}, trusted=["other.test"])
    assert site.paths == ["/"]


async def test_a_redirect_to_nonsense_is_an_answer_that_makes_no_sense(outbound: Outbound, site: Site) -> None:
    site.moves("/", "http://[::1/")
    with pytest.raises(BadAnswer, match="not a URL"):
        await outbound.get(site.url())
    site.says("/nowhere", status="302 Found")
    with pytest.raises(BadStatus, match="302"):
        await outbound.get(site.url("/nowhere"))


async def test_a_password_in_a_redirect_is_not_used(outbound: Outbound, site: Site) -> None:
    site.moves("/", f"http://user:pass@site.test:{site.port}/next")
    site.says("/next")
    assert (await outbound.get(site.url())).url == site.url("/next")
    assert "authorization" not in site.asked[1].headers
