"""The pages: rendered here, kept live by one small module in the browser, usable without it.

    home/ shows/ library/ duplicates/ downloads/ following/ finding/ system/    the pages of each domain
    settings/        the settings, and what else its user decides about the program itself
    pages.py         from a template and values to an answer; navigation.py has the pages that the navigation leads to
    forms.py         what was typed, what it means, and what is wrong with it at which field
    tone.py          which colour a status has
    words.py         every text of a page in the reader's language (`say` in a template), moments and numbers; languages.py has
                     the catalogues in locales/
    service_routes.py  what the pages of media servers and of destinations have in common: add, change, test, remove
    reasons.py       which message says a reason; names.py names of files as they can be shown
    preferences.py   the language and the light that a reader chose
    failures.py      the page of an error; path_map_lines.py path mappings as a form has them
    addresses.py     paths below the base path; assets.py serves static/

A page decides nothing: health and status come from the domain, and the API answers with the same words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.access import LoginLimit, Passwords, Sessions
from kurabito.clock import Clock, SystemClock
from kurabito.maintenance.notices import NoticeBoard
from kurabito.maintenance.wal import WalMaintenance
from kurabito.protocol.planes import Planes
from kurabito.runtime import Queue
from kurabito.settings import Origin
from kurabito.site.routing import Router, add_routers
from kurabito.thumbnails.metrics import ThumbnailMetrics
from kurabito.web import assets, failures
from kurabito.web.addresses import Addresses
from kurabito.web.pages import Pages
from kurabito.web.preferences import PreferenceLinks
from kurabito.web.system import login, now, reference, system, tasks
from kurabito.web.system.task_names import NameTasks, no_names

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
    others: Sequence[Callable[[Pages], Router]] = (),
    name_tasks: NameTasks = no_names,
    home: Callable[[Pages], Router] | None = None,
    board: NoticeBoard | None = None,
    waiting: Callable[[], Awaitable[int]] | None = None,
    is_new: Callable[[], Awaitable[bool]] = login.never,
    base_path: str = "",
    clock: Clock | None = None,
) -> FastAPI:
    """The pages over one open queue, to be mounted at `/` behind the gate.

    `name_tasks` says what tasks are called. `home` is the first page, `others` are pages over other parts of the product, each made with what renders them all.
    While the installation `is_new`, who logs in is led to its set-up.
    The navigation of every page says how many notices are on the `board`, and how many matches are `waiting` for a person.
    `settings` and `openapi` are asked each time they are shown, so that the pages can be made before either is complete.
    """
    addresses = Addresses(base_path)
    files = assets.Assets()
    pages = Pages(addresses, files, clock or SystemClock())
    web = FastAPI(title="Kurabito pages", openapi_url=None)
    web.add_middleware(PreferenceLinks, addresses=addresses)
    failures.install(web, pages)

    first = () if home is None else (home(pages),)
    pages_of_all = (
        now.router(pages, queue, name_tasks),
        tasks.router(pages, queue, name_tasks),
        system.router(pages, queue, planes, settings=settings, log=log, thumbnails=thumbnails, troubles=troubles),
        reference.router(pages, openapi),
        *(make(pages) for make in others),
    )
    # The first page asks for all notices, and so knows how many there are.
    for routers, notices in ((first, None), (pages_of_all, board)):
        for page in (route for router in routers for route in router.routes):
            if isinstance(page, Route):
                page.app = _WithCounts(page.app, waiting, notices)
    way_in = login.router(pages, sessions=sessions, passwords=passwords, limit=login_limit, is_new=is_new)
    without = way_in, assets.router(files)
    add_routers(web, (*first, *pages_of_all, *without))
    return web


class _WithCounts:
    """A page that is told how much waits for a person, before it is shown."""

    def __init__(self, page: ASGIApp, matches: Callable[[], Awaitable[int]] | None, board: NoticeBoard | None) -> None:
        self._page = page
        self._matches = matches
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        if self._matches is not None:
            state["waiting"] = await self._matches()
        if self._board is not None:
            if scope["method"] != "GET":
                self._board.recount()
            state["needs_you"] = await self._board.count()
        await self._page(scope, receive, send)
