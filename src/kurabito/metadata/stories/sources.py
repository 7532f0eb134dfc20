"""What TMDB and bgm.tv say of one record beside its poster and its ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, NamedTuple

from kurabito.http.errors import BadStatus
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.records import Details, TmdbKind
from kurabito.metadata.sources.answers import LONGEST_SUMMARY, episode_number, id_in, readable, text_in
from kurabito.metadata.sources.tmdb import TmdbClient

LANGUAGES: Final = {"ja": "ja-JP", "en": "en-US", "zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}
"""The languages of the pages, as TMDB calls them."""
_SCRIPTS: Final = {"CN": "zh-Hans", "SG": "zh-Hans", "TW": "zh-Hant", "HK": "zh-Hant"}
# Where TMDB has no title in a language, it numbers the episodes in that language.
_NO_TITLE: Final = re.compile(r"(?:episode|第)\s*\d+\s*(?:集|話|话|回)?", re.IGNORECASE)
_MOST_EPISODES: Final = 5_000


@dataclass(slots=True)
class TmdbStory:
    """What TMDB tells of a show's season, or of a film."""

    summaries: dict[str, str] = field(default_factory=dict)
    backdrop_url: str | None = None
    episodes: list[KnownEpisode] | None = None
    """None for a film."""


class ListedEpisode(NamedTuple):
    """An episode as TMDB lists it in one language."""

    number: int | float
    title: str | None
    air_date: date | None


def requests_for(details: Details) -> int:
    """How many requests `ask_tmdb` makes for a record."""
    return len(LANGUAGES) if details.tmdb_kind is TmdbKind.TV else 1


async def ask_tmdb(tmdb: TmdbClient, details: Details) -> TmdbStory:
    """Ask for a record that has an id of TMDB; raises TmdbError. What TMDB does not have any more is told as nothing."""
    kind = details.tmdb_kind or TmdbKind.TV
    season = 1 if details.tmdb_season is None else details.tmdb_season
    parts = "translations" if kind is TmdbKind.MOVIE else f"translations,season/{season}"
    first, *others = LANGUAGES
    try:
        asked = {"language": LANGUAGES[first], "append_to_response": parts}
        told, listed = await tmdb.read(f"/{kind}/{details.tmdb_id}", asked, lambda one: _told(tmdb, one, first, season))
        seasons = {first: listed}
        # TMDB leaves out a season that it does not have, and has it in no other language either.
        if kind is TmdbKind.TV and listed is not None:
            for language in others:
                path = f"/tv/{details.tmdb_id}/season/{season}"
                seasons[language] = await tmdb.read(path, {"language": LANGUAGES[language]}, _listed)
    except TmdbError as error:
        if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
            return TmdbStory()
        raise
    if kind is TmdbKind.TV:
        told.episodes = _merged(seasons)
    return told


def _told(
    tmdb: TmdbClient, found: dict[str, Any], language: str, season: int
) -> tuple[TmdbStory, list[ListedEpisode] | None]:
    """What an answer tells of a title; and its season's episodes, None where it has no such season."""
    id_in(found)
    listed = found.get(f"season/{season}")
    told = TmdbStory(_summaries(found, language), tmdb.picture(found.get("backdrop_path")))
    return told, _listed(listed) if listed else None


def _summaries(found: Mapping[str, Any], language: str) -> dict[str, str]:
    summaries = {language: text_in(found, "overview", LONGEST_SUMMARY)}
    for one in (found.get("translations") or {}).get("translations") or ():
        name = _SCRIPTS.get(one["iso_3166_1"]) if one["iso_639_1"] == "zh" else one["iso_639_1"]
        if name in LANGUAGES and not summaries.get(name):
            summaries[name] = text_in(one["data"], "overview", LONGEST_SUMMARY)
    return {name: text for name, text in summaries.items() if text}


def _merged(seasons: Mapping[str, Iterable[ListedEpisode] | None]) -> list[KnownEpisode]:
    titles: dict[int | float, dict[str, str]] = {}
    days: dict[int | float, date | None] = {}
    for language, listed in seasons.items():
        for number, title, day in listed or ():
            known = titles.setdefault(number, {})
            if title:
                known[language] = title
            days[number] = days.get(number) or day
    return [KnownEpisode(number, titles[number], days[number]) for number in sorted(titles)[:_MOST_EPISODES]]


def _listed(season: Mapping[str, Any]) -> list[ListedEpisode]:
    return readable(season.get("episodes") or (), _episode)


def _episode(one: Mapping[str, Any]) -> ListedEpisode:
    title = text_in(one, "name")
    is_number = title is not None and _NO_TITLE.fullmatch(title)
    return ListedEpisode(episode_number(one["episode_number"]), None if is_number else title, _day(one.get("air_date")))


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
