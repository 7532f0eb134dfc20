"""Search for a show or a film by its name: among the records, in the offline index, at bgm.tv and at TMDB."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from kurabito.db import Connection, Database
from kurabito.errors import InvalidInput
from kurabito.metadata import records
from kurabito.metadata.dumps.model import ROMAJI
from kurabito.metadata.errors import BgmtvError, MetadataNotFound, TmdbError
from kurabito.metadata.health import SourceFailure, failure_of
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.tmdb import Title, TmdbClient
from kurabito.metadata.sources.tmdb_titles import JAPANESE
from kurabito.titles import fold_title
from kurabito.titles.text import is_foreign

_CHINESE: Final = "zh"
_MOST: Final = 20
"""Of each source."""
_BIGGEST: Final = 10**15


class SearchSource(StrEnum):
    """Where a title can be searched."""

    RECORDS = "records"
    INDEX = "index"
    BGM = "bgm"
    TMDB_TV = "tmdb_tv"
    TMDB_MOVIE = "tmdb_movie"


ONLINE: Final = frozenset((SearchSource.BGM, SearchSource.TMDB_TV, SearchSource.TMDB_MOVIE))


@dataclass(frozen=True, slots=True)
class FoundTitle:
    """A show or a film that was found."""

    key: str
    """Names it when it is chosen: `record:1`, `bgm:2`, `tmdb:tv:3`."""
    source: SearchSource
    details: Details
    metadata_id: int | None = None


@dataclass(frozen=True, slots=True)
class FailedSearch:
    """A source that could not be asked."""

    source: SearchSource
    failure: SourceFailure
    message: str


@dataclass(frozen=True, slots=True)
class FoundTitles:
    """What was found, the surest first, and which sources could not be asked."""

    titles: tuple[FoundTitle, ...]
    failed: tuple[FailedSearch, ...] = ()


class MetadataSearch:
    """Finds titles, and makes records of those that are chosen."""

    def __init__(self, database: Database, tmdb: TmdbClient, bangumi: BangumiClient) -> None:
        self._database = database
        self._tmdb = tmdb
        self._bangumi = bangumi

    @property
    def sources(self) -> tuple[SearchSource, ...]:
        """The sources that can be asked; those of TMDB with a key."""
        return tuple(one for one in SearchSource if self._tmdb.is_on or not one.startswith("tmdb"))

    async def search(self, text: str, sources: Iterable[SearchSource] | None = None) -> FoundTitles:
        """What has this text in its name. A source that does not answer is named, and the others are shown."""
        asked = [one for one in self.sources if sources is None or one in set(sources)]
        found = await asyncio.gather(*(self._ask(one, text) for one in asked))
        titles: dict[str, FoundTitle] = {}
        failed: list[FailedSearch] = []
        known: set[tuple[str, int]] = set()
        for answer in found:
            if isinstance(answer, FailedSearch):
                failed.append(answer)
                continue
            for title in answer:
                ids = _ids(title.details)
                # What a record or the index has already is not offered a second time.
                if title.source is SearchSource.RECORDS or not ids or known.isdisjoint(ids):
                    titles.setdefault(title.key, title)
                known |= ids
        return FoundTitles(tuple(titles.values()), tuple(failed))

    async def details_of(self, key: str) -> int | Details:
        """The record that a key stands for, or what a new one begins with; raises InvalidInput or MetadataNotFound."""
        match key.split(":"):
            case ["record", number] if _is_id(number):
                return (await self._database.read(partial(records.find, metadata_id=int(number)))).id
            case ["bgm", number] if _is_id(number):
                return await self._of_bgm(int(number))
            case ["tmdb", "tv" | "movie" as kind, number] if _is_id(number):
                return await self._of_tmdb(TmdbKind(kind), int(number))
        raise InvalidInput("key", f"{key[:100]!r} is no key of a search; take one of those that it found")

    async def _ask(self, source: SearchSource, text: str) -> list[FoundTitle] | FailedSearch:
        """What a source finds, or why it found nothing."""
        questions: dict[SearchSource, Callable[[], Awaitable[list[FoundTitle]]]] = {
            SearchSource.RECORDS: lambda: self._database.read(partial(_in_records, text=text)),
            SearchSource.INDEX: lambda: self._database.read(partial(_in_index, text=text)),
            SearchSource.BGM: lambda: self._at_bgm(text),
            SearchSource.TMDB_TV: lambda: self._at_tmdb(TmdbKind.TV, text),
            SearchSource.TMDB_MOVIE: lambda: self._at_tmdb(TmdbKind.MOVIE, text),
        }
        try:
            return await questions[source]()
        except (TmdbError, BgmtvError) as error:
            return FailedSearch(source, failure_of(error), str(error))

    async def _at_bgm(self, text: str) -> list[FoundTitle]:
        found = await self._bangumi.search(text)
        return [FoundTitle(f"bgm:{one.bgm_id}", SearchSource.BGM, one) for one in found[:_MOST]]

    async def _at_tmdb(self, kind: TmdbKind, text: str) -> list[FoundTitle]:
        source = SearchSource.TMDB_TV if kind is TmdbKind.TV else SearchSource.TMDB_MOVIE
        found = await self._tmdb.search(kind, text)
        return [FoundTitle(f"tmdb:{one.kind}:{one.id}", source, details_of_title(one)) for one in found[:_MOST]]

    async def _of_bgm(self, bgm_id: int) -> int | Details:
        known = await self._database.read(partial(records.of_bgm, bgm_id=bgm_id))
        if known is not None:
            return known.id
        (entry,) = await self._database.read(lambda conn: offline.find_entries(conn, [Details(bgm_id=bgm_id)]))
        found = details_of_entry(entry) if entry is not None else await self._bangumi.subject(bgm_id)
        if found is None:
            raise MetadataNotFound(f"bgm.tv has no entry {bgm_id}; search again")
        return found

    async def _of_tmdb(self, kind: TmdbKind, tmdb_id: int) -> int | Details:
        wanted = Details(tmdb_id=tmdb_id, tmdb_kind=kind)
        known = await self._database.read(partial(records.of_tmdb, details=wanted))
        if known is not None:
            return known.id
        found = await self._tmdb.title(kind, tmdb_id)
        if found is None:
            raise MetadataNotFound(f"TMDB has no {kind} {tmdb_id}; search again")
        return details_of_title(found)


def record_of_choice(conn: Connection, chosen: int | Details) -> int:
    """The record of what was chosen; made if there is none. Raises MetadataNotFound when it is gone meanwhile."""
    if isinstance(chosen, int):
        return records.find(conn, chosen).id
    known = records.of_bgm(conn, chosen.bgm_id) if chosen.bgm_id is not None else records.of_tmdb(conn, chosen)
    return known.id if known is not None else records.add(conn, chosen).id


def details_of_title(title: Title, season: int | None = None) -> Details:
    """What a record of a title of TMDB, or of one of its seasons, begins with."""
    season = season if title.kind is TmdbKind.TV else None
    return Details(
        kind=RecordKind.MOVIE if title.kind is TmdbKind.MOVIE else RecordKind.TV,
        year=title.year,
        season=season,
        poster_url=title.poster_url,
        tmdb_id=title.id,
        tmdb_kind=title.kind,
        tmdb_season=season,
        **_titles(title),  # type: ignore[arg-type]
    )


def _titles(title: Title) -> dict[str, str]:
    """Its names by the languages that a record has; of any other language, the name that TMDB has in English."""
    english = title.local_name if title.local_name and not is_foreign(title.local_name) else None
    if title.language == JAPANESE or (title.is_japanese and is_foreign(title.name)):
        return {"title_japanese": title.name, **({"title_english": english} if english else {})}
    if not is_foreign(title.name):
        return {"title_english": title.name}
    if title.language == _CHINESE:
        return {"title_chinese": title.name, **({"title_english": english} if english else {})}
    return {"title_english": english or title.name}


def details_of_entry(entry: OfflineEntry) -> Details:
    """What a record of an entry of the index begins with."""
    day, is_romaji = entry.air_date, entry.language == ROMAJI
    ids = {name: getattr(entry.ids, name) for name in entry.ids.__dataclass_fields__}
    return Details(
        kind=entry.kind,
        title_japanese=None if is_romaji else entry.title,
        title_chinese=entry.title_chinese,
        title_english=entry.title_english or (entry.title if is_romaji else None),
        year=entry.began_in,
        season=entry.ids.tmdb_season,
        air_date=day,
        air_weekday=day.isoweekday() if day else None,
        **ids,
    )


def _in_records(conn: Connection, text: str) -> list[FoundTitle]:
    found = records.page(conn, after=0, limit=_MOST, contains=text)
    return [FoundTitle(f"record:{one.id}", SearchSource.RECORDS, one.details, one.id) for one in found]


def _in_index(conn: Connection, text: str) -> list[FoundTitle]:
    folded = fold_title(text)
    entries = offline.containing(conn, folded, limit=_MOST) if folded else []
    known = {one.details.bgm_id: one for one in records.of_bgms(conn, (e.ids.bgm_id for e in entries if e.ids.bgm_id))}
    found = []
    for entry in entries:
        record = known.get(entry.ids.bgm_id) if entry.ids.bgm_id is not None else None
        if record is not None:
            found.append(FoundTitle(f"record:{record.id}", SearchSource.RECORDS, record.details, record.id))
        elif (key := _key(entry)) is not None:
            found.append(FoundTitle(key, SearchSource.INDEX, details_of_entry(entry)))
    return found


def _key(entry: OfflineEntry) -> str | None:
    """What names an entry of the index; None when it has no id that others know it by."""
    if entry.ids.bgm_id is not None:
        return f"bgm:{entry.ids.bgm_id}"
    return None if entry.ids.tmdb_id is None else f"tmdb:{entry.ids.tmdb_kind}:{entry.ids.tmdb_id}"


def _ids(details: Details) -> set[tuple[str, int]]:
    ids = {("bgm", details.bgm_id), (f"tmdb {details.tmdb_kind}", details.tmdb_id)}
    return {(site, number) for site, number in ids if number is not None}


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < int(text[:16]) < _BIGGEST
