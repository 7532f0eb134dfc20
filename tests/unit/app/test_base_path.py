"""A site under a base path."""

from __future__ import annotations

import pytest
from starlette.types import Receive, Scope, Send

from kurabito.app.site import BasePath


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("/kurabito/tasks", "/kurabito/tasks"),
        ("/tasks", "/kurabito/tasks"),
        ("/", "/kurabito/"),
        ("/kurabito", "/kurabito/"),
        ("/kurabito/", "/kurabito/"),
        ("/kurabitos", "/kurabito/kurabitos"),
    ],
)
async def test_the_site_sees_the_whole_path_whether_or_not_a_proxy_cut_it(asked: str, seen: str) -> None:
    found: list[tuple[str, str]] = []

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        found.append((scope["path"], scope["root_path"]))

    async def nothing(*_: object) -> dict[str, object]:
        return {}

    await BasePath(site, "/kurabito")({"type": "http", "path": asked, "root_path": ""}, nothing, nothing)  # type: ignore[arg-type]
    assert found == [(seen, "/kurabito")]
