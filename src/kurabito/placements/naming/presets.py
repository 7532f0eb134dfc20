"""How a library names its files: templates and choices, and the ready-made ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from kurabito.placements.errors import InvalidTemplate
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.reasons import TemplateReason
from kurabito.placements.naming.sidecars import SubtitleStyle
from kurabito.placements.naming.template import Template, read_template
from kurabito.reasons import Reason


class Preset(StrEnum):
    """The ready-made namings, by the program that reads the library."""

    JELLYFIN = "jellyfin"
    PLEX = "plex"
    KODI = "kodi"
    FLAT = "flat"
    """One folder for each series, none for its seasons."""
    AS_RELEASED = "as_released"
    """Each file keeps its own name."""


class ExtrasChoice(StrEnum):
    """What becomes of openings, trailers and menus."""

    FOLDER = "folder"
    """They go into `extras/`."""
    LEAVE = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingSettings:
    """How one library names its files."""

    series_folder: str
    season_folder: str
    """Empty: no folder for a season."""
    episode_file: str
    film_folder: str
    """Empty: films lie in the library itself."""
    film_file: str
    numbering: NumberingScheme = NumberingScheme.TMDB
    subtitle_style: SubtitleStyle = SubtitleStyle.CURRENT
    extras: ExtrasChoice = ExtrasChoice.FOLDER

    def check(self) -> None:
        """Raise InvalidTemplate, which names the field and the character, if a template cannot be used."""
        for field in TEMPLATES:
            used = set(self.template(field).tokens)
            if (needed := _ONE_OF.get(field)) and not used & needed:
                named = ", ".join(f"{{{token}}}" for token in sorted(needed))
                reason = Reason(TemplateReason.NOT_ALONE, {"tokens": named, "position": 1})
                raise InvalidTemplate(field, f"must have one of {named}, or files would share one name", reason)

    def template(self, field: str) -> Template:
        """One of the templates, read."""
        return read_template(getattr(self, field), field)

    def uses(self, token: str) -> bool:
        """Whether any template has this token."""
        return any(token in self.template(field).tokens for field in TEMPLATES)


TEMPLATES: Final = ("series_folder", "season_folder", "episode_file", "film_folder", "film_file")
"""The fields that are templates."""

_TITLES: Final = frozenset({"title", "title_en", "title_ja", "title_zh", "original"})
_ONE_OF: Final = {
    "episode_file": frozenset({"episode", "episodes", "absolute", "original"}),
    "film_file": _TITLES,
}
_SERVER: Final = NamingSettings(
    series_folder="{title}< ({year})>",
    season_folder="Season {season:02}",
    episode_file="{title} S{season:02}E{episode:02}",
    film_folder="{title}< ({year})>",
    film_file="{title}< ({year})>",
)
PRESETS: Final[dict[Preset, NamingSettings]] = {
    Preset.JELLYFIN: replace(
        _SERVER,
        series_folder="{title}< ({year})>< [tmdbid-{tmdb_id}]>",
        film_folder="{title}< ({year})>< [tmdbid-{tmdb_id}]>",
        film_file="{title}< ({year})>< [tmdbid-{tmdb_id}]>",
    ),
    Preset.PLEX: replace(
        _SERVER,
        series_folder="{title}< ({year})>< {{tmdb-{tmdb_id}}}>",
        episode_file="{title}< ({year})> - s{season:02}e{episode:02}",
        film_folder="{title}< ({year})>< {{tmdb-{tmdb_id}}}>",
        film_file="{title}< ({year})>< {{tmdb-{tmdb_id}}}>",
        subtitle_style=SubtitleStyle.PORTABLE,
    ),
    Preset.KODI: replace(_SERVER, subtitle_style=SubtitleStyle.PORTABLE),
    Preset.FLAT: replace(
        _SERVER, series_folder="{title}", season_folder="", film_folder="", numbering=NumberingScheme.ENTRY
    ),
    Preset.AS_RELEASED: replace(
        _SERVER,
        series_folder="{title}",
        season_folder="",
        episode_file="{original}",
        film_folder="{title}< ({year})>",
        film_file="{original}",
        numbering=NumberingScheme.ENTRY,
    ),
}
DEFAULT_NAMING: Final = PRESETS[Preset.JELLYFIN]
