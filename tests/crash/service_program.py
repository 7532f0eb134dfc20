"""Downloader services in front of a real program, one after the other, as `kurabito downloader` runs them.

A line names the request to that program after which the service kills itself, before it could go on; 0 is never.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
from forking import lives  # type: ignore[import-not-found]
from pydantic import SecretStr

from kurabito.app.downloader import run_downloader
from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.clients.transport import Calls
from kurabito.errors import ConfigError
from kurabito.logs import configure
from kurabito.settings import Settings

# Its registration is written by the test: no core listens there.
NOBODY = "http://127.0.0.1:9"


def light(fuse: int) -> None:
    """Have this process end after so many requests of its program were answered."""
    send, answered = Calls.send, itertools.count(1)

    async def burn(self: Calls, method: str, path: str, **rest: Any) -> httpx2.Response:
        response = await send(self, method, path, **rest)
        if next(answered) == fuse:
            os.kill(os.getpid(), signal.SIGKILL)
        return response

    Calls.send = burn  # type: ignore[method-assign]


def serve(state: str, client: str, url: str, port: str, username: str, password: str) -> None:
    settings = Settings(
        state=Path(state),
        port=int(port),
        allow_private_hosts=("127.0.0.1",),
        api_key=SecretStr("k"),
    )
    while True:
        try:
            asyncio.run(
                run_downloader(
                    settings,
                    ClientName(client),
                    url=url,
                    core=NOBODY,
                    name=client,
                    username=username,
                    password=password,
                    on_listening=lambda _: None,
                )
            )
        except ConfigError:
            # The one before is not quite gone: its port or its folder is still held.
            time.sleep(0.01)


def live(fuse: str) -> None:
    configure(level="error")
    light(int(fuse))
    serve(*sys.argv[1:])


if __name__ == "__main__":
    lives(live)
