"""Reads a Sonarr by its API v3: series with their seasons and folders, and how many files each has. Only GET is ever sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.errors import InvalidInput
from kurabito.http import Outbound
from kurabito.http.errors import BadAnswer, BadStatus, OutboundError
from kurabito.http.limits import Limits
from kurabito.placements.predecessors.model import TheirCollection, TheirShow
from kurabito.placements.predecessors.values import (
    LARGEST_NUMBER,
    LARGEST_SEASON,
    id_of,
    number_of,
    text_of,
    year_of,
)

_LIMITS: Final = Limits(max_bytes=256 << 20)
_UNAUTHORIZED: Final = (401, 403)
_LONGEST_PATH: Final = 4096


async def read_sonarr(outbound: Outbound, url: str, api_key: str) -> TheirCollection:
    """Everything that a Sonarr says; raises InvalidInput when there is none, or it refuses the key."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("url", "must be the address of Sonarr, as in http://nas.local:8989")

    async def get(name: str) -> Any:
        try:
            return await outbound.get_json(
                f"{url.rstrip('/')}/api/v3/{name}",
                headers={"X-Api-Key": api_key},
                trusted=[parts.hostname or ""],
                limits=_LIMITS,
            )
        except BadStatus as problem:
            if problem.answered in _UNAUTHORIZED:
                raise InvalidInput("api_key", "Sonarr refuses this key; it is shown under Settings, General") from None
            raise InvalidInput("url", f"Sonarr does not answer as its API v3 does: {problem}") from None
        except BadAnswer:
            raise InvalidInput("url", "what answers there is no Sonarr: it sends no JSON; add its URL base") from None
        except OutboundError as problem:
            raise InvalidInput("url", f"Sonarr cannot be asked: {problem}") from None

    status = await get("system/status")
    if not isinstance(status, dict) or status.get("appName", "Sonarr") != "Sonarr":
        raise InvalidInput("url", "what answers there is no Sonarr")
    folders, series = await get("rootfolder"), await get("series")
    if not isinstance(series, list) or not isinstance(folders, list):
        raise InvalidInput("url", "Sonarr does not answer as its API v3 does")
    shows, problems = _shows(series)
    return TheirCollection(
        program="Sonarr",
        version=text_of(status.get("version")) or None,
        shows=tuple(shows),
        folders=tuple(
            path for one in folders if isinstance(one, dict) and (path := text_of(one.get("path"), _LONGEST_PATH))
        ),
        unreadable=tuple(problems),
    )


def _shows(series: list[Any]) -> tuple[list[TheirShow], list[str]]:
    shows: list[TheirShow] = []
    problems: list[str] = []
    for place, one in enumerate(series):
        if not isinstance(one, dict) or not text_of(one.get("title")):
            problems.append(f"series {place + 1} has no title")
            continue
        shows += _seasons(one, problems)
    return shows, problems


def _seasons(series: dict[str, Any], problems: list[str]) -> Iterator[TheirShow]:
    """Each season that has files or is monitored; a series without any as its first."""
    others = [text_of(one.get("title")) for one in _objects(series.get("alternateTitles"))]
    titles = tuple(dict.fromkeys(title for title in (text_of(series["title"]), *others) if title))
    seasons = [one for one in _objects(series.get("seasons")) if one.get("seasonNumber")]
    for season in seasons or [{"seasonNumber": 1, "monitored": series.get("monitored")}]:
        statistics = season.get("statistics")
        counted = statistics.get("episodeFileCount") if isinstance(statistics, dict) else None
        files = number_of(counted, 0, LARGEST_NUMBER) or 0
        is_wanted = bool(season.get("monitored")) and bool(series.get("monitored"))
        if not (files or is_wanted) and len(seasons) > 1:
            continue
        number = number_of(season["seasonNumber"], 1, LARGEST_SEASON)
        if number is None:
            problems.append(f"{titles[0]} has a season that is no number: {str(season['seasonNumber'])[:20]!r}")
            continue
        yield TheirShow(
            titles=titles,
            season=number,
            year=year_of(series.get("year")),
            tmdb_id=id_of(series.get("tmdbId")),
            folder=text_of(series.get("path"), _LONGEST_PATH) or None,
            files=files,
            is_wanted=is_wanted,
        )


def _objects(listed: Any) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
