"""Services register themselves, and fetchers among them read feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from kurabito.api import Live, TaskMeter
from kurabito.app.compose.feeds import FeedParts
from kurabito.app.product import open_product
from kurabito.app.site import build_site, open_access
from kurabito.clock import ManualClock, to_datetime
from kurabito.errors import InvalidInput
from kurabito.feeds.subscriptions import StartWith, SubscriptionSettings
from kurabito.feeds.tasks import FetchResult, FetchTask
from kurabito.modules.download_types import DownloadType
from kurabito.modules.errors import ModuleConflict, ModuleNotFound
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.feeds.conftest import FeedSite, Kept, OpenSite

KEY = "a key for the tests"
TOKEN = "a secret of the service"


def downloader(site: FeedSite, name: str = "qb", *types: DownloadType, instance: str = "first") -> Registration:
    return Registration(
        service_type=ServiceType.DOWNLOADER,
        service_name=name,
        host="127.0.0.1",
        port=site.port,
        instance_id=instance,
        token=TOKEN,
        capabilities=Capabilities(download_endpoint="/downloads", supported_download_types=types),
    )


def body_of(site: FeedSite, **given: Any) -> dict[str, Any]:
    return {
        "service_type": "fetcher",
        "service_name": "mikanani",
        "host": "127.0.0.1",
        "port": site.port,
        "instance_id": "first",
        "token": TOKEN,
        "capabilities": {"fetch_endpoint": "/v1/fetch", "supported_download_types": []},
        **given,
    }


@pytest.fixture
async def http(queue: SqlQueue, feeds: FeedParts, tmp_path: Any) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(api_key=KEY, state=tmp_path)
    access = open_access(settings, queue.database)
    parts = open_product(settings, queue, feeds=feeds)
    site = build_site(settings, parts, access, Live(queue), TaskMeter(), started=to_datetime(0))
    transport = httpx2.ASGITransport(app=site)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers={"X-Api-Key": KEY}) as http:
        yield http


async def test_who_registers_again_says_everything_anew_but_what_its_user_decided(
    feeds: FeedParts, site: FeedSite, kept: Kept, clock: ManualClock
) -> None:
    services = feeds.services
    first = await services.register(downloader(site, "qb", DownloadType.MAGNET, DownloadType.TORRENT))
    await services.change(first.id, priority=80, is_enabled=False)
    clock.advance(60)
    again = await services.register(downloader(site, "qb", DownloadType.HTTP, DownloadType.HTTP, instance="second"))
    assert (again.id, again.priority, again.is_enabled) == (first.id, 80, False)
    assert again.registered_at > first.registered_at
    assert again.registration.capabilities.supported_download_types == (DownloadType.HTTP,)
    assert await kept.all("SELECT count(*) FROM downloader_capabilities") == [(1,)]


async def test_the_downloader_to_ask_first_is_the_one_with_the_highest_priority(
    feeds: FeedParts, site: FeedSite
) -> None:
    services = feeds.services
    ids = {
        name: (await services.register(downloader(site, name, *types))).id
        for name, types in {
            "b": (DownloadType.MAGNET,),
            "a": (DownloadType.MAGNET, DownloadType.HTTP),
            "c": (DownloadType.MAGNET,),
            "off": (DownloadType.MAGNET,),
        }.items()
    }
    await services.change(ids["c"], priority=51)
    await services.change(ids["off"], is_enabled=False)
    able = await services.able_to(DownloadType.MAGNET)
    assert [service.registration.service_name for service in able] == ["c", "b", "a"]
    assert [service.id for service in await services.able_to(DownloadType.HTTP)] == [ids["a"]]
    assert await services.able_to(DownloadType.TORRENT) == []


async def test_a_name_belongs_to_whoever_has_it_and_answers(
    feeds: FeedParts, site: FeedSite, open_site: OpenSite
) -> None:
    services, other = feeds.services, await open_site()
    site.put(path="/health", status="404 Not Found")
    first = await services.register(downloader(site))
    with pytest.raises(ModuleConflict, match="stop that one, or give this one another name"):
        await services.register(downloader(other, instance="second"))
    assert (await services.get(first.id)).registration == downloader(site)
    # A viewer of the same name is another service.
    assert (await services.register(replace(downloader(other), service_type=ServiceType.VIEWER))).id != first.id
    await site.close()
    taken = await services.register(downloader(other, instance="second"))
    assert (taken.id, taken.registration.port) == (first.id, other.port)


async def test_what_would_lead_elsewhere_is_refused(feeds: FeedParts, site: FeedSite, kept: Kept) -> None:
    wrong: list[tuple[str, Any]] = [
        ("host", "evil.example/x"),
        ("host", "user@evil.example"),
        ("port", 0),
        ("token", "two\nlines"),
        ("service_name", ""),
        ("fetch_endpoint", "//evil.example/fetch"),
        ("fetch_endpoint", "http://evil.example/fetch"),
        ("fetch_endpoint", "/fetch?x=@evil"),
    ]
    for field, value in wrong:
        given = {"capabilities": Capabilities(fetch_endpoint=value)} if field == "fetch_endpoint" else {field: value}
        with pytest.raises(InvalidInput, match=f"^{field}:"):
            await feeds.services.register(replace(downloader(site), **given))
    assert await kept.all("SELECT service_name FROM service_modules") == []


async def test_a_fetcher_is_handed_the_feed_and_told_where_to_send_what_it_finds(
    feeds: FeedParts, site: FeedSite, http: httpx2.AsyncClient, kept: Kept
) -> None:
    registered = await http.post("/services/register", json=body_of(site))
    assert registered.status_code == 201
    module_id = registered.json()["service_id"]
    site.put(b'{"accepted": true, "message": "soon"}', "/v1/fetch")
    settings = SubscriptionSettings(name="Kura", url="https://feeds.example/rss", module_id=module_id)
    subscription = await feeds.subscriptions.create(settings, StartWith.MISSING)
    assert await feeds.tasks.fetch(FetchTask(subscription.id)) == FetchResult(changed=False, handed_to="mikanani")
    (asked,) = site.asked
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.json == {
        "subscription_id": subscription.id,
        "rss_url": "https://feeds.example/rss",
        "callback_url": "http://core.example/fetcher-results",
    }
    item = {
        "title": "[Kura] Yoru - 01",
        "description": None,
        "download_url": "https://feeds.example/1.torrent",
        "pub_date": None,
    }
    sent = {
        "subscription_id": subscription.id,
        "items": [item],
        "fetcher_source": "mikanani",
        "success": True,
        "error_message": None,
    }
    answer = await http.post("/fetcher-results", json=sent)
    assert (answer.status_code, answer.json()["items_parsed"]) == (200, 1)
    assert await kept.links() == ["https://feeds.example/1.torrent"]


async def test_a_fetcher_that_does_not_take_a_feed_is_an_error_of_the_feed(
    feeds: FeedParts, site: FeedSite, http: httpx2.AsyncClient
) -> None:
    module_id = (await http.post("/services/register", json=body_of(site))).json()["service_id"]
    settings = SubscriptionSettings(name="Kura", url="https://feeds.example/rss", module_id=module_id)
    subscription = await feeds.subscriptions.create(settings)
    answers = [
        (b'{"accepted": false, "message": "busy"}', "200 OK", "fetcher_refused"),
        (b"[]", "200 OK", "fetcher_refused"),
        (b"", "503 Unavailable", "bad_status"),
        (b"", "307 Elsewhere", "bad_answer"),
    ]
    for failures, (answer, status, code) in enumerate(answers, 1):
        site.put(answer, "/v1/fetch", status, location=site.url("/steal"))
        with pytest.raises(PermanentError, match=code):
            await feeds.tasks.fetch(FetchTask(subscription.id))
        health = (await feeds.subscriptions.get(subscription.id)).health
        assert (health.failures, health.error_code) == (failures, code)
    assert {asked.path for asked in site.asked} == {"/v1/fetch"}


async def test_services_over_http_never_show_their_token(site: FeedSite, http: httpx2.AsyncClient) -> None:
    first = await http.post("/services/register", json=body_of(site, capabilities={"new": 1}, later="unknown"))
    assert set(first.json()) == {"service_id", "registered_at"}
    path = f"/api/v1/services/{first.json()['service_id']}"
    listed = await http.get("/api/v1/services?limit=1")
    assert [one["service_name"] for one in listed.json()["items"]] == ["mikanani"]
    assert listed.json()["next_cursor"] is None
    changed = await http.patch(path, json={"priority": 7, "is_enabled": False})
    assert (changed.json()["priority"], changed.json()["is_enabled"]) == (7, False)
    refused = await http.post("/services/register", json=body_of(site, token=TOKEN * 100))
    assert refused.status_code == 422
    for answer in (first, listed, changed, refused):
        assert TOKEN not in answer.text
    assert (await http.delete(path)).status_code == 204
    assert (await http.delete(path)).json()["error"]["code"] == ModuleNotFound.code


async def test_registering_takes_a_key_of_a_module(
    site: FeedSite, http: httpx2.AsyncClient, queue: SqlQueue, tmp_path: Any
) -> None:
    keys = open_access(Settings(state=tmp_path), queue.database).keys
    for scope, status in (("read", 403), ("module", 201)):
        secret = (await keys.create(scope, [scope])).secret
        answer = await http.post("/services/register", json=body_of(site), headers={"X-Api-Key": secret})
        assert answer.status_code == status


async def test_subscriptions_over_http(site: FeedSite, http: httpx2.AsyncClient, feeds: FeedParts) -> None:
    site.put(site.feed(1, 2))
    refused = await http.post("/api/v1/subscriptions/preview", json={"url": site.url()})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "host_not_allowed")
    preview = await http.post("/api/v1/subscriptions/preview", json={"url": site.url(), "allows_private": True})
    offers = preview.json()["items"]
    assert [(one["key"], one["release"]["episodes"], one["series_id"], one["reason"]) for one in offers] == [
        ("kura-2", [2.0], None, None),
        ("kura-1", [1.0], None, None),
    ]
    order = {"url": site.url(), "allows_private": True, "start_with": "chosen", "chosen": [offers[0]["key"]]}
    created = await http.post("/api/v1/subscriptions", json=order)
    assert created.status_code == 201
    subscription = created.json()
    assert (subscription["name"], subscription["new_series"]) == (f"127.0.0.1:{site.port}", "ask")
    path = f"/api/v1/subscriptions/{subscription['id']}"
    assert (await http.post("/api/v1/subscriptions", json=order)).status_code == 409
    fetching = await http.post(path + "/fetch")
    assert (fetching.status_code, fetching.json()["task"]["task_type"]) == (202, "feeds.fetch")
    await feeds.tasks.fetch(FetchTask(subscription["id"]))
    read = (await http.get(path)).json()
    assert (subscription["health"], read["health"], read["last_success_at"] is None) == ("new", "healthy", False)
    assert [one["title"] for one in (await http.get("/api/v1/links")).json()["items"]] == [offers[0]["title"]]
    changed = await http.patch(
        path, json={"name": "Yoru", "is_enabled": False, "fetch_interval": 600, "new_series": "add"}
    )
    assert [changed.json()[name] for name in ("name", "is_enabled", "fetch_interval", "new_series", "allows_private")] == [
        "Yoru", False, 600.0, "add", True,
    ]  # fmt: skip
    for wrong in ({"fetch_interval": 1}, {"url": "file:///etc/passwd"}, {"start_with": "now"}, {"name": ""}):
        assert (await http.patch(path, json=wrong)).status_code == 422
    assert [one["id"] for one in (await http.get("/api/v1/subscriptions")).json()["items"]] == [subscription["id"]]
    assert (await http.delete(path)).status_code == 204
    assert (await http.get(path)).json()["error"]["code"] == "subscription_not_found"
