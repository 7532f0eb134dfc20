"""*Following*: the feeds that are followed, how each is, and what came of its items."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import Series
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.errors import InvalidInput
from kurabito.feeds.health import feed_health
from kurabito.feeds.raw_items import RawStatus
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.subscriptions import NewSeries
from kurabito.metadata import MetadataService
from kurabito.runtime.paging import MAX_PAGE
from kurabito.site.routing import Router
from kurabito.web.following.subscription_form import SubscriptionForm
from kurabito.web.forms import fields_of, id_cursor, id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShowTitles

_SUBSCRIPTIONS: Final = 50
_ITEMS: Final = 50
_UNREAD: Final = 5


def router(
    pages: Pages,
    subscriptions: Subscriptions,
    catalog: Catalog,
    summaries: CatalogSummaries,
    metadata: MetadataService,
) -> Router:
    """The subscriptions, one of them, and what can be done to it."""
    routes = Router()
    feeds = _Feeds(pages, subscriptions, catalog, summaries, ShowTitles(pages, catalog, metadata))

    routes.add_api_route("/following", feeds.overview)
    routes.add_api_route("/following/{subscription_id}", feeds.change, methods=["POST"])

    @routes.get("/following/{subscription_id}")
    async def subscription(request: Request, subscription_id: str) -> Response:
        return await feeds.one(request, id_of(subscription_id))

    @routes.post("/following/{subscription_id}/fetch")
    async def fetch(request: Request, subscription_id: str) -> Response:
        await subscriptions.fetch_now(id_of(subscription_id))
        return await feeds.back(request, subscription_id)

    @routes.post("/following/{subscription_id}/pause")
    async def pause(request: Request, subscription_id: str) -> Response:
        return await feeds.apply_changes(request, subscription_id, {"is_enabled": False})

    @routes.post("/following/{subscription_id}/resume")
    async def resume(request: Request, subscription_id: str) -> Response:
        return await feeds.apply_changes(request, subscription_id, {"is_enabled": True})

    @routes.post("/following/{subscription_id}/allow")
    async def allow(request: Request, subscription_id: str) -> Response:
        return await feeds.apply_changes(request, subscription_id, {"allows_private": True})

    @routes.post("/following/{subscription_id}/remove")
    async def remove(subscription_id: str) -> Response:
        await subscriptions.remove(id_of(subscription_id))
        return pages.go("/following")

    return routes


async def choices_of_series(catalog: Catalog, form: SubscriptionForm) -> list[Series]:
    """The series that a feed can be about, by their titles, with the one that is set."""
    known = {series.id: series for series in (await catalog.series(limit=MAX_PAGE)).items}
    try:
        chosen = form.series_id()
    except InvalidInput:
        chosen = None
    if chosen is not None and chosen not in known and form.problem is None:
        known[chosen] = await catalog.get(chosen)
    return sorted(known.values(), key=lambda series: (series.title.casefold(), series.season))


class _Feeds:
    """Shows the two pages; a form that was refused is shown again as it was filled in."""

    def __init__(
        self,
        pages: Pages,
        subscriptions: Subscriptions,
        catalog: Catalog,
        summaries: CatalogSummaries,
        titles: ShowTitles,
    ) -> None:
        self._pages = pages
        self._subscriptions = subscriptions
        self._catalog = catalog
        self._summaries = summaries
        self._titles = titles

    async def overview(self, request: Request) -> Response:
        cursor = id_cursor(request)
        page, unread = await asyncio.gather(
            self._subscriptions.page(limit=_SUBSCRIPTIONS, cursor=cursor),
            self._catalog.raw_items(status=RawStatus.FAILED, limit=_UNREAD),
        )
        return self._pages.show(
            request,
            "following.html",
            subscriptions=page.items,
            unread=unread,
            cursor=cursor,
            next_cursor=page.next_cursor,
            feed_health=feed_health,
        )

    async def one(
        self, request: Request, subscription_id: int, form: SubscriptionForm | None = None, *, status: int = 200
    ) -> Response:
        asked = request.query_params
        found = await self._subscriptions.get(subscription_id)
        form = form or SubscriptionForm.of(found.settings)
        wanted = one_of(RawStatus, "status", asked["status"]) if asked.get("status") else None
        items, series = await asyncio.gather(
            self._catalog.raw_items(
                subscription_id=subscription_id, status=wanted, limit=_ITEMS, cursor=asked.get("cursor")
            ),
            choices_of_series(self._catalog, form),
        )
        decisions = await self._summaries.decisions(items.items)
        return self._pages.show(
            request,
            "subscription.html",
            status=status,
            subscription=found,
            items=items,
            decisions=decisions,
            shows=await self._titles.several(request, {one.series_id for one in decisions.values()}),
            wanted=wanted,
            statuses=tuple(RawStatus),
            cursor=asked.get("cursor"),
            series=series,
            new_series=tuple(NewSeries),
            form=form,
            feed_health=feed_health,
        )

    async def change(self, request: Request, subscription_id: str) -> Response:
        form, known = await SubscriptionForm.sent(request), id_of(subscription_id)
        if refused := await form.submit(lambda form: self._subscriptions.change(known, form.changes())):
            return await self.one(request, known, refused, status=refused.status)
        return self._pages.go(f"/following/{subscription_id}")

    async def apply_changes(self, request: Request, subscription_id: str, changes: Mapping[str, Any]) -> Response:
        """Change it, and go back to where the button stood."""
        await self._subscriptions.change(id_of(subscription_id), changes)
        return await self.back(request, subscription_id)

    async def back(self, request: Request, subscription_id: str) -> Response:
        asked = await fields_of(request)
        return self._pages.go_back(asked, f"/following/{subscription_id}")
