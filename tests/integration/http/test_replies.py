"""What is asked, what comes back, and what is never told."""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING

import pytest

from kurabito.http import Limits, Outbound, Validators
from kurabito.http.errors import BadAnswer, BadStatus, HostNotAllowed, OutboundError

if TYPE_CHECKING:
    from tests.integration.http.conftest import Site


async def test_a_feed_is_sent_again_only_when_it_changed(outbound: Outbound, site: Site) -> None:
    site.says(
        "/", b"feed", etag='"v1"', last_modified="Fri, 01 May 2026 12:00:00 GMT", content_type="Text/XML;charset=x"
    )
    site.says("/", status="304 Not Modified", etag='"v1"')
    first = await outbound.get(site.url())
    assert (first.content, first.not_modified, first.content_type) == (b"feed", False, "text/xml")
    second = await outbound.get(site.url(), validators=first.validators)
    assert (second.content, second.not_modified, second.validators.etag) == (b"", True, '"v1"')
    assert site.asked[1].headers["if-none-match"] == '"v1"'
    assert site.asked[1].headers["if-modified-since"] == "Fri, 01 May 2026 12:00:00 GMT"


async def test_nothing_is_asked_on_condition_without_validators(outbound: Outbound, site: Site) -> None:
    site.says("/", b"feed")
    reply = await outbound.get(site.url(), validators=Validators())
    assert reply.validators == Validators()
    assert not {"if-none-match", "if-modified-since"} & set(site.asked[0].headers)


async def test_we_say_who_we_are(outbound: Outbound, site: Site) -> None:
    site.says("/")
    await outbound.get(site.url())
    assert site.asked[0].headers["user-agent"].startswith("Kurabito/0.")


async def test_json_is_sent_and_read(outbound: Outbound, site: Site) -> None:
    site.says("/", '{"名": [1]}'.encode())
    assert await outbound.get_json(site.url()) == {"名": [1]}
    assert site.asked[0].headers["accept"] == "application/json"
    assert (await outbound.request("POST", site.url(), json={"a": 1})).json() == {"名": [1]}
    assert (site.asked[1].headers["content-type"], site.asked[1].body) == ("application/json", b'{"a":1}')


async def test_parameters_are_added_and_a_query_without_any_stays_as_it_is(outbound: Outbound, site: Site) -> None:
    site.says("/", b"{}")
    await outbound.get_json(site.url("/?a=1%2B1"), params={"query": "名 & more"})
    await outbound.get(site.url("/?a=b+c;d&&e=%20"))
    assert site.paths == ["/?a=1%2B1&query=%E5%90%8D+%26+more", "/?a=b+c;d&&e=%20"]


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe\xff", b"[" * 100_000])
async def test_what_is_not_json_makes_no_sense(outbound: Outbound, site: Site, body: bytes) -> None:
    site.says("/", body)
    with pytest.raises(BadAnswer, match=r"http://site\.test:\d+/ did not answer with JSON"):
        await outbound.get_json(site.url("/?key=hunter2"))


async def test_a_password_in_the_url_is_sent_as_such_and_shown_nowhere(outbound: Outbound, site: Site) -> None:
    site.says("/")
    reply = await outbound.get(f"http://me:hunter2@site.test:{site.port}/")
    assert site.asked[0].headers["authorization"] == "Basic bWU6aHVudGVyMg=="
    assert "hunter2" not in reply.url


async def test_secrets_are_in_no_log_and_no_error(
    outbound: Outbound, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kurabito")
    site.says("/rss", b"feed")
    site.says("/gone", status="404 Not Found")
    site.moves("/moved", "http://10.0.0.1/?passkey=hunter2")
    host = f"http://me:hunter2@site.test:{site.port}"
    await outbound.get(f"{host}/rss?passkey=hunter2", headers={"X-Api-Key": "hunter2"})
    for url in (f"{host}/gone?passkey=hunter2", f"{host}/moved?passkey=hunter2", "ftp://me:hunter2@x/?a=hunter2"):
        with pytest.raises(OutboundError) as failed:
            await outbound.get(url)
        assert "hunter2" not in str(failed.value)
    assert "answered" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    "error",
    [HostNotAllowed("nas.local is not fetched from", "nas.local"), BadStatus("was answered with 429", 429, 5.0)],
)
def test_errors_survive_the_way_between_processes(error: OutboundError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


async def test_a_client_that_is_closed_has_no_connection_left(site: Site) -> None:
    site.says("/")
    async with Outbound(private_hosts=["127.0.0.1"]) as outbound:
        await outbound.get(site.url(host="127.0.0.1"), limits=Limits(attempts=1))
        assert [writer.is_closing() for writer in site._writers] == [False]
    await site.left.wait()
