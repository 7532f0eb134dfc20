"""Reads a release title: the recognisers in their order, each taking its part out of what the next one reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from kurabito.titles import doubts, episodes, extras, groups, kinds, names, seasons, tags, years
from kurabito.titles.draft import TAKEN, TitleDraft
from kurabito.titles.model import ReleaseKind, ReleaseTitle
from kurabito.titles.rules import TitleRule, follow
from kurabito.titles.text import normalise

_SITE: Final = re.compile(
    r"^\[?[\s.]?(?:www[.,][\w.-]{3,40})\s?\]?[\s.]{0,3}-?[\s.]{0,3}|^\[(?:tgx|eztv|rartv|ettv)\]\s?(?=\w)", re.I
)
# `アニメ「蔵人」 第07話`: what it is, and its name in quotation marks.
_QUOTED: Final = re.compile(r"^(?:TV)?アニメ\s?「([^「」]{1,100})」")
# `★蔵組&Miso★ [夜之蔵人][01]`: who released it, in stars instead of brackets; `★01月新番★` is none.
_STARRED: Final = re.compile(r"^★([^★\[\]月番]{2,60})★\s?(?=\[)")
_FOLDERS: Final = re.compile(r"^(?:/|[A-Za-z]:[/\\])|^[^\[\]]*(?:[^\s\[\]/\d]/[^\s/]|\d/[^\s/\d])")
# A plus that stands for a blank is found beside a bracket or a hyphen too; others join what is counted: `[01-12+OVA+SP]`.
_ENCODED: Final = re.compile(r"\]\+|\+[\[(]|\+-\+")
_SHELVES: Final = re.compile(
    r"^(?:tv|tv shows|shows|series|movies|films|anime|videos|downloads)/|/(?:Season|Saison|Staffel|Temporada)[ .]\d{1,2}/",
    re.I,
)
_MOST_FOLDERS: Final = 3
# Where most groups write the episode, if there is one such place alone: `Koji - 07 [1080p]`, `[Koji][07]`.
_COUNTED: Final = re.compile(r"\d\d(?:(?<= - \d\d)(?= ?[\[(])|(?<=\[\d\d)(?=\]))")
_SMALL: Final = 7
_TWO_DIGITS: Final = 10
_LARGE: Final = 58
_MOST_ALIKE: Final = 8192
_ALIKE: Final[dict[tuple[str, str, str], ReleaseTitle | bool]] = {}
"""What titles say whatever number stands in that place; true where one was seen, false where the number tells more."""
_LARGE_NUMBER: Final = 100
_SCRAMBLED: Final = re.compile(r"[A-Za-z0-9]{16,}")
# What follows is then the episode's name, not the series'.
_NUMBER_FIRST: Final = re.compile(r"(?:S\d{1,2}[ .]?)?E(?:p(?:isode)?)?[ .]{0,2}\d", re.I)
_SELF_NAMED: Final = re.compile(r"[A-Za-z].{0,80}(?:S\d{1,2}E\d|(?<!\d)\d{1,2}x\d\d(?!\d))", re.I)
_NO_NAME: Final = frozenset(
    "tv movies movie series shows videos video media anime downloads download home tmp mnt".split()
)


PARSER_VERSION: Final = 12
"""Raised with every change that has titles read otherwise: the product then reads again what it has."""


def parse_title(text: str, *, rules: Iterable[TitleRule] = (), explain: bool = False) -> ReleaseTitle:
    """Understand a release title, or the path of a released file; with `explain`, also say how.

    >>> found = parse_title("[Kura] Yoru no Kurabito - 07v2 [1080p][WEB-DL]")
    >>> found.title, found.episodes, found.version, found.resolution
    ('Yoru no Kurabito', (7,), 2, 1080)
    """
    shown = normalise(text)
    written, ending = tags.split_ending(shown)
    # What a rule changes is changed together with the number: each copy of what was found takes longer than to find it.
    said: dict[str, Any] = {}
    if "/" in written and (_FOLDERS.match(written) if ending or written.startswith("/") else _SHELVES.search(written)):
        found = _read_path(written, ending, explain=explain)
    elif explain:
        found = _read(written, ending, explain=True)
    else:
        found, said = _read_alike(written, ending)
    if rules and (followed := follow(rules, shown, found, said)) is not None:
        return followed
    return found.changed(**said) if said else found


def _read_alike(written: str, ending: str) -> tuple[ReleaseTitle, dict[str, Any]]:
    """Releases of one group and show differ in the number alone: what two of them say, the others say with theirs.

    What such a title says, and what is its own of that.
    """
    counted = list(_COUNTED.finditer(written))
    if len(counted) != 1:
        return _read(written, ending, explain=False), {}
    start, end = counted[0].span()
    key = (written[:start], written[end:], ending)
    known = _ALIKE.get(key)
    number = int(written[start:end])
    if isinstance(known, ReleaseTitle):
        return known, {"episodes": (number,)}
    found = _read(written, ending, explain=False)
    if known is True:
        _ALIKE[key] = _is_said_by_all(found, number, *key) and found
    elif known is None:
        if len(_ALIKE) >= _MOST_ALIKE:
            _ALIKE.clear()
        # Most titles come once: only a second one is worth more than to be read.
        _ALIKE[key] = True
    return found, {}


def _is_said_by_all(found: ReleaseTitle, number: int, before: str, behind: str, ending: str) -> bool:
    """Whether another number in its place tells no more than which episode it is: a large one, or one with a zero in front."""
    other = _LARGE if number < _TWO_DIGITS else _SMALL
    beside = _read(f"{before}{other:02}{behind}", ending, explain=False)
    alone = (found.episodes, beside.episodes) == ((number,), (other,))
    return alone and replace(beside, episodes=found.episodes) == found


def _read(written: str, ending: str, *, explain: bool) -> ReleaseTitle:
    if site := _SITE.match(written):
        written = written[site.end() :]
    if written.startswith(("アニメ", "TVアニメ")):
        written = _QUOTED.sub(r"\1", written)
    if written.startswith("★"):
        written = _STARRED.sub(r"[\1] ", written)
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
    groups.read_year_first(draft)
    if draft.group is None:
        groups.read_leading_group(draft)
    groups.read_trailing_group(draft)
    tags.read_version_of_country(draft)
    years.read_date(draft)
    kinds.read_kind(draft)
    seasons.read_season(draft)
    episodes.read_episodes(draft)
    seasons.read_season_of_name(draft)
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
        found = replace(found, title=None, titles=(), written=())
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
            found = replace(_filled(found, above), title=None, titles=(), written=(), doubts=left)
        elif above.title is None or above.title.lower() not in _NO_NAME:
            found = _filled(found, above)
    return found


def _read_folder(name: str) -> ReleaseTitle:
    """A folder is no episode: a number in its name belongs to the name, if nothing tells of a release."""
    found = _read(name, "", explain=False)
    if found.episodes and found.title and not (found.seasons or found.source or found.resolution or found.group):
        return replace(
            found, title=name.strip(), titles=(name.strip(),), written=(name.strip(),), episodes=(), is_batch=False
        )
    return found


def _filled(found: ReleaseTitle, above: ReleaseTitle) -> ReleaseTitle:
    named = found if found.title else above
    return replace(
        found,
        title=named.title,
        titles=named.titles,
        written=named.written,
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
        written=names.read_written(draft),
        season=draft.seasons[0] if draft.seasons else None,
        seasons=draft.seasons,
        part=draft.part,
        episodes=draft.episodes,
        extras=draft.extras,
        version=draft.version,
        group=draft.group or None,
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
