"""The form that says what a series is called and how it is counted."""

from __future__ import annotations

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
    """An alias as it is written: `Name`, or `Name | 2` for what is said beside another season."""
    # A name that ends like a season is told from one by its season.
    plain = alias.season == _FIRST_SEASON and not alias.name.rpartition(_BAR)[2].isdigit()
    return alias.name if plain else f"{alias.name}{_BAR}{alias.season}"


def _alias(line: str) -> Alias:
    name, bar, season = line.rpartition(_BAR)
    if bar and season.strip().isdigit():
        return Alias(line_of("aliases", name, _LONGEST_NAME), count_of("aliases", season))
    return Alias(line_of("aliases", line, _LONGEST_NAME), _FIRST_SEASON)
