"""Reads a release title: the recognisers in their order, each taking its part out of what the next one reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from kurabito.titles import doubts, episodes, extras, groups, kinds, names, seasons, tags, years
from kurabito.titles.draft import TAKEN, TitleDraft
from kurabito.titles.model import ReleaseKind, ReleaseTitle
from kurabito.titles.rules import TitleRule, follow
from kurabito.titles.text import normalise

_SITE: Final = re.compile(r"^\[?[\s.]?(?:www[.,][\w.-]{3,40})\s?\]?[\s.]{0,3}-?[\s.]{0,3}", re.I)
_FOLDERS: Final = re.compile(r"^(?:/|[A-Za-z]:[/\\])|^[^\[\]]*[^\s\[\]/]/[^\s/]")
# A plus that stands for a blank is found beside a bracket or a hyphen too; others join what is counted: `[01-12+OVA+SP]`.
_ENCODED: Final = re.compile(r"\]\+|\+[\[(]|\+-\+")
_SHELVES: Final = re.compile(
    r"^(?:tv|tv shows|shows|series|movies|films|anime|videos|downloads)/|/(?:Season|Saison|Staffel|Temporada)[ .]\d{1,2}/",
    re.I,
)
_MOST_FOLDERS: Final = 3
_LARGE_NUMBER: Final = 100
_SCRAMBLED: Final = re.compile(r"[A-Za-z0-9]{16,}")
# What follows is then the episode's name, not the series'.
_NUMBER_FIRST: Final = re.compile(r"(?:S\d{1,2}[ .]?)?E(?:p(?:isode)?)?[ .]{0,2}\d", re.I)
_SELF_NAMED: Final = re.compile(r"[A-Za-z].{0,80}(?:S\d{1,2}E\d|(?<!\d)\d{1,2}x\d\d(?!\d))", re.I)
_NO_NAME: Final = frozenset(
    "tv movies movie series shows videos video media anime downloads download home tmp mnt".split()
)


PARSER_VERSION: Final = 2
"""Raised with every change that has titles read otherwise: the product then reads again what it has."""


def parse_title(text: str, *, rules: Iterable[TitleRule] = (), explain: bool = False) -> ReleaseTitle:
    """Understand a release title, or the path of a released file; with `explain`, also say how.

    >>> found = parse_title("[Kura] Yoru no Kurabito - 07v2 [1080p][WEB-DL]")
    >>> found.title, found.episodes, found.version, found.resolution
    ('Yoru no Kurabito', (7,), 2, 1080)
    """
    shown = normalise(text)
    written, ending = tags.split_ending(shown)
    if "/" in written and (_FOLDERS.match(written) if ending or written.startswith("/") else _SHELVES.search(written)):
        found = _read_path(written, ending, explain=explain)
    else:
        found = _read(written, ending, explain=explain)
    return follow(rules, shown, found) if rules else found


def _read(written: str, ending: str, *, explain: bool) -> ReleaseTitle:
    if site := _SITE.match(written):
        written = written[site.end() :]
    if written.startswith("[["):
        written = written[1:]
    if " " not in written and written.count("+") > 1 and ("[" not in written or _ENCODED.search(written)):
        written = written.replace("+", " ")
    if written.startswith("[") and written.find("]") == len(written) - 1:
        written = written[1:-1]
    draft = TitleDraft(written, explain=explain)
    if ending in tags.CONTAINERS:
        draft.note("container", ending)
    tags.read_checksum(draft)
    episodes.read_season_and_episode(draft)
    extras.read_extras(draft)
    tags.read_notes(draft)
    tags.read_tags(draft)
    groups.read_leading_group(draft)
    groups.read_trailing_group(draft)
    years.read_date(draft)
    kinds.read_kind(draft)
    seasons.read_season(draft)
    episodes.read_episodes(draft)
    years.read_year(draft)
    name_end = _name_end(draft.text)
    tags.read_doubtful(draft, name_end)
    groups.read_bracketed_group(draft, name_end)
    return _result(draft, names.read_names(draft))


def _read_path(written: str, ending: str, *, explain: bool) -> ReleaseTitle:
    """A file says the most itself; what it leaves out, the folders above it may say."""
    *folders, name = [part for part in written.replace("\\", "/").split("/") if part.strip()] or [written]
    found = _read(name, ending, explain=explain)
    if _SCRAMBLED.fullmatch(name):
        found = ReleaseTitle(container=found.container)
    elif _NUMBER_FIRST.match(name):
        found = replace(found, title=None, titles=())
    for folder in folders[: -_MOST_FOLDERS - 1 : -1]:
        above = _read_folder(folder)
        signed = above.group is not None and found.group is None
        if above.source and (above.episodes or signed or not (found.source or found.episodes)):
            # The folder is a release of its own, and the file in it has a short or scrambled name.
            found = replace(above, container=found.container)
        elif above.title is None and above.season is not None and not _SELF_NAMED.search(name):
            # A folder for a season: the series is the folder above it, and a small number counts its episodes.
            sure = found.episodes and found.episodes[0] < _LARGE_NUMBER
            left = () if sure else found.doubts
            found = replace(_filled(found, above), title=None, titles=(), doubts=left)
        elif above.title is None or above.title.lower() not in _NO_NAME:
            found = _filled(found, above)
    return found


def _read_folder(name: str) -> ReleaseTitle:
    """A folder is no episode: a number in its name belongs to the name, if nothing tells of a release."""
    found = _read(name, "", explain=False)
    if found.episodes and found.title and not (found.seasons or found.source or found.resolution or found.group):
        return replace(found, title=name.strip(), titles=(name.strip(),), episodes=(), is_batch=False)
    return found


def _filled(found: ReleaseTitle, above: ReleaseTitle) -> ReleaseTitle:
    named = found if found.title else above
    return replace(
        found,
        title=named.title,
        titles=named.titles,
        season=found.season if found.season is not None else above.season,
        seasons=found.seasons or above.seasons,
        part=found.part or above.part,
        episodes=found.episodes or above.episodes,
        year=found.year or above.year,
        country=found.country or above.country,
        group=found.group or above.group,
        groups=found.groups or above.groups,
        resolution=found.resolution or above.resolution,
        source=found.source or above.source,
    )


def _name_end(text: str) -> int:
    """Where the first taken part behind some text begins."""
    start = len(text) - len(text.lstrip(" \x00-."))
    end = text.find(TAKEN, start)
    return end if end >= 0 else len(text)


def _result(draft: TitleDraft, found: tuple[str, ...]) -> ReleaseTitle:
    said = draft.values
    several = draft.is_batch or len(draft.episodes) > 1 or bool(draft.extras)
    heights = said.get("resolution")
    return ReleaseTitle(
        title=names.best_of(found),
        titles=found,
        season=draft.seasons[0] if draft.seasons else None,
        seasons=draft.seasons,
        part=draft.part,
        episodes=draft.episodes,
        extras=draft.extras,
        version=draft.version,
        group=draft.group,
        groups=groups.split_group(draft.group) if draft.group else (),
        resolution=int(heights[0]) if heights else None,
        source=next(iter(said.get("source", ())), None),
        platform=next(iter(said.get("platform", ())), None),
        video=tuple(said.get("video", ())),
        audio=tuple(said.get("audio", ())),
        languages=tuple(said.get("languages", ())),
        container=next(iter(said.get("container", ())), None),
        checksum=draft.checksum,
        year=draft.year,
        date=draft.date,
        country=next(iter(said.get("country", ())), None),
        kind=draft.kind or (ReleaseKind.TV if draft.episodes or draft.seasons else ReleaseKind.UNKNOWN),
        is_batch=several or (not draft.episodes and bool(draft.seasons or said.get("batch"))),
        doubts=doubts.doubts_of(draft),
        findings=tuple(draft.findings),
    )
