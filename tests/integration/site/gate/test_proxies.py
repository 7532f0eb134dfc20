"""Behind a proxy that we trust we see the client; a proxy that we do not trust is the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import Serving

FORWARDED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "nas.example",
}


async def test_a_trusted_proxy_is_believed(serving: Serving) -> None:
    async with (
        serving(trusted_proxies=["127.0.0.0/8"], allowed_hosts=["nas.example"]) as house,
        house.browser(X_Api_Key=await house.key("write"), **FORWARDED) as browser,
    ):
        seen = (await browser.get("/api/v1/asking")).json()
        assert (seen["client"], seen["url"]) == ("203.0.113.9", "https://nas.example/api/v1/asking")
        own = await browser.post("/api/v1/bodies", headers={"Origin": "https://nas.example"})
        assert own.status_code == 200
        foreign = await browser.post("/api/v1/bodies", headers={"Origin": f"http://127.0.0.1:{house.port}"})
        assert foreign.status_code == 403


async def test_a_trusted_proxy_cannot_make_a_strange_name_ours(serving: Serving) -> None:
    async with serving(trusted_proxies=["127.0.0.1"]) as house, house.browser(**FORWARDED) as browser:
        assert (await browser.get("/health")).status_code == 421


async def test_anybody_else_is_not_believed(serving: Serving) -> None:
    async with (
        serving(trusted_proxies=["10.0.0.0/8"], allowed_hosts=["nas.example"]) as house,
        house.browser(X_Api_Key=await house.key("write"), **FORWARDED) as browser,
    ):
        seen = (await browser.get("/api/v1/asking")).json()
        assert (seen["client"], seen["url"]) == ("127.0.0.1", f"http://127.0.0.1:{house.port}/api/v1/asking")
        answer = await browser.post("/api/v1/bodies", headers={"Origin": "https://nas.example"})
        assert answer.status_code == 403
