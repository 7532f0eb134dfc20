"""The search box of every page: shows, pages and settings by their names, and the way to files and releases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.settings.fields import fields
from kurabito.site.routing import Router
from kurabito.web.navigation import NAVIGATION, SUBPAGES
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import shown_shows
from kurabito.web.words import Words

_SHOWS: Final = 8
_PAGES: Final = 8
_SETTINGS: Final = 6
_LIBRARIES: Final = 4
_LONGEST: Final = 200
_IN_EVERY_TEXT: Final = frozenset("a an and are as at by for from in is it its not of on or the to with you".split())


class FoundPage(NamedTuple):
    """A page or a setting that has the words that were typed."""

    title: str
    path: str
    name: str
    """The page of the navigation whose picture it has."""
    beside: str | None = None
    """What is said beside its title: where it stands."""


def router(pages: Pages, catalog: Catalog, metadata: MetadataService, libraries: LibraryService) -> Router:
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
            entries=[*islice(_pages(words, text), _PAGES), *islice(_settings(words, text), _SETTINGS)],
            libraries=(await libraries.list(limit=_LIBRARIES)).items if text else [],
        )

    return routes


def _pages(words: Words, text: str) -> Iterator[FoundPage]:
    for entry in NAVIGATION:
        title = words.catalogue.text(f"{entry.name}.nav")
        if _has(text, title):
            yield FoundPage(title, entry.path, entry.name)
    for page in SUBPAGES:
        title, above = words.catalogue.text(page.title), words.catalogue.text(f"{page.name}.nav")
        if _has(text, title):
            yield FoundPage(title, page.path, page.name, above)


def _settings(words: Words, text: str) -> Iterator[FoundPage]:
    for field in fields():
        label, about = words.catalogue.text(f"setting_name.{field.name}"), words.catalogue.text(f"setting.{field.name}")
        if _has(text, f"{label} {field.name}", about):
            group = words.catalogue.text(f"setting_group.{field.group}")
            yield FoundPage(label, f"/settings/{field.group}#setting-{field.name}", "settings", group)


def _has(text: str, name: str, about: str = "") -> bool:
    """Whether every word that was typed is in a name, or in what is said about it."""
    typed, known = text.casefold().split(), f"{name}\n{about}".casefold()
    return not _IN_EVERY_TEXT.issuperset(typed) and all(word in known for word in typed)
