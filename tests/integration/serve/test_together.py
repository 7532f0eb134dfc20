"""The services of one process end together."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from kurabito.app.listener import address_of, listen
from kurabito.app.server import Server, run_together
from kurabito.errors import DatabaseUnavailable


class Service:
    """Runs until it is cancelled, or until it is told to break."""

    def __init__(self) -> None:
        self.break_down = asyncio.Event()
        self.ended_in_good_order = False

    async def run(self) -> None:
        try:
            await self.break_down.wait()
        except asyncio.CancelledError:
            self.ended_in_good_order = True
            raise
        raise DatabaseUnavailable("the disk is gone")


async def site(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


async def test_one_that_breaks_ends_all_with_its_own_reason() -> None:
    broken, whole, started = Service(), Service(), asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        url = address_of(listener)
        server = Server(site, on_started=started.set, on_stopping=lambda: None)
        together = asyncio.create_task(run_together(server, listener, [broken, whole]))
        await started.wait()
        assert (await asyncio.to_thread(httpx2.get, url)).status_code == 204
        broken.break_down.set()
        with pytest.raises(DatabaseUnavailable, match="the disk is gone"):
            await together
    assert whole.ended_in_good_order
    with pytest.raises(httpx2.ConnectError):
        await asyncio.to_thread(httpx2.get, url)
