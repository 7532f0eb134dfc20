"""The pages: rendered here, kept live by one small module in the browser, usable without it.

    home/ shows/ library/ duplicates/ downloads/ following/ finding/ system/    the pages of each domain
    pages.py         from a template and values to an answer; navigation.py has the pages that the navigation leads to
    forms.py         what was typed, what it means, and what is wrong with it at which field
    tone.py          which colour a status has
    words.py         messages, moments and numbers in the reader's language; languages.py has the catalogues in locales/
    reasons.py       which message says a reason; names.py names of files as they can be shown
    preferences.py   the language and the light that a reader chose
    failures.py      the page of an error
    addresses.py     paths below the base path; assets.py serves static/

A page decides nothing: health and status come from the domain, and the API answers with the same words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request

from kurabito.access import LoginLimit, Passwords, Sessions
from kurabito.clock import Clock, SystemClock
from kurabito.maintenance.wal import WalMaintenance
from kurabito.protocol.planes import Planes
from kurabito.runtime import Queue
from kurabito.settings import Origin
from kurabito.thumbnails.metrics import ThumbnailMetrics
from kurabito.web import assets, failures
from kurabito.web.addresses import Addresses
from kurabito.web.home import now
from kurabito.web.pages import Pages
from kurabito.web.preferences import PreferenceLinks
from kurabito.web.system import login, reference, system, tasks

__all__ = ["create_web"]


def create_web(
    *,
    queue: Queue,
    planes: Planes,
    sessions: Sessions,
    passwords: Passwords,
    login_limit: LoginLimit,
    settings: Callable[[], Sequence[Origin]],
    openapi: Callable[[], Mapping[str, Any]],
    log: WalMaintenance | None = None,
    thumbnails: Callable[[], Awaitable[ThumbnailMetrics]] | None = None,
    troubles: Callable[[], Mapping[str, str]] = dict,
    further: Sequence[Callable[[Pages], APIRouter]] = (),
    waiting: Callable[[], Awaitable[int]] | None = None,
    base_path: str = "",
    clock: Clock | None = None,
) -> FastAPI:
    """The pages over one open queue, to be mounted at `/` behind the gate.

    `further` are pages over other parts of the product, each made with what renders them all. `waiting` counts what waits for
    a person; the navigation says it on every page.
    `settings` and `openapi` are asked each time they are shown, so that the pages can be made before either is complete.
    """
    addresses = Addresses(base_path)
    files = assets.Assets()
    pages = Pages(addresses, files, clock or SystemClock())
    web = FastAPI(title="Kurabito pages", openapi_url=None)
    web.add_middleware(PreferenceLinks, addresses=addresses)
    failures.install(web, pages)

    async def count(request: Request) -> None:
        if waiting is not None:
            request.state.waiting = await waiting()

    for routes in (
        now.router(pages, queue),
        tasks.router(pages, queue),
        system.router(pages, queue, planes, settings=settings, log=log, thumbnails=thumbnails, troubles=troubles),
        reference.router(pages, openapi),
        *(make(pages) for make in further),
    ):
        web.include_router(routes, dependencies=[Depends(count)])
    # Without navigation.
    web.include_router(login.router(pages, sessions=sessions, passwords=passwords, limit=login_limit))
    web.include_router(assets.router(files))
    return web
