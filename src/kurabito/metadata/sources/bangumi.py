"""bgm.tv: what is on this week, and what it knows of an entry."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from datetime import date
from importlib.metadata import version
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from kurabito.clock import Clock, SystemClock
from kurabito.http import Limits, Outbound
from kurabito.http.client import DEFAULT_LIMITS
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.http.throttle import Courtesy
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.errors import BgmtvError
from kurabito.metadata.health import MetadataSource, SourceReports
from kurabito.metadata.records import Details, RecordKind
from kurabito.metadata.sources.answers import (
    LONGEST_SUMMARY,
    LONGEST_URL,
    MALFORMED,
    count_in,
    episode_number,
    id_in,
    readable,
    text_in,
)

T = TypeVar("T")

# bgm.tv wants to know who asks, and turns away what looks like a browser or a library.
_USER_AGENT: Final = f"kurabito/{version('kurabito')} (keeps a media collection; runs at its owner's home)"
_BETWEEN: Final = 1.0
_ANIME: Final = 2
_EPISODES_AT_ONCE: Final = 200
_MOST_EPISODES: Final = 5_000
_WEEKDAYS: Final = range(1, 8)
_KINDS: Final = {"TV": RecordKind.TV, "WEB": RecordKind.WEB, "OVA": RecordKind.OVA, "剧场版": RecordKind.MOVIE}


class Airing(NamedTuple):
    """An entry that is on this week."""

    weekday: int
    """1 is Monday."""
    details: Details


class BangumiClient:
    """Asks bgm.tv, about once a second; raises BgmtvError when it does not answer as it should."""

    def __init__(
        self,
        outbound: Outbound,
        *,
        url: str,
        reports: SourceReports | None = None,
        clock: Clock | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._outbound = outbound
        self.use(url=url)
        self._reports = reports or SourceReports()
        self._limits = limits
        # Not the client's own pace for a host: the pictures may come from the same one, and need not wait.
        self._turns = Courtesy(clock or SystemClock(), at_once=1, interval=_BETWEEN)

    def use(self, *, url: str) -> None:
        """Ask there from now on."""
        self._url = url.rstrip("/")

    async def calendar(self) -> list[Airing]:
        """What is on this week, day by day."""
        return await self._ask("/calendar", _calendar, "a calendar")

    async def subject(self, bgm_id: int) -> Details | None:
        """What bgm.tv knows of an entry; None when it has no such entry."""
        try:
            return await self._ask(f"/v0/subjects/{bgm_id}", _subject, "an entry")
        except BgmtvError as error:
            if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
                return None
            raise

    async def search(self, text: str, limit: int = 20) -> list[Details]:
        """The anime that bgm.tv finds for a name, the best first."""
        asked = {"keyword": text, "filter": {"type": [_ANIME]}}
        return await self._ask(f"/v0/search/subjects?limit={limit}", _found, "a list of entries", body=asked)

    async def episodes(self, bgm_id: int) -> list[KnownEpisode]:
        """The regular episodes of an entry, in their order; none when bgm.tv has no such entry."""
        found: dict[float, KnownEpisode] = {}
        for offset in range(0, _MOST_EPISODES, _EPISODES_AT_ONCE):
            listed, total = await self._ask(
                f"/v0/episodes?subject_id={bgm_id}&type=0&limit={_EPISODES_AT_ONCE}&offset={offset}",
                _episode_page,
                "episodes",
            )
            known = len(found)
            found |= {episode.counted: episode for episode in listed}
            # A page without a new episode is the last one, whatever the total says.
            if len(found) == known or offset + _EPISODES_AT_ONCE >= total:
                break
        return [found[number] for number in sorted(found)]

    async def _ask(self, path: str, read: Callable[[Any], T], what: str, *, body: Any = None) -> T:
        host, headers = urlsplit(self._url).hostname or "", {"User-Agent": _USER_AGENT}
        url = self._url + path
        try:
            async with self._turns.turn(host):
                if body is None:
                    answer = await self._outbound.get_json(url, headers=headers, trusted=[host], limits=self._limits)
                else:
                    reply = await self._outbound.request(
                        "POST", url, json=body, headers=headers, trusted=[host], limits=self._limits
                    )
                    answer = reply.json()
        except OutboundError as error:
            if not (isinstance(error, BadStatus) and error.answered == 404):
                await self._reports.failed(MetadataSource.BGM, error)
            raise BgmtvError(f"bgm.tv was not read: {error}") from error
        try:
            found = read(answer)
        except MALFORMED as error:
            problem = BgmtvError(f"bgm.tv answered with something else than {what}: {error!r}")
            await self._reports.failed(MetadataSource.BGM, problem)
            raise problem from None
        await self._reports.succeeded(MetadataSource.BGM)
        return found


def episode_pages(details: Details) -> int:
    """How many requests `episodes` is likely to make for a record."""
    return max(1, -(-(details.episode_count or 1) // _EPISODES_AT_ONCE))


def _calendar(days: Any) -> list[Airing]:
    if not isinstance(days, list) or not days:
        # A week always has days. An answer without any would replace the calendar that is known by an empty one.
        raise ValueError("it has no days")
    items = [(day, item) for day in days for item in day.get("items") or () if not _is_nameless(item)]
    return readable(items, lambda one: Airing(_weekday(one[0]), _airing(one[1])))


def _weekday(day: Mapping[str, Any]) -> int:
    number = int(day["weekday"]["id"])
    if number not in _WEEKDAYS:
        raise ValueError(f"a week has no day {number}")
    return number


def _found(answer: Any) -> list[Details]:
    return readable((row for row in answer["data"] if not _is_nameless(row)), _subject)


def _is_nameless(item: Any) -> bool:
    """Whether an item is whole but has no name, as some of bgm.tv have none."""
    return isinstance(item, dict) and not item.get("name")


def _episode_page(answer: Any) -> tuple[list[KnownEpisode], int]:
    """The episodes of a page, and how many there are in all."""
    return readable(answer["data"], _episode), int(answer["total"])


def _airing(item: Mapping[str, Any]) -> Details:
    # Names in the calendar are written for a page: &amp; is &.
    unescaped = {**item, "name": html.unescape(item["name"]), "name_cn": html.unescape(item.get("name_cn") or "")}
    return _details(unescaped, item.get("air_date"), kind=RecordKind.TV, weekday=item.get("air_weekday"))


def _subject(found: Mapping[str, Any]) -> Details:
    return _details(found, found.get("date"), kind=_KINDS.get(found.get("platform") or "", RecordKind.TV))


def _details(found: Mapping[str, Any], day: Any, *, kind: RecordKind, weekday: Any = None) -> Details:
    began = _date(day)
    return Details(
        kind=kind,
        title_japanese=text_in(found, "name"),
        title_chinese=text_in(found, "name_cn"),
        year=began.year if began else None,
        air_date=began,
        air_weekday=weekday if weekday in _WEEKDAYS else began.isoweekday() if began else None,
        episode_count=count_in(found, "eps"),
        summary=text_in(found, "summary", LONGEST_SUMMARY),
        poster_url=text_in(found.get("images") or {}, "large", LONGEST_URL),
        bgm_id=id_in(found),
    )


def _episode(row: Mapping[str, Any]) -> KnownEpisode:
    titles = {"ja": text_in(row, "name"), "zh-Hans": text_in(row, "name_cn")}
    return KnownEpisode(
        episode_number(row["sort"]),
        {language: html.unescape(title) for language, title in titles.items() if title},
        _date(row.get("airdate")),
    )


def _date(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
