"""One metadata record: its poster, its ids with where they lead, what it lacks and what can be done about that."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from fastapi import Request, Response

from kurabito.errors import InvalidInput
from kurabito.metadata import MetadataHandle, MetadataService
from kurabito.metadata.health import SourceHealths
from kurabito.metadata.missing import missing_metadata
from kurabito.metadata.records import Details
from kurabito.metadata.runner import SYNC
from kurabito.metadata.stories.service import StoryService
from kurabito.reasons import InputReason, refused
from kurabito.runtime import Queue
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of, id_of
from kurabito.web.pages import Pages
from kurabito.web.shows.cards import CardNames

_SITES: Final = (
    ("bgm.tv", "bgm_id", "https://bgm.tv/subject/{}"),
    ("AniDB", "anidb_id", "https://anidb.net/anime/{}"),
    ("AniList", "anilist_id", "https://anilist.co/anime/{}"),
    ("MyAnimeList", "mal_id", "https://myanimelist.net/anime/{}"),
    ("Mikan", "mikan_id", "https://mikanani.me/Home/Bangumi/{}"),
)
_TMDB: Final = "https://www.themoviedb.org/{}/{}"


class Id(NamedTuple):
    """What a record is called at one site; no URL where it is not known."""

    site: str
    number: str | None
    url: str | None


def router(
    pages: Pages,
    metadata: MetadataService,
    stories: StoryService,
    sources: SourceHealths,
    handle: MetadataHandle,
    queue: Queue,
) -> Router:
    """A record, the choice of its id, and having all of them filled in."""
    routes = Router()

    @routes.post("/metadata/sync")
    async def sync(request: Request) -> Response:
        await handle.trigger_sync()
        asked = await fields_of(request)
        return pages.go_back(asked, "/calendar")

    @routes.get("/metadata/{metadata_id}")
    async def record(request: Request, metadata_id: str) -> Response:
        found, failing, syncs, story = await asyncio.gather(
            metadata.get(id_of(metadata_id)),
            sources.failing(),
            queue.list(task_type=SYNC, limit=1),
            stories.story(id_of(metadata_id)),
        )
        return pages.show(
            request,
            "record.html",
            record=found,
            names=CardNames.of(found.details).read_in(pages.words(request).catalogue.tag),
            ids=ids_of(found.details),
            missing=missing_metadata(found, asks_tmdb=metadata.asks_tmdb, failing=failing),
            failing=failing,
            sync=syncs.items[0] if syncs.items else None,
            story=story,
        )

    @routes.post("/metadata/{metadata_id}/choose")
    async def choose(request: Request, metadata_id: str) -> Response:
        """Take one of the entries of TMDB that the record may be."""
        asked = await fields_of(request)
        found = await metadata.get(id_of(metadata_id))
        chosen = next((one for one in found.candidates if str(one.tmdb_id) == asked.get("tmdb_id")), None)
        if chosen is None:
            problem = "is none of those that this record may be; reload the page"
            raise InvalidInput("tmdb_id", problem, refused(InputReason.GONE))
        changes = {"tmdb_id": chosen.tmdb_id, "tmdb_kind": chosen.kind, "tmdb_season": chosen.season}
        await metadata.change(found.id, changes)
        return pages.go(f"/metadata/{found.id}")

    return routes


def ids_of(details: Details) -> list[Id]:
    """What a record is called elsewhere, the two sites first that it is looked up at."""
    named = [(site, getattr(details, name), url) for site, name, url in _SITES]
    ids = [Id(site, str(number), url.format(number)) if number else Id(site, None, None) for site, number, url in named]
    return [ids[0], _tmdb(details), *ids[1:]]


def _tmdb(details: Details) -> Id:
    if details.tmdb_id is None:
        return Id("TMDB", None, None)
    url = _TMDB.format(details.tmdb_kind or "tv", details.tmdb_id)
    if details.tmdb_season is None:
        return Id("TMDB", str(details.tmdb_id), url)
    return Id("TMDB", f"{details.tmdb_id} / {details.tmdb_season}", f"{url}/season/{details.tmdb_season}")
