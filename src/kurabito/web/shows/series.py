"""The page of one show: its poster, its episodes with their files, the releases that were seen, and what is wanted of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.identity.evidence import SPEAK_AGAINST
from kurabito.catalog.identity.report import FranchisePart
from kurabito.catalog.links import Link
from kurabito.catalog.series import Series, SeriesEpisode
from kurabito.catalog.states import EpisodeState, SeriesState, SeriesWish
from kurabito.catalog.summaries import CatalogSummaries, EpisodeFile, ShowExtent
from kurabito.downloads.conflicts import Conflicts
from kurabito.downloads.health.progress import DownloadProgressState
from kurabito.downloads.summaries import DownloadSummaries
from kurabito.library.deletion.discards import Discards
from kurabito.library.media.readings import MediaReadings
from kurabito.library.service import LibraryService
from kurabito.media_servers.search_links import search_link
from kurabito.media_servers.service import MediaServers
from kurabito.metadata import MetadataService
from kurabito.metadata.stories.service import StoryService
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind
from kurabito.web.forms import fields_of, id_of, one_of
from kurabito.web.library.file import deleted_by
from kurabito.web.pages import Pages
from kurabito.web.shows.record import ids_of
from kurabito.web.shows.series_form import SeriesForm
from kurabito.web.shows.titles import ShowTitles, shown_shows

_EPISODES: Final = 2_000
_LINKS: Final = 200
_OTHERS: Final = 500
_ROWS: Final = 300
_REGULAR: Final = (ReleaseKind.TV, ReleaseKind.MOVIE, ReleaseKind.UNKNOWN)
_COUNTED: Final = (ReleaseKind.TV, ReleaseKind.MOVIE)


@dataclass(frozen=True, slots=True)
class Releases:
    """One episode, and the releases that were seen of it, the newest first."""

    episode: SeriesEpisode | None
    """None for those whose titles name no episode."""
    links: Sequence[Link]


@dataclass(frozen=True, slots=True)
class ShowParts:
    """What the page of a show asks, beside the catalog."""

    summaries: CatalogSummaries
    metadata: MetadataService
    stories: StoryService
    downloads: DownloadSummaries
    corrections: Corrections
    libraries: LibraryService
    media_servers: MediaServers
    media: MediaReadings
    discards: Discards
    conflicts: Conflicts


class PlayLink(NamedTuple):
    """Where a show is played."""

    server: str
    url: str


class KnownPart(NamedTuple):
    """A season or a film of the same story, as far as it is in the collection."""

    title: str
    extent: ShowExtent


def router(
    pages: Pages,
    catalog: Catalog,
    parts: ShowParts,
) -> Router:
    """One show, and what is wanted of it."""
    routes = Router()
    view = _ShowPage(pages, catalog, parts)
    _wishes(routes, pages, catalog)

    routes.add_api_route("/series/{series_id}", view.change, methods=["POST"])

    @routes.get("/series/{series_id}")
    async def series(request: Request, series_id: str) -> Response:
        return await view.one(request, id_of(series_id))

    @routes.post("/series/{series_id}/state")
    async def decide(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        state = one_of(SeriesState, "state", asked.get("state", ""))
        await catalog.change(id_of(series_id), {"state": state})
        return pages.go_back(asked, f"/series/{series_id}")

    return routes


def _wishes(routes: Router, pages: Pages, catalog: Catalog) -> None:
    """What is wanted of a series, and where its files go."""

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


class _ShowPage:
    """Shows the page; a form that was refused is shown again as it was typed."""

    def __init__(self, pages: Pages, catalog: Catalog, parts: ShowParts) -> None:
        self._pages = pages
        self._catalog = catalog
        self._parts = parts
        self._titles = ShowTitles(pages, catalog, parts.metadata)

    async def one(
        self, request: Request, series_id: int, form: SeriesForm | None = None, *, status: int = 200
    ) -> Response:
        cursor = request.query_params.get("cursor")
        current = await self._catalog.current(series_id)
        if current.id != series_id:
            return self._pages.go(f"/series/{current.id}")
        parts = self._parts
        evidence, others, episodes, links, files = await asyncio.gather(
            parts.corrections.evidence(series_id),
            self._catalog.series(limit=_OTHERS),
            self._catalog.episodes(series_id, limit=_EPISODES),
            self._catalog.links(series_id=series_id, limit=_LINKS, cursor=cursor),
            parts.summaries.files(series_id),
        )
        rows = _by_episode(episodes.items, links.items, files)
        regular = [episode for episode in episodes.items if episode.kind in _REGULAR]
        return self._pages.show(
            request,
            "series.html",
            status=status,
            **await self._about(request, evidence.series),
            evidence=evidence,
            others=[one for one in others.items if one.id != series_id],
            against=SPEAK_AGAINST,
            regular=regular,
            counted=Counter(episode.state for episode in regular),
            specials=_by_kind(episodes.items),
            has=ShowExtent.of(Counter(one.state for one in episodes.items if one.kind in _COUNTED)),
            seasons=await self._seasons(request, evidence.franchise),
            more_episodes=episodes.next_cursor is not None,
            releases=rows,
            sections=_sections(rows),
            rows={row.episode.id for row in rows if row.episode is not None},
            files=files,
            choices={one.episode_id: one for one in await parts.conflicts.of_series(series_id)},
            media=await parts.media.of_files(one.id for some in files.values() for one in some),
            may_delete=parts.discards.allowed,
            deleted=await deleted_by(request, parts.discards),
            folders=sorted({(one.library_id, one.folder) for some in files.values() for one in some}),
            downloads=await parts.downloads.of_links(link.id for link in links.items),
            progress_state=DownloadProgressState,
            next_cursor=links.next_cursor,
            cursor=cursor,
            episode_states=tuple(EpisodeState),
            form=form or SeriesForm.of(evidence.series),
            wants=tuple(SeriesWish),
            libraries=(await parts.libraries.by_id()).values(),
        )

    async def _seasons(self, request: Request, franchise: Sequence[FranchisePart]) -> dict[int, KnownPart]:
        """The parts of its story that are known here, each with its title in the reader's language and its extent."""
        ids = [part.series_id for part in franchise if part.series_id is not None]
        shows, counted = await asyncio.gather(self._titles.several(request, ids), self._parts.summaries.progress(ids))
        return {one: KnownPart(show.title, ShowExtent.of(counted.get(one, {}))) for one, show in shows.items()}

    async def _about(self, request: Request, series: Series) -> dict[str, Any]:
        """What is known of the show itself: its record, its titles in the reader's language, and its episodes by number."""
        lang = self._pages.words(request).catalogue.tag
        (show,) = await shown_shows(self._parts.metadata, [series], lang)
        record = show.record
        story = await self._parts.stories.story(record.id) if record else None
        servers = await self._parts.media_servers.everything()
        links = ((one.settings.name, search_link(one.settings, show.title)) for one in servers)
        return {
            "series": series,
            "show": show,
            "record": record,
            "other_titles": [one for one in record.details.titles if one != show.title] if record else [],
            "ids": ids_of(record.details) if record else [],
            "story": story,
            "plays": [PlayLink(name, url) for name, url in links if url],
            "told": {one.number: one for one in story.episodes if one.number is not None} if story else {},
        }

    async def change(self, request: Request, series_id: str) -> Response:
        form, known = await SeriesForm.sent(request), id_of(series_id)
        if refused := await form.submit(lambda form: self._catalog.change(known, form.changes())):
            return await self.one(request, known, refused, status=refused.status)
        return self._pages.go(f"/series/{series_id}")


def _by_kind(episodes: Sequence[SeriesEpisode]) -> list[tuple[ReleaseKind, list[SeriesEpisode]]]:
    """What is no regular episode, one kind after the other; they come in that order."""
    apart = (episode for episode in episodes if episode.kind not in _REGULAR)
    return [(kind, list(some)) for kind, some in groupby(apart, key=lambda episode: episode.kind)]


def _sections(rows: Sequence[Releases]) -> list[tuple[ReleaseKind | None, list[Releases]]]:
    """The rows of the table: regular episodes without a heading, and then one kind after the other."""
    of_episodes = ((one.episode.kind, one) for one in rows if one.episode is not None)
    apart = ((None if kind in _REGULAR else kind, one) for kind, one in of_episodes)
    return [(kind, [one for _, one in some]) for kind, some in groupby(apart, key=lambda pair: pair[0])]


def _by_episode(
    episodes: Sequence[SeriesEpisode], links: Sequence[Link], files: Mapping[int, Sequence[EpisodeFile]]
) -> list[Releases]:
    """The episodes in their order, each with its releases; what names no episode comes first.

    Of a very long series only those are listed that have a release or a file.
    """
    seen: dict[int | None, list[Link]] = {}
    for link in links:
        seen.setdefault(link.episode_id, []).append(link)
    unplaced = [Releases(None, seen[None])] if None in seen else []
    is_long = len(episodes) > _ROWS
    listed = (one for one in episodes if not is_long or one.id in seen or one.id in files)
    return unplaced + [Releases(episode, seen.get(episode.id, ())) for episode in listed]
