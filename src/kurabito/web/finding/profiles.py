"""*Preferences*: profiles with a name, and the own preferences of a show."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.downloads.choice import DEFAULT
from kurabito.downloads.profiles.model import ReleaseProfile
from kurabito.downloads.profiles.score import steps
from kurabito.downloads.profiles.service import ReleaseProfiles
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import NO_PREFERENCES, Batches, Policy
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.finding.profile_form import LISTS, SWITCHES, ProfileForm
from kurabito.web.forms import fields_of, id_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShownSeries, ShowTitles

_PATH: Final = "/rules/profiles"
_OWN: Final = "own"


def router(pages: Pages, profiles: ReleaseProfiles, catalog: Catalog, metadata: MetadataService) -> Router:
    """The profiles, one of them, and that of a show."""
    routes = Router()
    view = _ProfilePages(pages, profiles)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await view.show(request)

    @routes.post(_PATH)
    async def add(request: Request) -> Response:
        return await view.save(request, await ProfileForm.sent(request))

    @routes.get(f"{_PATH}/{{profile_id}}")
    async def one(request: Request, profile_id: str) -> Response:
        return await view.show(request, profile=await profiles.get(id_of(profile_id)))

    @routes.post(f"{_PATH}/{{profile_id}}")
    async def change(request: Request, profile_id: str) -> Response:
        return await view.save(request, await ProfileForm.sent(request), await profiles.get(id_of(profile_id)))

    @routes.post(f"{_PATH}/{{profile_id}}/remove")
    async def remove(profile_id: str) -> Response:
        await profiles.remove(id_of(profile_id))
        return pages.go(_PATH)

    _series_routes(routes, view, pages, profiles, ShowTitles(pages, catalog, metadata))
    return routes


def _series_routes(
    routes: Router, view: _ProfilePages, pages: Pages, profiles: ReleaseProfiles, titles: ShowTitles
) -> None:
    """What a show uses, or has of its own."""

    @routes.get("/series/{series_id}/profile")
    async def of_series(request: Request, series_id: str) -> Response:
        series = await titles.one(request, id_of(series_id))
        return await view.show(request, series=series, profile=await profiles.of_series(series.id))

    @routes.post("/series/{series_id}/profile")
    async def use(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        if (chosen := asked.get("profile", "")) != _OWN:
            await profiles.use(id_of(series_id), id_of(chosen) if chosen else None)
        return pages.go(f"/series/{id_of(series_id)}/profile")

    @routes.post("/series/{series_id}/profile/own")
    async def set_own(request: Request, series_id: str) -> Response:
        form, known = await ProfileForm.sent(request), id_of(series_id)
        refused = await form.submit(lambda one: profiles.set_own(known, one.chosen()))
        if refused is None:
            return pages.go(f"/series/{known}/profile")
        series = await titles.one(request, known)
        return await view.show(request, series=series, form=refused)


class _ProfilePages:
    """Shows a form for a new profile, for one that there is, or for a show."""

    def __init__(self, pages: Pages, profiles: ReleaseProfiles) -> None:
        self._pages = pages
        self._profiles = profiles

    async def save(self, request: Request, form: ProfileForm, profile: ReleaseProfile | None = None) -> Response:
        """Store what was filled in, or show it again with the reason."""

        async def store(one: ProfileForm) -> None:
            name, chosen = one.named(), one.chosen()
            if profile is None:
                made = await self._profiles.add(name, chosen)
            else:
                made = await self._profiles.change(profile.id, name, chosen)
            if one.is_checked("is_default") != made.is_default:
                await self._profiles.make_default(made.id if one.is_checked("is_default") else None)

        refused = await form.submit(store)
        if refused is None:
            return self._pages.go(_PATH)
        return await self.show(request, profile=profile, form=refused)

    async def show(
        self,
        request: Request,
        *,
        profile: ReleaseProfile | None = None,
        series: ShownSeries | None = None,
        form: ProfileForm | None = None,
    ) -> Response:
        if form is None:
            chosen = DEFAULT if profile is None else profile.preferences
            name = None if profile is None else profile.name
            form = ProfileForm.of(chosen, name, is_default=profile is not None and profile.is_default)
        try:
            liked = form.chosen().preferred
        except InvalidInput:
            liked = NO_PREFERENCES
        worth = {name.value: points for name, points in steps(liked).items()}
        return self._pages.show(
            request,
            "profiles.html",
            status=form.status,
            profiles=await self._profiles.everything(),
            profile=profile,
            series=series,
            form=form,
            lists={name: worth[_PART_OF[name]] for name in LISTS},
            switches=SWITCHES,
            policies=tuple(Policy),
            batches=tuple(Batches),
        )


_PART_OF: Final = {
    "groups": "group",
    "languages": "language",
    "resolutions": "resolution",
    "sources": "source",
    "codecs": "codec",
    "audio": "audio",
}
