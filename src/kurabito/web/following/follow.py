"""Following a feed, in steps: its URL, what it would give, and what of that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.previews import PreviewedItem, Previews
from kurabito.errors import InvalidInput, KurabitoError
from kurabito.feeds.errors import FeedUnreadable, SubscriptionConflict
from kurabito.feeds.parser import Feed
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.http.errors import HostNotAllowed, OutboundError
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.following.following import choices_of_series
from kurabito.web.following.subscription_form import SubscriptionForm
from kurabito.web.forms import Problem
from kurabito.web.pages import Pages

_SEVERAL: Final = 2
OFFERED: Final = 200
"""Items that can be chosen one by one; a feed may have more, and they are counted."""


class Summary(NamedTuple):
    """How many items of each kind a feed has."""

    items: int
    known: int
    new: int
    unread: int
    refused: int


def router(pages: Pages, subscriptions: Subscriptions, previews: Previews, catalog: Catalog) -> Router:
    """The way from a URL to a subscription. Nothing is stored before the last step."""
    routes = Router()
    steps = _Steps(pages, previews, catalog)

    @routes.get("/following/new")
    async def ask(request: Request) -> Response:
        # A URL that was pasted into the search comes by here.
        return steps.ask(request, SubscriptionForm({"url": request.query_params.get("url", "")}))

    @routes.post("/following/new")
    async def look(request: Request) -> Response:
        return await steps.offer(request, await SubscriptionForm.sent(request))

    @routes.post("/following")
    async def follow(request: Request) -> Response:
        form = await SubscriptionForm.sent(request)
        try:
            made = await subscriptions.create(SubscriptionSettings(**form.changes()), form.start_with, form.chosen)
        except (InvalidInput, SubscriptionConflict) as problem:
            return await steps.offer(request, form.refused(problem), status=status_of(problem))
        # The set-up has its feed followed here, and goes on.
        return pages.go_back({"next": form.value("next")}, f"/following/{made.id}")

    return routes


class _Steps:
    """Shows the steps. What is refused is shown again as it was filled in, beside the reason."""

    def __init__(self, pages: Pages, previews: Previews, catalog: Catalog) -> None:
        self._pages = pages
        self._previews = previews
        self._catalog = catalog

    def ask(self, request: Request, form: SubscriptionForm, error: KurabitoError | None = None) -> Response:
        """The first step, with why the feed could not be looked into."""
        return self._pages.show(
            request,
            "follow.html",
            status=200 if error is None else status_of(error),
            form=form,
            error=error,
            # It is for the reader to say that his own network is meant.
            may_allow=isinstance(error, HostNotAllowed) and not form.allows_private,
            feed=None,
        )

    async def offer(self, request: Request, form: SubscriptionForm, *, status: int = 200) -> Response:
        """The second step; back at the first when there is nothing to show."""
        try:
            feed, offers = await self._previews.look(form.url, allows_private=form.allows_private)
        except (OutboundError, FeedUnreadable) as error:
            return self.ask(request, replace(form, problem=Problem("url", str(error))), error)
        form = form.named(feed.title)
        if _is_of_one_show(offers):
            form = form.about_one_show()
        return self._pages.show(
            request,
            "follow.html",
            status=status,
            form=form,
            error=None,
            feed=feed,
            offers=offers[:OFFERED],
            further=max(0, len(offers) - OFFERED),
            summary=_summary(feed, offers),
            series=await choices_of_series(self._catalog, form),
            new_series=tuple(NewSeries),
            starts=tuple(StartWith),
        )


def _is_of_one_show(offers: Sequence[PreviewedItem]) -> bool:
    """Whether all items that can be read are of one show; a single item could be the first of many."""
    read = [offer.release for offer in offers if offer.release is not None]
    if len(read) < _SEVERAL:
        return False
    shared = set.intersection(*({name.folded for name in release.names} for release in read))
    return bool(shared)


def _summary(feed: Feed, offers: list[PreviewedItem]) -> Summary:
    return Summary(
        items=len(offers),
        known=sum(offer.series is not None for offer in offers),
        new=sum(offer.release is not None and offer.series is None for offer in offers),
        unread=sum(offer.release is None for offer in offers),
        refused=len(feed.refused),
    )
