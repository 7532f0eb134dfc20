"""TMDB: everything in Japanese that began in one year, read once a day."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from kurabito.clock import Clock, SystemClock
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, OutboundError, Unreachable, UrlNotAllowed
from kurabito.http.retries import PASSING
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.health import MetadataSource, SourceReports
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.single_flight import SingleFlight
from kurabito.metadata.sources.answers import MALFORMED
from kurabito.metadata.sources.tmdb_pages import KEPT_FOR, TmdbPages, YearPage
from kurabito.metadata.sources.tmdb_titles import (
    Title,
    Titles,
    TmdbSeason,
    as_object,
    by_name,
    picture_at,
    poster_in,
    read_count,
    read_seasons,
    read_title,
    read_titles,
)

__all__ = ["TMDB_LIMITS", "Title", "Titles", "TmdbClient", "TmdbSeason"]

T = TypeVar("T")
TMDB_LIMITS: Final = Limits(attempts=4, passing=PASSING | {500})
_LANGUAGE: Final = "ja"
_LISTS_KEPT: Final = 48
_LAST_PAGE: Final = 500
"""TMDB gives no more than this many."""
_ROUNDS: Final = 3
"""How often the pages of a list that failed are asked for before the list has failed."""

# Films and shows have the same things under other names.
_YEAR: Final = {TmdbKind.TV: "first_air_date_year", TmdbKind.MOVIE: "primary_release_year"}
_SORT: Final = {TmdbKind.TV: "first_air_date.asc", TmdbKind.MOVIE: "primary_release_date.asc"}


class TmdbClient:
    """Asks TMDB; raises TmdbError when it does not answer as it should. Without a key it is off."""

    def __init__(
        self,
        outbound: Outbound,
        key: str | None,
        *,
        url: str,
        image_url: str,
        pages: TmdbPages | None = None,
        reports: SourceReports | None = None,
        clock: Clock | None = None,
        limits: Limits = TMDB_LIMITS,
    ) -> None:
        self._outbound = outbound
        self.use(key, url=url, image_url=image_url)
        self._pages = pages or TmdbPages()
        self._reports = reports or SourceReports()
        self._clock = clock or SystemClock()
        self._limits = limits
        self._lists: OrderedDict[tuple[TmdbKind, int], tuple[int, Titles]] = OrderedDict()
        self._reading: SingleFlight[Titles] = SingleFlight()

    def use(self, key: str | None, *, url: str, image_url: str) -> None:
        """Ask with this key, and there, from now on."""
        self._key = key
        self._url = url.rstrip("/")
        self._image_url = image_url.rstrip("/")

    @property
    def is_on(self) -> bool:
        """Whether there is a key to ask with."""
        return bool(self._key)

    async def check(self) -> None:
        """Ask for something small; raises TmdbError when TMDB does not answer, or refuses the key."""
        await self._ask(f"/search/{TmdbKind.TV}", {"query": "a"}, as_object)

    async def titles_of(self, kind: TmdbKind, year: int) -> Titles:
        """Everything in Japanese that began in a year: read once a day, however many ask."""
        known = self._lists.get((kind, year))
        if known is not None and self._clock.now() - known[0] < KEPT_FOR:
            self._lists.move_to_end((kind, year))
            return known[1]
        return await self._reading.do((kind, year), lambda: self._read_year(kind, year))

    async def search(self, kind: TmdbKind, name: str, year: int | None = None) -> list[Title]:
        """What TMDB finds for a name, the best first; with a year, only what began in it."""
        asked = {"query": name} if year is None else {"query": name, _YEAR[kind]: str(year)}
        return await self._ask(f"/search/{kind}", asked, lambda answer: read_titles(kind, answer, self._image_url))

    async def seasons_of(self, show_id: int) -> list[TmdbSeason]:
        """The seasons of a show; none when TMDB has no such show, or says nothing about them."""
        return await self._about(TmdbKind.TV, show_id, lambda one: list(read_seasons(one, self._image_url))) or []

    async def poster_of(self, kind: TmdbKind, tmdb_id: int) -> str | None:
        """Where the poster of a show or film is; None when there is none."""
        return await self._about(kind, tmdb_id, lambda one: poster_in(one, self._image_url))

    async def title(self, kind: TmdbKind, tmdb_id: int) -> Title | None:
        """One title; None when TMDB has no such id, or no name for it."""
        return await self._about(kind, tmdb_id, lambda one: read_title(kind, one, self._image_url))

    async def _about(self, kind: TmdbKind, tmdb_id: int, read: Callable[[dict[str, Any]], T]) -> T | None:
        """What is read from TMDB's answer about one title; None when it has no such id."""
        try:
            return await self._ask(f"/{kind}/{tmdb_id}", {}, lambda answer: read(as_object(answer, has="id")))
        except TmdbError as error:
            if _answered(error, 404):
                return None
            raise

    async def read(self, path: str, params: Mapping[str, str], read: Callable[[dict[str, Any]], T]) -> T:
        """What is read from TMDB's answer at a path of its API."""
        return await self._ask(path, params, lambda answer: read(as_object(answer)))

    def picture(self, path: Any) -> str | None:
        """The URL of a picture that TMDB names by its path."""
        return picture_at(path, self._image_url)

    async def _read_year(self, kind: TmdbKind, year: int) -> Titles:
        kept = await self._pages.fresh(kind, year)
        for rounds_left in reversed(range(_ROUNDS)):
            known = len(kept)
            failures = await self._read_missing(kind, year, kept)
            if not failures:
                break
            is_silent = len(kept) == known and all(isinstance(one.__cause__, Unreachable) for one in failures)
            if is_silent or not rounds_left:
                # One page that is missing may be the one with the name in it, and one reason is enough.
                raise failures[0]
        # A show that is added while we read moves another one to the next page, where it is met again.
        titles = by_name({title.id: title for page in kept.values() for title in page.titles}.values())
        self._lists[kind, year] = min(page.read_at for page in kept.values()), titles
        self._lists.move_to_end((kind, year))
        while len(self._lists) > _LISTS_KEPT:
            self._lists.popitem(last=False)
        return titles

    async def _read_missing(self, kind: TmdbKind, year: int, kept: dict[int, YearPage]) -> list[TmdbError]:
        """Read the pages that are missing; the failures that another try may change. Other failures are raised."""
        failures: list[TmdbError] = []

        async def read(page: int) -> None:
            try:
                kept[page] = await self._read_page(kind, year, page)
            except TmdbError as error:
                if not error.may_pass:
                    raise
                failures.append(error)

        if 1 not in kept:
            await read(1)
        if failures:
            return failures
        try:
            async with asyncio.TaskGroup() as group:
                for page in range(2, min(kept[1].pages, _LAST_PAGE) + 1):
                    if page not in kept:
                        group.create_task(read(page))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return failures

    async def _read_page(self, kind: TmdbKind, year: int, page: int) -> YearPage:
        asked_at = self._clock.now()
        asked = {"with_original_language": _LANGUAGE, _YEAR[kind]: str(year), "sort_by": _SORT[kind], "page": str(page)}
        try:
            titles, pages = await self._ask(
                f"/discover/{kind}",
                asked,
                lambda answer: (read_titles(kind, answer, self._image_url), read_count(answer, "total_pages")),
            )
        except TmdbError as error:
            # The list has become shorter since its first page was read.
            if page == 1 or not _answered(error, 404):
                raise
            titles, pages = [], page
        read = YearPage(page, pages, tuple(titles), asked_at)
        await self._pages.keep(kind, year, read)
        return read

    async def _ask(self, path: str, params: Mapping[str, str], read: Callable[[Any], T]) -> T:
        if not self._key:
            raise TmdbError("TMDB is off: set KURABITO_TMDB_KEY to a key of yours", may_pass=False)
        headers = {}
        if "." in self._key:
            # A token of the newer sort. The older keys are short and go into the query.
            headers["Authorization"] = f"Bearer {self._key}"
        else:
            params = {**params, "api_key": self._key}
        trusted = [urlsplit(self._url).hostname or ""]
        try:
            answer = await self._outbound.get_json(
                self._url + path, params=params, headers=headers, trusted=trusted, limits=self._limits
            )
        except OutboundError as error:
            if not (isinstance(error, BadStatus) and error.answered == 404):
                await self._reports.failed(MetadataSource.TMDB, error)
            advice = "; check KURABITO_TMDB_KEY" if isinstance(error, BadStatus) and error.answered == 401 else ""
            may_pass = _may_pass(error, self._limits)
            raise TmdbError(f"TMDB was not read: {error}{advice}", may_pass=may_pass) from error
        try:
            found = read(answer)
        except (TmdbError, *MALFORMED) as error:
            problem = error if isinstance(error, TmdbError) else TmdbError(f"TMDB answered with nonsense: {error!r}")
            await self._reports.failed(MetadataSource.TMDB, problem)
            raise problem from None
        await self._reports.succeeded(MetadataSource.TMDB)
        return found


def _answered(error: TmdbError, status: int) -> bool:
    return isinstance(error.__cause__, BadStatus) and error.__cause__.answered == status


def _may_pass(error: OutboundError, limits: Limits) -> bool:
    """Whether the same request may succeed a moment later: it was not refused, and the host asks for no long pause."""
    if isinstance(error, BadStatus):
        return error.answered in limits.passing and (error.retry_after or 0.0) <= limits.patience
    return not isinstance(error, UrlNotAllowed)
