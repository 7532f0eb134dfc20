"""The panel of one file: its picture, what it is, where it lies, its copies, where it came from and what happened to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.library.deletion.discards import Discarding, Discards
from kurabito.library.duplicates.groups import Duplicates, GroupKey
from kurabito.library.media.readings import MediaReadings
from kurabito.library.media.store import is_media
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.placements.file_story import FileStories, FileStory
from kurabito.site.routing import Router
from kurabito.titles import parse_title
from kurabito.web.forms import fields_of, id_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import shown_shows

_COPIES: Final = 20
_CONTAINERS: Final = {"matroska,webm": "Matroska", "mov,mp4,m4a,3gp,3g2,mj2": "MP4", "mpegts": "MPEG-TS", "avi": "AVI"}
"""What FFmpeg's names of several formats at once are called by people."""
_DELETED: Final = "deleted"
"""The field of an address that names the job of what was deleted."""


@dataclass(frozen=True, slots=True)
class FileParts:
    """What the panel of a file asks."""

    stories: FileStories
    libraries: LibraryService
    catalog: Catalog
    metadata: MetadataService
    duplicates: Duplicates
    media: MediaReadings
    discards: Discards


def router(pages: Pages, parts: FileParts) -> Router:
    """One file."""
    routes = Router()

    @routes.get("/files/{file_id}")
    async def file(request: Request, file_id: str) -> Response:
        story = await parts.stories.of(id_of(file_id))
        lang = pages.words(request).catalogue.tag
        known = await parts.catalog.several({one.series_id for one in story.episodes})
        group = _group_of(story)
        shows, copies, libraries, media = await asyncio.gather(
            shown_shows(parts.metadata, list(known.values()), lang),
            _copies(parts.duplicates, story, group),
            parts.libraries.by_id(),
            parts.media.of_files([story.file.id]),
        )
        return pages.show(
            request,
            "file.html",
            story=story,
            file=story.file,
            read=parse_title(story.file.name),
            library=libraries[story.library_id],
            libraries=libraries,
            shows={one.id: one for one in shows},
            group=group,
            copies=copies,
            media=media.get(story.file.id),
            containers=_CONTAINERS,
            is_media=is_media(story.file.name),
            may_delete=parts.discards.allowed,
            deleted=await deleted_by(request, parts.discards),
        )

    _deletion(routes, pages, parts.discards)
    return routes


async def deleted_by(request: Request, discards: Discards) -> Discarding | None:
    """What became of the files that the reader has just deleted, if the address tells of some."""
    job_id = request.query_params.get(_DELETED)
    return await discards.outcome(job_id) if job_id else None


def _deletion(routes: Router, pages: Pages, discards: Discards) -> None:
    """A file goes to the trash, and comes back."""

    @routes.post("/files/{file_id}/delete")
    async def delete(request: Request, file_id: str) -> Response:
        asked = await fields_of(request)
        job_id = await discards.discard([id_of(file_id)])
        return pages.go(f"{_back(pages, asked, file_id)}?{_DELETED}={job_id}")

    @routes.post("/files/{file_id}/undelete")
    async def undelete(request: Request, file_id: str) -> Response:
        asked = await fields_of(request)
        job_id = asked.get(_DELETED, "")
        await discards.undo(job_id)
        return pages.go(f"{_back(pages, asked, file_id)}?{_DELETED}={quote(job_id)}")


def _back(pages: Pages, asked: Mapping[str, str], file_id: str) -> str:
    """The page where the button stood, without what it was told before."""
    return pages.addresses.within(asked.get("next") or f"/files/{id_of(file_id)}").partition("?")[0]


def _group_of(story: FileStory) -> str | None:
    """The content that it has, if that was read."""
    file = story.file
    if file.hash_algorithm is None or file.content_hash is None or file.needs_hash:
        return None
    return str(GroupKey(file.hash_algorithm, bytes(file.content_hash)))


async def _copies(duplicates: Duplicates, story: FileStory, group: str | None) -> list[object]:
    if group is None or story.file.same_content < 2:
        return []
    return [one for one in await duplicates.files(group, limit=_COPIES) if one.id != story.file.id]
