"""How a library names its files: templates and choices, tried on ten examples while they are typed."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.errors import InvalidInput
from kurabito.library.service import LibraryService
from kurabito.placements.library_naming import LibraryNaming, NamePreview
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import PRESETS, TEMPLATES, ExtrasChoice, Preset
from kurabito.placements.naming.sidecars import SubtitleStyle
from kurabito.placements.naming.template import LONGEST_TEMPLATE
from kurabito.placements.naming.tokens import TOKENS
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.forms import id_of
from kurabito.web.library.naming_form import NamingForm
from kurabito.web.pages import Pages

_PATH: Final = "/library/{library_id}/naming"
_CHOICES: Final = {"numbering": NumberingScheme, "subtitle_style": SubtitleStyle, "extras": ExtrasChoice}

_NAMES: Final = {Preset.JELLYFIN: "Jellyfin", Preset.PLEX: "Plex", Preset.KODI: "Kodi"}
"""The presets that are called as the programs are, in every language."""


def router(pages: Pages, libraries: LibraryService, naming: LibraryNaming) -> Router:
    """The naming of one library."""
    routes = Router()
    view = _NamingPages(pages, libraries, naming)

    @routes.get(_PATH)
    async def overview(request: Request, library_id: str) -> Response:
        chosen = request.query_params.get("preset", "")
        form = NamingForm.of(PRESETS[Preset(chosen)] if chosen in {*Preset} else await naming.get(id_of(library_id)))
        return await view.show(request, library_id, form)

    @routes.post(_PATH)
    async def change(request: Request, library_id: str) -> Response:
        form = await NamingForm.sent(request)
        try:
            await naming.change(id_of(library_id), form.naming())
        except InvalidInput as problem:
            return await view.show(request, library_id, form.refused(problem), status=status_of(problem))
        return pages.go(f"/library/{library_id}/naming")

    @routes.get(f"{_PATH}/try")
    async def again(library_id: str) -> Response:
        # A reader who changes the language of what was tried comes by here.
        return pages.go(f"/library/{id_of(library_id)}/naming")

    @routes.post(f"{_PATH}/try")
    async def attempt(request: Request, library_id: str) -> Response:
        return await view.show(request, library_id, await NamingForm.sent(request))

    return routes


class _NamingPages:
    """Shows the form, and what ten examples would be called."""

    def __init__(self, pages: Pages, libraries: LibraryService, naming: LibraryNaming) -> None:
        self._pages = pages
        self._libraries = libraries
        self._naming = naming

    async def show(self, request: Request, library_id: str, form: NamingForm, *, status: int = 200) -> Response:
        kept = await self._libraries.get(id_of(library_id))
        tried: list[NamePreview] = []
        try:
            tried = await self._naming.preview(form.naming())
        except InvalidInput as problem:
            # A template that is half written is nothing wrong yet; it is said where the outcome would stand.
            form = form.doubted(problem)
        return self._pages.show(
            request,
            "naming.html",
            status=status,
            library=kept.library,
            form=form,
            tried=tried,
            presets={preset: _NAMES.get(preset) for preset in Preset},
            preset=form.preset(),
            templates=TEMPLATES,
            longest=LONGEST_TEMPLATE,
            choices=_CHOICES,
            tokens=sorted(TOKENS),
        )
