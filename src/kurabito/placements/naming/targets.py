"""The path of a file below its library, from the library's naming and what is known of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kurabito.placements.naming.numbering import SPECIALS
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.safe_names import LONGEST_NAME, LONGEST_STEM, safe_extension, safe_name
from kurabito.placements.naming.sidecars import TrackTag, suffix_of
from kurabito.placements.naming.template import Template, read_template
from kurabito.placements.naming.tokens import NameFacts

EXTRAS_FOLDER: Final = "extras"
# A special without a number has no digits behind its title that a server could take for one.
_SPECIAL_FILE: Final = read_template("{title} ({special})")


def series_folder(naming: NamingSettings, facts: NameFacts) -> str:
    """The folder of a series, chosen once and remembered. Raises ValueUnknown, as all of these do."""
    return _folder(naming.template("series_folder"), facts)


def season_folder_of(naming: NamingSettings, facts: NameFacts) -> str:
    """The folder of a season below that of its series; empty where seasons have none."""
    return _folder(naming.template("season_folder"), facts)


def episode_stem(
    naming: NamingSettings, facts: NameFacts, folder: str | None = None, season_folder: str | None = None
) -> str:
    """The path of an episode without its extension; the folders are those that the series and its season have already."""
    template = naming.template("episode_file")
    if facts.season == SPECIALS and not facts.episode and "episode" in template.needed | {*template.tokens}:
        template = _SPECIAL_FILE
    name = _stem(template, facts)
    season = season_folder_of(naming, facts) if season_folder is None else season_folder
    return _joined(folder or series_folder(naming, facts), season, name)


def film_stem(naming: NamingSettings, facts: NameFacts, folder: str | None = None, part: int | None = None) -> str:
    """The path of a film without its extension; a part of it has `-part1` behind its name."""
    name = _stem(naming.template("film_file"), facts)
    return _joined(folder or _folder(naming.template("film_folder"), facts), f"{name}-part{part}" if part else name)


def extra_stem(naming: NamingSettings, facts: NameFacts, folder: str | None = None, *, film: bool = False) -> str:
    """The path of an opening, a trailer or a menu without its extension: its own name, in `extras/`."""
    of_film = _folder(naming.template("film_folder"), facts) if film else None
    own = safe_name(facts.original or "", longest=LONGEST_STEM)
    return _joined(folder or of_film or series_folder(naming, facts), EXTRAS_FOLDER, own)


def with_extension(stem: str, extension: str) -> str:
    """The path of a video."""
    return f"{stem}{safe_extension(extension)}"


def beside(stem: str, tag: TrackTag, naming: NamingSettings, extension: str) -> str:
    """The path of a subtitle or audio file of the video with this stem."""
    folder, slash, name = stem.rpartition("/")
    suffix = suffix_of(replace(tag, title=safe_name(tag.title) if tag.title else None), naming.subtitle_style)
    room = LONGEST_NAME - len(name.encode()) - len(safe_extension(extension))
    if len(suffix.encode()) > room:
        suffix = suffix_of(replace(tag, title=None), naming.subtitle_style)
    return f"{folder}{slash}{name}{suffix}{safe_extension(extension)}"


def _stem(template: Template, facts: NameFacts) -> str:
    return safe_name(template.render(facts), longest=LONGEST_STEM)


def _folder(template: Template, facts: NameFacts) -> str:
    return safe_name(template.render(facts, LONGEST_NAME - 1)) if template.parts else ""


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)
