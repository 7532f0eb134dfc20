"""The indexers: how each is, how it is asked, and the sites that can be added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request, Response

from kurabito.indexers.addresses import without_login
from kurabito.indexers.model import (
    MOST_CATEGORIES,
    MOST_CATEGORY,
    MOST_PER_HOUR,
    MOST_RATIO,
    MOST_SEED_MINUTES,
    MOST_SEEDERS,
    PRIORITIES,
    IndexerKind,
    IndexerSettings,
    StoredIndexer,
)
from kurabito.indexers.service import IndexerOutcome, Indexers
from kurabito.site.routing import Router
from kurabito.web.forms import CHECKED, Form, count_of, id_of, line_of, listed, ratio_of, whole_of
from kurabito.web.pages import Pages

_PATH: Final = "/search/indexers"


@dataclass(frozen=True, slots=True)
class IndexerForm(Form):
    """An indexer as it is now, or as it was filled in. The key is taken and never shown."""

    FIELDS = (
        "name",
        "url",
        "api_key",
        "min_seeders",
        "priority",
        "per_hour",
        "site",
        "proxy",
        "seed_ratio",
        "seed_minutes",
        "categories",
    )

    @classmethod
    def of(cls, indexer: StoredIndexer) -> IndexerForm:
        settings = indexer.settings
        return cls(
            {
                "name": settings.name,
                "url": settings.url or "",
                "categories": ", ".join(map(str, settings.categories)),
                "allows_private": CHECKED if settings.allows_private else "",
                "min_seeders": str(settings.min_seeders),
                "priority": str(settings.priority),
                "per_hour": str(settings.per_hour),
                "is_enabled": CHECKED if settings.is_enabled else "",
                "proxy": without_login(settings.proxy) if settings.proxy else "",
                "seed_ratio": "" if settings.seed_ratio is None else f"{settings.seed_ratio:g}",
                "seed_minutes": "" if settings.seed_minutes is None else str(settings.seed_minutes),
            }
        )

    def changes(self) -> dict[str, Any]:
        """What its keeper decides; raises InvalidInput."""
        key, minutes = self.value("api_key").strip(), self.value("seed_minutes").strip()
        return {
            **self._place(),
            "min_seeders": count_of("min_seeders", self.value("min_seeders"), MOST_SEEDERS),
            "priority": whole_of("priority", self.value("priority"), *PRIORITIES),
            "per_hour": count_of("per_hour", self.value("per_hour"), MOST_PER_HOUR),
            "is_enabled": self.is_checked("is_enabled"),
            "proxy": self.value("proxy").strip() or None,
            "seed_ratio": self._seed_ratio(),
            "seed_minutes": count_of("seed_minutes", minutes, MOST_SEED_MINUTES) if minutes else None,
            **({"api_key": line_of("api_key", key, 500)} if key else {}),
        }

    def _place(self) -> dict[str, Any]:
        """What it is called, where it is, and what is asked for there; a field that was not sent stays as it is."""
        place: dict[str, Any] = {}
        if "name" in self.typed:
            place["name"] = line_of("name", self.value("name"), 100)
        if "url" in self.typed:
            place |= {"url": self.value("url").strip(), "allows_private": self.is_checked("allows_private")}
        if "categories" in self.typed:
            named = listed("categories", self.value("categories"), MOST_CATEGORIES)
            place["categories"] = tuple(count_of("categories", one, MOST_CATEGORY) for one in named)
        return place

    def _seed_ratio(self) -> float | None:
        text = self.value("seed_ratio").strip().replace(",", ".")
        return ratio_of("seed_ratio", text, MOST_RATIO) if text else None

    def torznab(self) -> IndexerSettings:
        """A new indexer; raises InvalidInput."""
        return IndexerSettings(
            kind=IndexerKind.TORZNAB,
            name=line_of("name", self.value("name"), 100),
            url=self.value("url"),
            api_key=self.value("api_key").strip() or None,
            allows_private=self.is_checked("allows_private"),
        )

    def site(self) -> IndexerSettings:
        """A site as it is described."""
        return IndexerSettings(kind=IndexerKind.SITE, name="", site=self.value("site"))


def router(pages: Pages, indexers: Indexers) -> Router:
    """The indexers, and what is decided about them."""
    routes = Router()
    own = _IndexerPages(pages, indexers)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await own.show(request)

    @routes.post(_PATH)
    async def add(request: Request) -> Response:
        refused = await (await IndexerForm.sent(request)).submit(lambda form: indexers.add(form.torznab()))
        return await own.show(request, new=refused) if refused else pages.go(_PATH)

    @routes.post(f"{_PATH}/sites")
    async def add_site(request: Request) -> Response:
        refused = await (await IndexerForm.sent(request)).submit(lambda form: indexers.add(form.site()))
        return await own.show(request, new=refused) if refused else pages.go(_PATH)

    @routes.post(f"{_PATH}/{{indexer_id}}")
    async def change(request: Request, indexer_id: str) -> Response:
        form, known = await IndexerForm.sent(request), id_of(indexer_id)
        refused = await form.submit(lambda one: indexers.change(known, one.changes()))
        return await own.show(request, forms={known: refused}) if refused else pages.go(_PATH)

    @routes.get(f"{_PATH}/{{indexer_id}}/test")
    async def again() -> Response:
        # A reader who changes the language of what was tested comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/{{indexer_id}}/test")
    async def test(request: Request, indexer_id: str) -> Response:
        return await own.show(request, tested=await indexers.test(id_of(indexer_id)))

    @routes.post(f"{_PATH}/{{indexer_id}}/remove")
    async def remove(indexer_id: str) -> Response:
        await indexers.remove(id_of(indexer_id))
        return pages.go(_PATH)

    return routes


class _IndexerPages:
    """Shows the indexers. What is refused is shown again as it was filled in, beside the reason."""

    def __init__(self, pages: Pages, indexers: Indexers) -> None:
        self._pages = pages
        self._indexers = indexers

    async def show(
        self,
        request: Request,
        *,
        new: IndexerForm | None = None,
        forms: Mapping[int, IndexerForm] | None = None,
        tested: IndexerOutcome | None = None,
    ) -> Response:
        everything = await self._indexers.everything()
        sites, faults = await self._indexers.sites()
        filled = dict(forms or {})
        return self._pages.show(
            request,
            "indexers.html",
            status=max((form.status for form in (new, *filled.values()) if form is not None), default=200),
            indexers=everything,
            forms={one.id: IndexerForm.of(one) for one in everything} | filled,
            new=new or IndexerForm(),
            sites=sites,
            added={one.settings.site for one in everything},
            faults=faults,
            queries={one.id: await self._indexers.queries(one.id) for one in everything},
            tested=tested,
        )
