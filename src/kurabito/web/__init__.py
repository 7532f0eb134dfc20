"""The pages: rendered here, kept live by one small module in the browser, usable without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI

from kurabito.access import LoginLimit, Passwords, Sessions
from kurabito.clock import Clock, SystemClock
from kurabito.protocol.planes import Planes
from kurabito.runtime import Queue
from kurabito.settings import Origin
from kurabito.web import assets, failures, login, now, reference, system, tasks
from kurabito.web.addresses import Addresses
from kurabito.web.pages import Pages
from kurabito.web.preferences import PreferenceLinks

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
    further: Sequence[Callable[[Pages], APIRouter]] = (),
    base_path: str = "",
    clock: Clock | None = None,
) -> FastAPI:
    """The pages over one open queue, to be mounted at `/` behind the doors.

    `further` are pages over other parts of the product, each made with what renders them all.
    `settings` and `openapi` are asked each time they are shown, so that the pages can be made before either is complete.
    """
    addresses = Addresses(base_path)
    files = assets.Assets()
    pages = Pages(addresses, files, clock or SystemClock())
    web = FastAPI(title="Kurabito pages", openapi_url=None)
    web.add_middleware(PreferenceLinks, addresses=addresses)
    failures.install(web, pages)
    for routes in (
        now.router(pages, queue),
        tasks.router(pages, queue),
        system.router(pages, queue, planes, settings=settings),
        reference.router(pages, openapi),
        login.router(pages, sessions=sessions, passwords=passwords, limit=login_limit),
        assets.router(files),
        *(make(pages) for make in further),
    ):
        web.include_router(routes)
    return web
