"""The feeds behind a shared address. The token in the path is the only key to them, and they are all that it opens."""

from __future__ import annotations

from datetime import timedelta
from importlib.metadata import version
from typing import Annotated, Final

from fastapi import Path, Query, Request, Response

from kurabito.access import LoginLimit, SharedAddresses
from kurabito.access.errors import GuessedTooOften, SharedAddressNotFound
from kurabito.access.shared_addresses import ARRIVALS_PATH, CALENDAR_PATH
from kurabito.api.shared import ical, rss
from kurabito.downloads.history.airings import Airings
from kurabito.downloads.history.entry import HistoryFilter, HistoryKind
from kurabito.downloads.history.service import History
from kurabito.site.addresses import one_client
from kurabito.site.errors import documented
from kurabito.site.routing import Router

_ITEMS: Final = 100
_KINDS: Final = (HistoryKind.PLACED, HistoryKind.UPGRADED)
Token = Annotated[str, Path(max_length=100, description="the secret part of a shared address")]
Days = Annotated[int, Query(ge=0, le=366)]


class _Guard:
    """Lets those in who know an address; guesses become slower and slower."""

    def __init__(self, addresses: SharedAddresses) -> None:
        self._addresses = addresses
        self._limit = LoginLimit()

    async def check(self, request: Request, token: str) -> None:
        """Raises SharedAddressNotFound and GuessedTooOften."""
        # A token cannot be guessed, so a good one is let in whatever else comes from the same network.
        if await self._addresses.holder(token) is not None:
            return
        guesser = one_client(getattr(request.state, "client", None) or "unknown")
        if wait := self._limit.wait(guesser):
            raise GuessedTooOften(wait)
        self._limit.failed(guesser)
        raise SharedAddressNotFound("this address is not good, or not any more; make a new one on the page History")


def router(addresses: SharedAddresses, airings: Airings, history: History) -> Router:
    """The two feeds."""
    routes = Router(tags=["shared addresses"])
    guard = _Guard(addresses)

    @routes.get(CALENDAR_PATH, responses=documented(404, 422), response_class=Response)
    async def shared_calendar(
        request: Request, token: Token, past_days: Days = 28, future_days: Days = 180
    ) -> Response:
        """The days of the episodes of followed shows, as iCalendar."""
        await guard.check(request, token)
        found = await airings.around(past=timedelta(days=past_days), future=timedelta(days=future_days))
        text = ical.calendar_of(found, site=_site(request), version=version("kurabito"))
        return Response(text, media_type=ical.MEDIA_TYPE)

    @routes.get(ARRIVALS_PATH, responses=documented(404, 422), response_class=Response)
    async def shared_arrivals(
        request: Request,
        token: Token,
        kind: Annotated[
            list[HistoryKind] | None, Query(description="left out: what was placed in a library, upgrades included")
        ] = None,
    ) -> Response:
        """What arrived, as RSS."""
        await guard.check(request, token)
        wanted = HistoryFilter(kinds=tuple(one for one in kind or _KINDS if one in _ARRIVED) or _KINDS)
        page = await history.page(wanted, limit=_ITEMS)
        return Response(rss.feed_of(page, site=_site(request)), media_type=rss.MEDIA_TYPE)

    return routes


_ARRIVED: Final = frozenset({*_KINDS, HistoryKind.COMPLETED})
"""What an address shows at most."""


def _site(request: Request) -> str:
    """The address of this installation, as the caller knows it."""
    return str(request.base_url).rstrip("/")
