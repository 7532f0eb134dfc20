"""bgm.tv: what is on this week, and what it knows of an entry."""

from __future__ import annotations

import html
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kurabito.clock import Clock, SystemClock
from kurabito.http import Limits, Outbound
from kurabito.http.client import DEFAULT_LIMITS
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.http.throttle import Courtesy
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.errors import BgmtvError
from kurabito.metadata.records import Details, RecordKind

# bgm.tv wants to know who asks, and turns away what looks like a browser or a library.
_USER_AGENT: Final = f"kurabito/{version('kurabito')} (keeps a media collection; runs at its owner's home)"
_BETWEEN: Final = 1.0
_ANIME: Final = 2
_EPISODES_AT_ONCE: Final = 200
_MOST_EPISODES: Final = 5_000
_KINDS: Final = {"TV": RecordKind.TV, "WEB": RecordKind.WEB, "OVA": RecordKind.OVA, "剧场版": RecordKind.MOVIE}


class Airing(NamedTuple):
    """An entry that is on this week."""

    weekday: int
    """1 is Monday."""
    details: Details


class BangumiClient:
    """Asks bgm.tv, about once a second; raises BgmtvError when it does not answer as it should."""

    def __init__(
        self, outbound: Outbound, *, url: str, clock: Clock | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._outbound = outbound
        self._url = url.rstrip("/")
        self._limits = limits
        # Not the client's own pace for a host: the pictures may come from the same one, and need not wait.
        self._turns = Courtesy(clock or SystemClock(), at_once=1, interval=_BETWEEN)

    async def calendar(self) -> list[Airing]:
        """What is on this week, day by day."""
        days = await self._ask("/calendar")
        try:
            return [
                Airing(int(day["weekday"]["id"]), _airing(item))
                for day in days
                for item in day.get("items") or ()
                if item.get("name")
            ]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BgmtvError(f"bgm.tv answered with something else than a calendar: {error!r}") from None

    async def subject(self, bgm_id: int) -> Details | None:
        """What bgm.tv knows of an entry; None when it has no such entry."""
        try:
            found = await self._ask(f"/v0/subjects/{bgm_id}")
        except BgmtvError as error:
            if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
                return None
            raise
        try:
            return _subject(found)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BgmtvError(f"bgm.tv answered with something else than an entry: {error!r}") from None

    async def search(self, text: str, limit: int = 20) -> list[Details]:
        """The anime that bgm.tv finds for a name, the best first."""
        answer = await self._ask(
            f"/v0/search/subjects?limit={limit}", body={"keyword": text, "filter": {"type": [_ANIME]}}
        )
        try:
            return [_subject(found) for found in answer["data"] if found.get("name")]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BgmtvError(f"bgm.tv answered with something else than a list of entries: {error!r}") from None

    async def episodes(self, bgm_id: int) -> list[KnownEpisode]:
        """The regular episodes of an entry, in their order; none when bgm.tv has no such entry."""
        found: dict[float, KnownEpisode] = {}
        for offset in range(0, _MOST_EPISODES, _EPISODES_AT_ONCE):
            answer = await self._ask(
                f"/v0/episodes?subject_id={bgm_id}&type=0&limit={_EPISODES_AT_ONCE}&offset={offset}"
            )
            try:
                listed = [_episode(row) for row in answer["data"]]
                found |= {episode.counted: episode for episode in listed}
                is_last = len(listed) < _EPISODES_AT_ONCE or offset + len(listed) >= int(answer["total"])
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise BgmtvError(f"bgm.tv answered with something else than episodes: {error!r}") from None
            if is_last:
                break
        return [found[number] for number in sorted(found)]

    async def _ask(self, path: str, *, body: Any = None) -> Any:
        host, headers = urlsplit(self._url).hostname or "", {"User-Agent": _USER_AGENT}
        url = self._url + path
        try:
            async with self._turns.turn(host):
                if body is None:
                    return await self._outbound.get_json(url, headers=headers, trusted=[host], limits=self._limits)
                reply = await self._outbound.request(
                    "POST", url, json=body, headers=headers, trusted=[host], limits=self._limits
                )
                return reply.json()
        except OutboundError as error:
            raise BgmtvError(f"bgm.tv was not read: {error}") from error


def _airing(item: Mapping[str, Any]) -> Details:
    # Names in the calendar are written for a page: &amp; is &.
    unescaped = {**item, "name": html.unescape(item["name"]), "name_cn": html.unescape(item.get("name_cn") or "")}
    return _details(unescaped, item.get("air_date"), kind=RecordKind.TV, weekday=item.get("air_weekday"))


def _subject(found: Mapping[str, Any]) -> Details:
    return _details(found, found.get("date"), kind=_KINDS.get(found.get("platform") or "", RecordKind.TV))


def _details(found: Mapping[str, Any], day: Any, *, kind: RecordKind, weekday: Any = None) -> Details:
    began = _date(day)
    images = found.get("images") or {}
    return Details(
        kind=kind,
        title_japanese=found["name"] or None,
        title_chinese=found.get("name_cn") or None,
        year=began.year if began else None,
        air_date=began,
        air_weekday=weekday if weekday in range(1, 8) else began.isoweekday() if began else None,
        episode_count=found.get("eps") or None,
        summary=found.get("summary") or None,
        poster_url=images.get("large") or None,
        bgm_id=int(found["id"]),
    )


def _episode(row: Mapping[str, Any]) -> KnownEpisode:
    number = float(row["sort"])
    titles = {"ja": html.unescape(row.get("name") or ""), "zh-Hans": html.unescape(row.get("name_cn") or "")}
    return KnownEpisode(
        int(number) if number.is_integer() else number,
        {language: title.replace("\x00", "").strip() for language, title in titles.items() if title.strip()},
        _date(row.get("airdate")),
    )


def _date(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
