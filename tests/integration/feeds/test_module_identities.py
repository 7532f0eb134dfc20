"""A module is one name, one type and one key; the core calls it where it is and nowhere else."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from kurabito.access import Keys
from kurabito.api import Live, TaskMeter
from kurabito.app.compose.feeds import FeedParts, open_feeds
from kurabito.app.product import open_product
from kurabito.app.site import build_site, open_access
from kurabito.clock import to_datetime
from kurabito.feeds.subscriptions import StartWith, SubscriptionSettings
from kurabito.http import Outbound
from kurabito.modules.download_types import DownloadType
from kurabito.modules.identities import Caller
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.feeds.conftest import FeedSite, Kept

OWNER = "the key of the settings"


def body(name: str = "mikanani", host: str = "127.0.0.1", kind: str = "fetcher", port: int = 9) -> dict[str, Any]:
    return {
        "service_type": kind,
        "service_name": name,
        "host": host,
        "port": port,
        "instance_id": "first",
        "token": "a secret",
        "capabilities": {"supported_download_types": ["magnet"]},
    }


class Modules:
    """Modules at other machines, each with a key of its own."""

    def __init__(self, queue: SqlQueue, feeds: FeedParts, folder: Path) -> None:
        chosen = Settings(api_key=OWNER, state=folder)
        access = open_access(chosen, queue.database)
        parts = open_product(chosen, queue, feeds=feeds)
        self.keys: Keys = access.keys
        self.site = build_site(chosen, parts, access, Live(queue), TaskMeter(), started=to_datetime(0))

    async def key(self, name: str) -> str:
        return (await self.keys.create(name, ["module"])).secret

    @asynccontextmanager
    async def at(self, address: str, secret: str) -> AsyncIterator[httpx2.AsyncClient]:
        transport = httpx2.ASGITransport(app=self.site, client=(address, 5))
        headers = {"X-Api-Key": secret}
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
            yield http

    async def register(self, secret: str, address: str = "127.0.0.1", **given: Any) -> httpx2.Response:
        async with self.at(address, secret) as http:
            return await http.post("/services/register", json=body(**given))


@pytest.fixture
async def modules(queue: SqlQueue, feeds: FeedParts, tmp_path: Path) -> Modules:
    return Modules(queue, feeds, tmp_path)


async def test_a_key_registers_one_module_and_a_module_has_one_key(modules: Modules) -> None:
    first, second = await modules.key("first"), await modules.key("second")
    assert (await modules.register(first)).status_code == 201
    assert (await modules.register(first)).status_code == 201
    for given in ({"name": "other"}, {"kind": "downloader"}):
        refused = await modules.register(first, **given)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_of_another_module")
        assert "belongs to the fetcher 'mikanani'" in refused.json()["error"]["message"]
        assert "kurabito key create" in refused.json()["error"]["message"]
    taken = await modules.register(second)
    assert taken.status_code == 403
    assert "belongs to another key, 'first'" in taken.json()["error"]["message"]
    # What was refused has bound nothing.
    assert (await modules.register(second, name="other")).status_code == 201
    # A key that is revoked lets its module go; its owner's own key speaks for any.
    (key,) = [key for key in await modules.keys.all() if key.name == "first"]
    await modules.keys.revoke(key.id)
    third = await modules.key("third")
    assert (await modules.register(third)).status_code == 201
    assert (await modules.register(OWNER)).status_code == 201
    assert (await modules.register(OWNER, name="yet another")).status_code == 201


async def test_results_are_taken_from_the_fetcher_that_reads_the_subscription(
    modules: Modules, feeds: FeedParts, kept: Kept
) -> None:
    mine, others, unknown = [await modules.key(name) for name in ("mine", "others", "unknown")]
    module_id = (await modules.register(mine)).json()["service_id"]
    await modules.register(others, name="other")
    settings = SubscriptionSettings(name="Kura", url="https://feeds.example/1", module_id=module_id, is_enabled=False)
    read_by_mine = await feeds.subscriptions.create(settings, StartWith.MISSING)
    built_in = await feeds.subscriptions.create(
        SubscriptionSettings(name="Kura", url="https://feeds.example/2", is_enabled=False), StartWith.MISSING
    )

    async def send(secret: str, subscription_id: int) -> httpx2.Response:
        item = {"title": "[Kura] Yoru - 01", "download_url": f"magnet:?xt=urn:btih:{subscription_id:040x}"}
        async with modules.at("10.0.0.7", secret) as http:
            sent = {"subscription_id": subscription_id, "items": [item]}
            return await http.post("/raw-fetcher-results", json=sent)

    assert (await send(mine, read_by_mine.id)).status_code == 200
    for secret, subscription_id, said in (
        (others, read_by_mine.id, "is not read by the fetcher 'other'"),
        (mine, built_in.id, f'"module_id": {module_id}'),
        (unknown, read_by_mine.id, "POST /services/register"),
    ):
        refused = await send(secret, subscription_id)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_missing")
        assert said in refused.json()["error"]["message"]
    assert (await send(mine, 4711)).status_code == 404
    assert len(await kept.items()) == 1
    assert (await send(OWNER, built_in.id)).status_code == 200


async def test_the_name_of_what_is_inside_is_reserved(modules: Modules) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "built-in")
    names, kinds = ("built-in", "Built-In", " built-in ", wide), ("fetcher", "downloader", "viewer")
    for name, kind in itertools.product(names, kinds):
        refused = await modules.register(OWNER, name=name, kind=kind)
        assert refused.status_code == 422
        assert "service_name: built-in is the name of what is inside" in refused.json()["error"]["message"]


HOSTS: list[tuple[str, str, bool]] = [
    ("10.0.0.7", "10.0.0.7", True),
    ("::ffff:10.0.0.7", "10.0.0.7", True),
    ("127.0.0.1", "127.0.0.1", True),
    ("127.0.0.1", "127.0.0.9", True),
    ("127.0.0.1", "localhost", True),
    ("fd00::7", "fd00::7", True),
    # Somebody else's machine, or ours as seen from elsewhere.
    ("10.0.0.7", "10.0.0.8", False),
    ("10.0.0.7", "127.0.0.1", False),
    ("10.0.0.7", "::1", False),
    ("10.0.0.7", "localhost", False),
    ("10.0.0.7", "93.184.216.34", False),
    ("10.0.0.7", "nas.local", False),
    ("10.0.0.7", "modules.example", False),
    ("127.0.0.1", "169.254.169.254", False),
    # Where it calls from or not.
    ("169.254.169.254", "169.254.169.254", False),
    ("fe80::1", "fe80::1", False),
]


async def test_the_core_calls_a_module_where_it_registers_from(modules: Modules) -> None:
    for number, (caller, host, is_good) in enumerate(HOSTS):
        answer = await modules.register(OWNER, caller, host=host, name=f"module {number}")
        assert answer.status_code == (201 if is_good else 422), (caller, host)
        if not is_good:
            error = answer.json()["error"]
            assert (error["code"], f"does not call {host}" in error["message"]) == ("host_not_allowed", True)
            assert "KURABITO_ALLOW_PRIVATE_HOSTS" in error["message"]


async def test_the_keeper_can_allow_other_hosts(queue: SqlQueue, outbound: Outbound, tmp_path: Path) -> None:
    hosts = ["nas.local", "169.254.0.0/16", "10.0.0.8"]
    modules = Modules(queue, open_feeds(queue, outbound, module_hosts=hosts), tmp_path)
    for host, status in (("NAS.local", 201), ("169.254.1.1", 201), ("10.0.0.8", 201), ("10.0.0.9", 422)):
        assert (await modules.register(OWNER, "10.0.0.7", host=host)).status_code == status


async def test_a_fetcher_is_never_offered_downloads(feeds: FeedParts, site: FeedSite, kept: Kept) -> None:
    services = feeds.services
    for kind in ServiceType:
        registration = Registration(
            service_type=kind,
            service_name="everything",
            host="127.0.0.1",
            port=site.port,
            instance_id="first",
            token="a secret",
            capabilities=Capabilities(supported_download_types=tuple(DownloadType)),
        )
        await services.register(registration, Caller("127.0.0.1", None))
    able = await services.able_to(DownloadType.MAGNET)
    assert [one.registration.service_type for one in able] == [ServiceType.DOWNLOADER]
    # Also where an earlier version stored what it said of itself.
    await kept.queue.database.write(
        lambda conn: conn.run(
            "INSERT INTO downloader_capabilities (module_id, download_type) "
            "SELECT module_id, 'magnet' FROM service_modules WHERE service_type = 'fetcher'"
        )
    )
    assert len(await services.able_to(DownloadType.MAGNET)) == 1
