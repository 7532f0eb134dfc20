"""*Home*: what arrived, what is on its way and what is shown next; and one list of what needs its keeper."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from fastapi import Request, Response

from kurabito.attention import ActionId
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.summaries import CatalogSummaries, RecentEpisode
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.health.progress import progress_state, time_left
from kurabito.library.service import LibraryService
from kurabito.maintenance.disk_space import DiskReport
from kurabito.maintenance.errors import NoticeNotFound
from kurabito.maintenance.notices import NoticeBoard
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.downloads.download_pages import ShownStates, page_of
from kurabito.web.forms import fields_of
from kurabito.web.home.remedies import Fix, place_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShownSeries, shown_shows

_FILES: Final = 200
_ARRIVALS: Final = 14
_AIRING: Final = 12
_UNDER_WAY: Final = 6
_TODAY: Final = timedelta(hours=12)
"""Where the day ends last, it is today still."""
_NEXT: Final = timedelta(days=7)
_AT_ONCE: Final = timedelta(hours=6)
"""What comes one after another is one arrival."""


@dataclass(frozen=True, slots=True)
class ShowArrivals:
    """What arrived of one show since another one did."""

    episodes: Sequence[RecentEpisode]
    """The newest first."""


@dataclass(frozen=True, slots=True)
class HomeParts:
    """What the page asks."""

    board: NoticeBoard
    catalog: Catalog
    summaries: CatalogSummaries
    metadata: MetadataService
    downloads: Downloads
    libraries: LibraryService
    disks: DiskReport
    folders: Sequence[Path]
    """The folders whose disks are shown, beside those of libraries."""
    fixes: Mapping[ActionId, Fix]
    """What buttons do themselves."""
    poll: Callable[[], Awaitable[None]]
    """Asks downloaders how far they are, as the page is open."""
    is_setting_up: Callable[[], Awaitable[bool]]
    """Whether the set-up was neither finished nor left."""


def router(pages: Pages, parts: HomeParts) -> Router:
    """The first page, and what can be hidden on it."""
    routes = Router()

    @routes.get("/")
    async def home(request: Request) -> Response:
        return await _shown(pages, parts, request)

    @routes.post("/notices/{key}/fix")
    async def fix(request: Request, key: str) -> Response:
        asked = await fields_of(request)
        item = next((notice.item for notice in await parts.board.list() if notice.item.key == key), None)
        # What changed while the reader looked is shown as it is now.
        if item is not None and item.action is not None and (act := parts.fixes.get(item.action.id)) is not None:
            await act(item.action.target)
        parts.board.recount()
        return pages.go_back(asked, "/")

    @routes.post("/notices/{key}/{move}")
    async def move(request: Request, key: str, move: str) -> Response:
        asked = await fields_of(request)
        try:
            await (parts.board.hide(key) if move == "hide" else parts.board.show(key))
        except NoticeNotFound:
            # It changed while the reader looked, so it is shown as it is now.
            parts.board.recount()
        return pages.go_back(asked, "/")

    return routes


async def _shown(pages: Pages, parts: HomeParts, request: Request) -> Response:
    notices, came, airing, under_way, libraries = await asyncio.gather(
        parts.board.list(),
        parts.summaries.arrived(limit=_FILES),
        parts.summaries.airing(before=_TODAY, after=_NEXT, limit=_AIRING),
        page_of(parts.downloads, ShownStates.UNDER_WAY, module_id=None, cursor=None, limit=_UNDER_WAY),
        parts.libraries.by_id(),
    )
    if under_way.items:
        await parts.poll()
    request.state.needs_you = sum(not notice.is_hidden for notice in notices)
    arrivals = list(islice(_by_show(came), _ARRIVALS))
    known = await parts.catalog.several(
        [*(one.episodes[0].series_id for one in arrivals), *(one.series_id for one in airing)]
    )
    lang = pages.words(request).catalogue.tag
    shows: dict[int, ShownSeries] = {
        show.id: show for show in await shown_shows(parts.metadata, list(known.values()), lang)
    }
    folders = [*parts.folders, *(library.path for library in libraries.values())]
    return pages.show(
        request,
        "home.html",
        notices=[notice.item for notice in notices if not notice.is_hidden],
        hidden=[notice.item for notice in notices if notice.is_hidden],
        place_of=place_of,
        fixes=parts.fixes,
        arrivals=[one for one in arrivals if one.episodes[0].series_id in shows],
        airing=[one for one in airing if one.series_id in shows],
        shows=shows,
        under_way=under_way,
        progress_state=progress_state,
        time_left=time_left,
        disks=await parts.disks.look(folders),
        is_new=not libraries and not came and not under_way.items,
        is_setting_up=await parts.is_setting_up(),
    )


def _by_show(came: Sequence[RecentEpisode]) -> list[ShowArrivals]:
    """What came last, by show: a season that came at once is one arrival. The show that got something last comes first."""
    by_show: dict[int, dict[tuple[str, float], RecentEpisode]] = {}
    for one in came:
        episodes = by_show.setdefault(one.series_id, {})
        # What came long before is no part of it: this week's episode is not as many as the show has.
        if not episodes or next(reversed(episodes.values())).at - one.at <= _AT_ONCE:
            # An episode may have come in several files.
            episodes.setdefault((one.kind, one.number), one)
    return [ShowArrivals(tuple(episodes.values())) for episodes in by_show.values()]
