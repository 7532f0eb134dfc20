"""The site works below a base path, whether the proxy takes that path away or leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import Serving


@pytest.mark.parametrize("prefix", ["", "/kurabito"])
async def test_every_path_means_the_same(serving: Serving, prefix: str) -> None:
    async with serving(base_path="/kurabito") as house:
        async with house.browser(X_Api_Key=await house.key("read")) as browser:
            assert (await browser.get(f"{prefix}/")).text == "for a program"
            seen = (await browser.get(f"{prefix}/api/v1/asking")).json()
            assert seen["url"] == f"http://127.0.0.1:{house.port}/kurabito/api/v1/asking"
            assert (await browser.post(f"{prefix}/api/v1/bodies")).status_code == 403
        async with house.browser() as browser:
            assert (await browser.get(f"{prefix}/health")).status_code == 200
            assert (await browser.get(f"{prefix}/static/kurabito.css")).status_code == 200
            assert (await browser.get(f"{prefix}/api/v1/asking")).status_code == 401
            sent = await browser.get(f"{prefix}/tasks?state=dead", headers={"Accept": "text/html"})
            assert sent.headers["Location"] == "/kurabito/login?next=%2Ftasks%3Fstate%3Ddead"


async def test_the_base_path_itself_is_the_first_page(serving: Serving) -> None:
    async with (
        serving(base_path="/kurabito") as house,
        house.browser(Cookie=await house.cookie()) as browser,
    ):
        assert (await browser.get("/kurabito")).text == "for keeper"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/kurabitox/health", "%2Fkurabitox%2Fhealth"),
        ("/kurabitohealth", "%2Fkurabitohealth"),
        ("/kurabito/kurabito/health", "%2Fkurabito%2Fhealth"),
    ],
)
async def test_a_path_that_only_looks_like_it_opens_nothing(serving: Serving, path: str, meant: str) -> None:
    async with serving(base_path="/kurabito") as house, house.browser(Accept="text/html") as browser:
        assert (await browser.get(path)).headers["Location"] == f"/kurabito/login?next={meant}"
