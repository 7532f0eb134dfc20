"""*Series*: what is followed, asked about or ignored; each with its poster, its episodes and the releases that were seen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.identity.evidence import SPEAK_AGAINST
from kurabito.catalog.links import Link
from kurabito.catalog.series import Series, SeriesEpisode, SeriesOrder
from kurabito.catalog.states import EpisodeState, SeriesKind, SeriesState, SeriesWish
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.downloads.health.progress import DownloadProgressState
from kurabito.downloads.summaries import DownloadSummaries
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.metadata.records import Metadata
from kurabito.titles import ReleaseKind
from kurabito.web.forms import fields_of, id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.record import ids_of
from kurabito.web.shows.series_form import SeriesForm

_SERIES: Final = 50
_EPISODES: Final = 2_000
_LINKS: Final = 200
_OTHERS: Final = 500
_LONGEST_SEARCH: Final = 200
_REGULAR: Final = (ReleaseKind.TV, ReleaseKind.MOVIE, ReleaseKind.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases that were seen of one episode, the newest first."""

    episode: SeriesEpisode | None
    """None for those whose titles name no episode."""
    links: Sequence[Link]


def router(
    pages: Pages,
    catalog: Catalog,
    summaries: CatalogSummaries,
    metadata: MetadataService,
    downloads: DownloadSummaries,
    corrections: Corrections,
    libraries: LibraryService,
) -> APIRouter:
    """The series, one of them, and what is wanted of it."""
    routes = APIRouter()
    view = _SeriesPages(pages, catalog, summaries, metadata, downloads, corrections, libraries)
    routes.include_router(_wishes(pages, catalog))

    routes.add_api_route("/series", view.overview)
    routes.add_api_route("/series/{series_id}", view.change, methods=["POST"])

    @routes.get("/series/{series_id}")
    async def series(request: Request, series_id: str) -> Response:
        return await view.one(request, id_of(series_id))

    @routes.post("/series/{series_id}/state")
    async def decide(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        state = one_of(SeriesState, "state", asked.get("state", ""))
        await catalog.change(id_of(series_id), {"state": state})
        return pages.go(pages.addresses.within(asked.get("next") or f"/series/{series_id}"))

    return routes


def _wishes(pages: Pages, catalog: Catalog) -> APIRouter:
    """What is wanted of a series, or of all that are not followed, and where its files go."""
    routes = APIRouter()

    @routes.post("/series/wanted")
    async def want_all(request: Request) -> Response:
        asked = await fields_of(request)
        wanted = one_of(SeriesWish, "wanted", asked.get("wanted", ""))
        await catalog.want_not_followed(wanted, name=asked.get("name") or None)
        return pages.go("/series")

    @routes.post("/series/{series_id}/wanted")
    async def want(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        library = asked.get("library_id") or None
        changes = {
            "wanted": one_of(SeriesWish, "wanted", asked.get("wanted", "")),
            "library_id": None if library is None else id_of(library),
        }
        await catalog.change(id_of(series_id), changes)
        return pages.go(f"/series/{series_id}")

    return routes


class _SeriesPages:
    """Shows the two pages; a form that was refused is shown again as it was typed."""

    def __init__(
        self,
        pages: Pages,
        catalog: Catalog,
        summaries: CatalogSummaries,
        metadata: MetadataService,
        downloads: DownloadSummaries,
        corrections: Corrections,
        libraries: LibraryService,
    ) -> None:
        self._corrections = corrections
        self._libraries = libraries
        self._pages = pages
        self._catalog = catalog
        self._summaries = summaries
        self._metadata = metadata
        self._downloads = downloads

    async def overview(self, request: Request) -> Response:
        asked = request.query_params
        state, cursor = one_of(SeriesState, "state", asked.get("state") or SeriesState.FOLLOWED), asked.get("cursor")
        name, kind = asked.get("name", "").strip()[:_LONGEST_SEARCH], asked.get("kind") or None
        order = one_of(SeriesOrder, "order", asked.get("order") or SeriesOrder.NEWEST)
        page, waiting = await asyncio.gather(
            self._catalog.series(
                state=state,
                limit=_SERIES,
                cursor=cursor,
                name=name or None,
                kind=None if kind is None else one_of(SeriesKind, "kind", kind),
                order=order,
            ),
            self._catalog.series(state=SeriesState.ASKED, limit=_SERIES),
        )
        # A reader who comes for what is followed is asked first about what is new.
        asks_first = state is SeriesState.FOLLOWED and cursor is None and not name and kind is None
        questions = waiting.items if asks_first else []
        shown = (*page.items, *questions)
        progress, records = await asyncio.gather(
            self._summaries.progress(one.id for one in shown), self._records_of(shown)
        )
        return self._pages.show(
            request,
            "series_list.html",
            page=page,
            questions=questions,
            progress=progress,
            records=records,
            state=state,
            wishes=tuple(SeriesState),
            waiting=len(waiting.items),
            more_waiting=waiting.next_cursor is not None,
            cursor=cursor,
            name=name,
            kind=kind or "",
            kinds=tuple(SeriesKind),
            order=order,
            orders=tuple(SeriesOrder),
            wants=tuple(SeriesWish),
        )

    async def one(
        self, request: Request, series_id: int, form: SeriesForm | None = None, *, status: int = 200
    ) -> Response:
        cursor = request.query_params.get("cursor")
        current = await self._catalog.current(series_id)
        if current.id != series_id:
            return self._pages.go(f"/series/{current.id}")
        evidence, others, episodes, links = await asyncio.gather(
            self._corrections.evidence(series_id),
            self._catalog.series(limit=_OTHERS),
            self._catalog.episodes(series_id, limit=_EPISODES),
            self._catalog.links(series_id=series_id, limit=_LINKS, cursor=cursor),
        )
        series = evidence.series
        regular = [episode for episode in episodes.items if episode.kind in _REGULAR]
        record = (await self._records_of([series])).get(series.metadata_id or 0)
        return self._pages.show(
            request,
            "series.html",
            status=status,
            series=series,
            evidence=evidence,
            others=[one for one in others.items if one.id != series_id],
            against=SPEAK_AGAINST,
            record=record,
            ids=ids_of(record.details) if record else [],
            regular=regular,
            specials=_by_kind(episodes.items),
            more_episodes=episodes.next_cursor is not None,
            releases=_by_episode(episodes.items, links.items),
            shown={link.episode_id for link in links.items},
            downloads=await self._downloads.of_links(link.id for link in links.items),
            progress_state=DownloadProgressState,
            next_cursor=links.next_cursor,
            cursor=cursor,
            episode_states=tuple(EpisodeState),
            form=form or SeriesForm.of(series),
            wants=tuple(SeriesWish),
            libraries=(await self._libraries.by_id()).values(),
        )

    async def change(self, request: Request, series_id: str) -> Response:
        form, known = await SeriesForm.sent(request), id_of(series_id)
        if refused := await form.submit(lambda form: self._catalog.change(known, form.changes())):
            return await self.one(request, known, refused, status=refused.status)
        return self._pages.go(f"/series/{series_id}")

    async def _records_of(self, some: Sequence[Series]) -> dict[int, Metadata]:
        """The records that fill these series in, by their ids."""
        return await self._metadata.several({one.metadata_id for one in some if one.metadata_id is not None})


def _by_kind(episodes: Sequence[SeriesEpisode]) -> list[tuple[ReleaseKind, list[SeriesEpisode]]]:
    """What is no regular episode, one kind after the other; they come in that order."""
    apart = (episode for episode in episodes if episode.kind not in _REGULAR)
    return [(kind, list(some)) for kind, some in groupby(apart, key=lambda episode: episode.kind)]


def _by_episode(episodes: Sequence[SeriesEpisode], links: Sequence[Link]) -> list[Releases]:
    """The releases by their episodes, in the order of those; what names no episode comes first."""
    seen: dict[int | None, list[Link]] = {}
    for link in links:
        seen.setdefault(link.episode_id, []).append(link)
    unplaced = [Releases(None, seen[None])] if None in seen else []
    return unplaced + [Releases(episode, seen[episode.id]) for episode in episodes if episode.id in seen]
