"""What TMDB and bgm.tv say of one record beside its poster and its ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from kurabito.http.errors import BadStatus
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.records import Details, TmdbKind
from kurabito.metadata.sources.tmdb import TmdbClient

LANGUAGES: Final = {"ja": "ja-JP", "en": "en-US", "zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}
"""The languages of the pages, as TMDB calls them."""
_SCRIPTS: Final = {"CN": "zh-Hans", "SG": "zh-Hans", "TW": "zh-Hant", "HK": "zh-Hant"}
# Where TMDB has no title in a language, it numbers the episodes in that language.
_NO_TITLE: Final = re.compile(r"(?:episode|第)\s*\d+\s*(?:集|話|话|回)?", re.IGNORECASE)
_MOST_EPISODES: Final = 5_000


@dataclass(slots=True)
class ToldByTmdb:
    """What TMDB tells of a show's season, or of a film."""

    summaries: dict[str, str] = field(default_factory=dict)
    backdrop_url: str | None = None
    episodes: list[KnownEpisode] | None = None
    """None for a film."""


def requests_for(details: Details) -> int:
    """How many requests `ask_tmdb` makes for a record."""
    return len(LANGUAGES) if details.tmdb_kind is TmdbKind.TV else 1


async def ask_tmdb(tmdb: TmdbClient, details: Details) -> ToldByTmdb:
    """Ask for a record that has an id of TMDB; raises TmdbError. What TMDB does not have any more is told as nothing."""
    kind = details.tmdb_kind or TmdbKind.TV
    season = 1 if details.tmdb_season is None else details.tmdb_season
    parts = "translations" if kind is TmdbKind.MOVIE else f"translations,season/{season}"
    first, *others = LANGUAGES
    try:
        found = await tmdb.read(
            f"/{kind}/{details.tmdb_id}", {"language": LANGUAGES[first], "append_to_response": parts}
        )
        seasons = {first: found.get(f"season/{season}")}
        if kind is TmdbKind.TV:
            for language in others:
                asked = {"language": LANGUAGES[language]}
                seasons[language] = await tmdb.read(f"/tv/{details.tmdb_id}/season/{season}", asked)
    except TmdbError as error:
        if isinstance(error.__cause__, BadStatus) and error.__cause__.answered == 404:
            return ToldByTmdb()
        raise
    except AttributeError as error:
        raise TmdbError(f"TMDB answered with something else than a title: {error!r}") from None
    try:
        told = ToldByTmdb(_summaries(found, first), tmdb.picture(found.get("backdrop_path")))
        if kind is TmdbKind.TV:
            told.episodes = _merged(seasons)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise TmdbError(f"TMDB answered with something else than a season: {error!r}") from None
    return told


def _summaries(found: Mapping[str, Any], language: str) -> dict[str, str]:
    summaries = {language: found.get("overview") or ""}
    for one in (found.get("translations") or {}).get("translations") or ():
        name = _SCRIPTS.get(one["iso_3166_1"]) if one["iso_639_1"] == "zh" else one["iso_639_1"]
        if name in LANGUAGES and (text := one["data"].get("overview")):
            summaries.setdefault(name, text)
            summaries[name] = summaries[name] or text
    return {name: _clean(text) for name, text in summaries.items() if text}


def _merged(seasons: Mapping[str, Mapping[str, Any] | None]) -> list[KnownEpisode]:
    titles: dict[int, dict[str, str]] = {}
    days: dict[int, date | None] = {}
    for language, season in seasons.items():
        for number, title, day in _listed((season or {}).get("episodes") or ()):
            known = titles.setdefault(number, {})
            if title:
                known[language] = title
            days[number] = days.get(number) or day
    return [KnownEpisode(number, titles[number], days[number]) for number in sorted(titles)[:_MOST_EPISODES]]


def _listed(episodes: Iterable[Mapping[str, Any]]) -> Iterable[tuple[int, str, date | None]]:
    for one in episodes:
        title = _clean(one.get("name") or "")
        yield int(one["episode_number"]), "" if _NO_TITLE.fullmatch(title) else title, _day(one.get("air_date"))


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _clean(text: str) -> str:
    # PostgreSQL keeps no NUL in a text.
    return text.replace("\x00", "").strip()[:20_000]
