"""TMDB: everything in Japanese that began in one year, read once a day."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.http import Limits, Outbound
from kurabito.http.client import DEFAULT_LIMITS
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.single_flight import SingleFlight

_LANGUAGE: Final = "ja"
_ANIMATION: Final = 16
_KEPT_FOR: Final = 24 * 3600 * SECOND
_LISTS_KEPT: Final = 48
_LAST_PAGE: Final = 500
"""TMDB gives no more than this many."""

# Films and shows have the same things under other names.
_YEAR: Final = {TmdbKind.TV: "first_air_date_year", TmdbKind.MOVIE: "primary_release_year"}
_DATE: Final = {TmdbKind.TV: "first_air_date", TmdbKind.MOVIE: "release_date"}
_SORT: Final = {TmdbKind.TV: "first_air_date.asc", TmdbKind.MOVIE: "primary_release_date.asc"}
_NAME: Final = {TmdbKind.TV: "original_name", TmdbKind.MOVIE: "original_title"}


class Title(NamedTuple):
    """A show or a film of TMDB, as far as it takes to recognise it."""

    id: int
    kind: TmdbKind
    name: str
    """In its own language."""
    year: int | None
    is_animation: bool
    poster_url: str | None


Titles = Mapping[str, tuple[Title, ...]]
"""By their names, which several may share."""


class TmdbClient:
    """Asks TMDB; raises TmdbError when it does not answer as it should. Without a key it is off."""

    def __init__(
        self,
        outbound: Outbound,
        key: str | None,
        *,
        url: str,
        image_url: str,
        clock: Clock | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._outbound = outbound
        self._key = key
        self._url = url.rstrip("/")
        self._image_url = image_url.rstrip("/")
        self._clock = clock or SystemClock()
        self._limits = limits
        self._lists: OrderedDict[tuple[TmdbKind, int], tuple[int, Titles]] = OrderedDict()
        self._reading: SingleFlight[Titles] = SingleFlight()

    @property
    def is_on(self) -> bool:
        """Whether there is a key to ask with."""
        return bool(self._key)

    async def titles_of(self, kind: TmdbKind, year: int) -> Titles:
        """Everything in Japanese that began in a year: read once a day, however many ask."""
        known = self._lists.get((kind, year))
        if known is not None and self._clock.now() - known[0] < _KEPT_FOR:
            self._lists.move_to_end((kind, year))
            return known[1]
        return await self._reading.do((kind, year), lambda: self._read_year(kind, year))

    async def search(self, kind: TmdbKind, name: str) -> list[Title]:
        """What TMDB finds for a name, the best first."""
        answer = await self._ask(f"/search/{kind}", {"query": name})
        return list(self._titles(kind, answer))

    async def title(self, kind: TmdbKind, tmdb_id: int) -> Title | None:
        """One title; None when TMDB has no such id."""
        try:
            found = await self._ask(f"/{kind}/{tmdb_id}", {})
        except TmdbError as error:
            if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
                return None
            raise
        genres = [one.get("id") for one in found.get("genres") or ()] if isinstance(found, dict) else []
        (title,) = self._titles(kind, {"results": [{**found, "genre_ids": genres}]})
        return title

    async def read(self, path: str, params: Mapping[str, str]) -> Any:
        """What TMDB answers at a path of its API."""
        return await self._ask(path, params)

    def picture(self, path: str | None) -> str | None:
        """The URL of a picture that TMDB names by its path."""
        return f"{self._image_url}{path}" if path else None

    async def _read_year(self, kind: TmdbKind, year: int) -> Titles:
        asked_at = self._clock.now()
        first = await self._page(kind, year, 1)
        pages = min(_count(first, "total_pages"), _LAST_PAGE)
        try:
            async with asyncio.TaskGroup() as group:
                rest = [group.create_task(self._later_page(kind, year, page)) for page in range(2, pages + 1)]
        except ExceptionGroup as failed:
            # One page that is missing may be the one with the name in it, and one reason is enough.
            raise failed.exceptions[0] from None
        # A show that is added while we read moves another one to the next page, where it is met again.
        answers = [first, *(page.result() for page in rest)]
        found = {title.id: title for answer in answers for title in self._titles(kind, answer)}
        titles = _by_name(found.values())
        self._lists[kind, year] = asked_at, titles
        self._lists.move_to_end((kind, year))
        while len(self._lists) > _LISTS_KEPT:
            self._lists.popitem(last=False)
        return titles

    async def _page(self, kind: TmdbKind, year: int, page: int) -> Any:
        asked = {"with_original_language": _LANGUAGE, _YEAR[kind]: str(year), "sort_by": _SORT[kind], "page": str(page)}
        return await self._ask(f"/discover/{kind}", asked)

    async def _later_page(self, kind: TmdbKind, year: int, page: int) -> Any:
        try:
            return await self._page(kind, year, page)
        except TmdbError as error:
            # The list has become shorter since its first page was read.
            if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
                return {"results": []}
            raise

    async def _ask(self, path: str, params: Mapping[str, str]) -> Any:
        if not self._key:
            raise TmdbError("TMDB is off: set KURABITO_TMDB_KEY to a key of yours")
        headers = {}
        if "." in self._key:
            # A token of the newer sort. The older keys are short and go into the query.
            headers["Authorization"] = f"Bearer {self._key}"
        else:
            params = {**params, "api_key": self._key}
        trusted = [urlsplit(self._url).hostname or ""]
        try:
            return await self._outbound.get_json(
                self._url + path, params=params, headers=headers, trusted=trusted, limits=self._limits
            )
        except OutboundError as error:
            refused = isinstance(error, BadStatus) and error.answered == 401
            advice = "; check KURABITO_TMDB_KEY" if refused else ""
            raise TmdbError(f"TMDB was not read: {error}{advice}") from error

    def _titles(self, kind: TmdbKind, answer: Any) -> Iterable[Title]:
        try:
            for found in answer["results"]:
                poster = found.get("poster_path")
                yield Title(
                    int(found["id"]),
                    kind,
                    str(found[_NAME[kind]]),
                    _year_of(found.get(_DATE[kind])),
                    _ANIMATION in (found.get("genre_ids") or ()),
                    f"{self._image_url}{poster}" if poster else None,
                )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise TmdbError(f"TMDB answered with something else than a list of titles: {error!r}") from None


def _by_name(titles: Iterable[Title]) -> Titles:
    named: dict[str, tuple[Title, ...]] = {}
    for title in titles:
        named[title.name] = (*named.get(title.name, ()), title)
    return named


def _count(answer: Any, name: str) -> int:
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, int):
        raise TmdbError(f"TMDB answered without {name}")
    return value


def _year_of(day: Any) -> int | None:
    text = str(day or "")[:4]
    return int(text) if text.isdecimal() and len(text) == 4 else None
