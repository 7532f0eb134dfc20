"""The texts of NFO files, as Kodi and Jellyfin read them: what a show, a season, an episode or a film is, and its ids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

# What XML 1.0 cannot hold, however it is written.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEFAULT: Final = "tmdb"
"""The id that a server looks a show up by; the others are kept beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """What is known of a show, a season, an episode or a film."""

    title: str | None = None
    original_title: str | None = None
    summary: str | None = None
    year: int | None = None
    aired: date | None = None
    ids: dict[str, int] = field(default_factory=dict)
    """By the name of the service: `tmdb`, `bangumi`, `anidb`."""


def show_nfo(show: WorkFacts, season_names: dict[int, str] | None = None) -> str:
    """`tvshow.nfo`; seasons that have names of their own are named in it."""
    root = _described("tvshow", show)
    for number, name in sorted((season_names or {}).items()):
        _add(root, "namedseason", name, number=str(number))
    return _text(root)


def season_nfo(season: WorkFacts, number: int) -> str:
    """`season.nfo`."""
    root = _described("season", season)
    _add(root, "seasonnumber", number)
    return _text(root)


def episode_nfo(episodes: Iterable[tuple[WorkFacts, int, int]], *, show_title: str | None = None) -> str:
    """The NFO beside an episode: facts, season and number. A file with several episodes has one description for each."""
    roots = []
    for episode, season, number in episodes:
        root = _described("episodedetails", episode)
        _add(root, "showtitle", show_title)
        _add(root, "season", season)
        _add(root, "episode", number)
        roots.append(root)
    return _text(*roots)


def film_nfo(film: WorkFacts) -> str:
    """The NFO beside a film."""
    return _text(_described("movie", film))


def _described(tag: str, work: WorkFacts) -> Element:
    root = Element(tag)
    _add(root, "title", work.title)
    _add(root, "originaltitle", work.original_title)
    _add(root, "plot", work.summary)
    _add(root, "year", work.year)
    _add(root, "aired" if tag == "episodedetails" else "premiered", work.aired)
    default = _DEFAULT if _DEFAULT in work.ids else next(iter(sorted(work.ids)), None)
    for service, number in sorted(work.ids.items()):
        _add(root, "uniqueid", number, type=service, **({"default": "true"} if service == default else {}))
    return root


def _add(parent: Element, tag: str, value: object, **attributes: str) -> None:
    """An element, unless nothing is known to stand in it."""
    if value is not None and value != "":
        SubElement(parent, tag, attributes).text = _NO_XML.sub("", str(value))


def _text(*roots: Element) -> str:
    """One text. Servers cut it at the end of each description, and a declaration is legal at the beginning of a text only."""
    texts = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>']
    for root in roots:
        indent(root)
        texts.append(tostring(root, encoding="unicode"))
    return "\n".join((*texts, ""))
