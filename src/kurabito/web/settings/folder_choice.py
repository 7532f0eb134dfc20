"""The folders that a keeper may choose from: what the server sees, and nothing else."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fastapi import Request, Response

from kurabito.setup.folders import FolderBrowser, FolderChoice
from kurabito.site.routing import Router
from kurabito.web.pages import Pages

_PATIENCE: Final = 5.0
"""Seconds that a disk may take to list a folder; a share that is away takes for ever."""


def router(pages: Pages, browser: Callable[[], FolderBrowser]) -> Router:
    """One folder after another, until one of them is chosen for a library."""
    routes = Router()

    @routes.get("/folders")
    async def choose(request: Request) -> Response:
        listing = await folders_in(browser(), request.query_params.get("path", ""))
        return pages.show(request, "folder_choice.html", listing=listing)

    return routes


async def folders_in(browser: FolderBrowser, path: str) -> FolderChoice:
    """The folders to choose from."""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await asyncio.to_thread(browser.look, path)
    except TimeoutError:
        return FolderChoice(Path(path), Path(path).parent, (), problem=os.strerror(errno.ETIMEDOUT))
