"""The search box of every page: shows by any of their names, pages by theirs, and the way to the search for releases."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.navigation import NAVIGATION
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import shown_shows
from kurabito.web.words import Words

_SHOWS: Final = 8
_LONGEST: Final = 200


def router(pages: Pages, catalog: Catalog, metadata: MetadataService) -> Router:
    """What is found, as a page; the box shows its list while one types."""
    routes = Router()

    @routes.get("/find")
    async def find(request: Request) -> Response:
        text = request.query_params.get("q", "").strip()[:_LONGEST]
        found = (await catalog.series(name=text, limit=_SHOWS)).items if text else []
        words = pages.words(request)
        return pages.show(
            request,
            "find.html",
            find_text=text,
            shows=await shown_shows(metadata, found, words.catalogue.tag),
            entries=[entry for entry in NAVIGATION if text and _is_named(words, entry.name, text)],
        )

    return routes


def _is_named(words: Words, name: str, text: str) -> bool:
    return text.casefold() in words.catalogue.text(f"{name}.nav").casefold()
