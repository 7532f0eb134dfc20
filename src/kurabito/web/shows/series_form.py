"""The form that says what a series is called and how it is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from kurabito.catalog.series import Alias, Series
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.web.forms import Form, count_of, line_of

_BAR: Final = " | "
_MOST_ALIASES: Final = 200
_FIRST_SEASON: Final = 1
_LONGEST_NAME: Final = 300
_COUNTRY: Final = re.compile(r"[A-Za-z]{2}")
_MARKED: Final = re.compile(
    r"(?P<name>.+) \| *(?P<season>\d{1,9})(?: \| (?P<year>(?:18|19|2\d)\d\d))?(?: \| (?P<country>[A-Za-z]{2}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class SeriesForm(Form):
    """The fields as they are shown: as they are now, or as they were typed."""

    FIELDS = ("title", "season", "episode_offset", "aliases")

    @classmethod
    def of(cls, series: Series) -> SeriesForm:
        """The form as it looks for a series."""
        return cls(
            {
                "title": series.title,
                "season": str(series.season),
                "episode_offset": str(series.episode_offset),
                "aliases": "\n".join(_line(alias) for alias in series.aliases),
            }
        )

    def changes(self) -> dict[str, Any]:
        """The fields of `Series` that the form has; raises InvalidInput naming the field."""
        return {
            "title": line_of("title", self.value("title"), _LONGEST_NAME),
            "season": count_of("season", self.value("season")),
            "episode_offset": count_of("episode_offset", self.value("episode_offset")),
            "aliases": self._aliases(),
        }

    def _aliases(self) -> tuple[Alias, ...]:
        lines = [line.strip() for line in self.value("aliases").splitlines()]
        aliases = tuple(dict.fromkeys(_alias(line) for line in lines if line))
        if len(aliases) > _MOST_ALIASES:
            problem = f"must be at most {_MOST_ALIASES} names"
            raise InvalidInput("aliases", problem, refused(InputReason.TOO_MANY, most=_MOST_ALIASES))
        return aliases


def _line(alias: Alias) -> str:
    """An alias as it is written: `Name`, or `Name | 2 | 2019 | us` with what is said beside it."""
    marks = [str(alias.season), *([str(alias.year)] if alias.year else []), *([alias.country] if alias.country else [])]
    # A name that ends like a mark is told from one by its season.
    plain = marks == [str(_FIRST_SEASON)] and not _is_mark(alias.name.rpartition(_BAR)[2])
    return alias.name if plain else _BAR.join((alias.name, *marks))


def _alias(line: str) -> Alias:
    """Read from the right: a country, a year before it, and the season before both; the rest is the name."""
    found = _MARKED.fullmatch(line)
    if found is None:
        return Alias(line_of("aliases", line, _LONGEST_NAME), _FIRST_SEASON)
    season = count_of("aliases", found["season"])
    country = found["country"].lower() if found["country"] else None
    year = int(found["year"]) if found["year"] else None
    return Alias(line_of("aliases", found["name"], _LONGEST_NAME), season, year, country)


def _is_mark(text: str) -> bool:
    """Whether it could be read as what is said beside a name."""
    return _MARKED.fullmatch(f"-{_BAR}{text}") is not None or _COUNTRY.fullmatch(text) is not None
