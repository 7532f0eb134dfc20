"""When a service is left alone: what failed is not asked again in the same sync, and a silent service soon not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from kurabito.metadata.errors import BgmtvError, TmdbError
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.tmdb import Title, Titles, TmdbClient, TmdbSeason

T = TypeVar("T")
E = TypeVar("E", bound=TmdbError | BgmtvError)
_MOST_IN_A_ROW: Final = 3


class FailureLimit(Generic[E]):
    """One service during one sync. Three different requests that fail in a row are enough; the next sync asks again."""

    def __init__(self, error: type[E]) -> None:
        self._error = error
        self._failed: dict[Hashable, E] = {}
        self._in_a_row = 0
        self._last: E | None = None

    async def ask(self, what: Hashable, request: Callable[[], Awaitable[T]], *, is_final: Callable[[E], bool]) -> T:
        """The answer; raises what the service raised, also for a request that is not made any more."""
        if (failed := self._failed.get(what)) is not None:
            raise failed.with_traceback(None)
        if self._last is not None and self._in_a_row >= _MOST_IN_A_ROW:
            raise self._last.with_traceback(None)
        try:
            answer = await request()
        except self._error as error:
            if what not in self._failed:
                self._failed[what] = self._last = error
                self._in_a_row = _MOST_IN_A_ROW if is_final(error) else self._in_a_row + 1
            raise
        if self._in_a_row < _MOST_IN_A_ROW:
            self._in_a_row = 0
        return answer


class TmdbTurns:
    """TMDB as one sync asks it."""

    def __init__(self, tmdb: TmdbClient) -> None:
        self._tmdb = tmdb
        self._limit = FailureLimit(TmdbError)

    @property
    def is_on(self) -> bool:
        return self._tmdb.is_on

    async def titles_of(self, kind: TmdbKind, year: int) -> Titles:
        return await self._ask((kind, year), lambda: self._tmdb.titles_of(kind, year))

    async def search(self, kind: TmdbKind, name: str, year: int | None = None) -> list[Title]:
        return await self._ask((kind, name, year), lambda: self._tmdb.search(kind, name, year))

    async def seasons_of(self, show_id: int) -> list[TmdbSeason]:
        return await self._ask(show_id, lambda: self._tmdb.seasons_of(show_id))

    async def poster_of(self, kind: TmdbKind, tmdb_id: int) -> str | None:
        return await self._ask((kind, "poster", tmdb_id), lambda: self._tmdb.poster_of(kind, tmdb_id))

    async def _ask(self, what: Hashable, request: Callable[[], Awaitable[T]]) -> T:
        # A refused key, or an hour's pause that TMDB asked for, is the same for everything else.
        return await self._limit.ask(what, request, is_final=lambda error: not error.may_pass)
