"""What joins the names under which titles have one season: the season's own name as a title writes it, and the offline index."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.metadata.lookup import read_sequel
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry, read_index
from kurabito.titles import fold_title

_FIRST_SEASON: Final = 1
_SEPARATORS: Final = r"\s:,.~'!?_·\-\u2010-\u2015\u301c"
# What ends a name: brackets, another name, a number, the mark of a season, the words of a release.
_END: Final = re.compile(
    r"[\[\](){}【】「」『』/|★#+&]|(?<![a-z])(?:s\d|ep?\d)|第?\s*[\d一二三四五六七八九十]+\s*(?:[季期話话集部回巻週]|シーズン|クール)"
    r"|(?<![a-z0-9])(?:[\d½]|(?:ii|iii|iv|vi{0,3}|ix|x)(?![a-z])"
    r"|(?:season|part|cour|first|second|third|fourth|fifth|final\s+season|volumes?|vol|complete|batch|raw|end|fin|us|uk|au"
    r"|movie|film|the\s+movie|live\s+action|ova|oad|special|specials|sp|tv|bd|bdrip|dvd|dvdrip|web|webrip|uncensored)(?![a-z]))"
    r"|剧场版|劇場版|真人版|美版|英版|年版|全集|合集"
)
_EDGES: Final = re.compile(rf"^[{_SEPARATORS}]+|[{_SEPARATORS}]+$")


class Spelling(NamedTuple):
    """A name as titles write it, folded and without the mark of its season, and that season."""

    name: str
    season: int


def written_names(title: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """The names of a title, each with what it goes on in there, in small letters: gold may have the show's name alone.

    >>> written_names("[Kura] Cellar Tales: Moto-hen - 03 [1080p]", ["Cellar Tales"])
    [('Cellar Tales', 'moto-hen')]
    """
    text = unicodedata.normalize("NFKC", title).casefold()
    spans = [_find(name, text) for name in names]
    starts = [found.start() for found in spans if found is not None]
    return [
        (name, "" if found is None else _rest(text, found.end(), [one for one in starts if one >= found.end()]))
        for name, found in zip(names, spans, strict=True)
    ]


def _find(name: str, text: str) -> re.Match[str] | None:
    letters = fold_title(name)
    return re.search(r"[\W_]*".join(map(re.escape, letters)) + r"(?![a-z])", text) if letters else None


def _rest(text: str, end: int, others: Sequence[int]) -> str:
    """What follows a name until it ends; nothing where that has no letters."""
    rest = text[end : min(others, default=len(text))]
    found = _END.search(rest)
    rest = _EDGES.sub("", rest[: found.start()] if found else rest)
    return rest if any(map(str.isalpha, rest)) else ""


class IndexedNames:
    """The names that the offline index knows as one, by season."""

    def __init__(self, entries: Iterable[OfflineEntry]) -> None:
        listed = list(entries)
        shows: dict[int, list[OfflineEntry]] = defaultdict(list)
        for entry in listed:
            if entry.ids.tmdb_kind == TmdbKind.TV and entry.ids.tmdb_id is not None:
                shows[entry.ids.tmdb_id].append(entry)
        self._entries = [_names_of(entry, shows.get(entry.ids.tmdb_id or 0, ())) for entry in listed]
        self._having: dict[Spelling, set[int]] = defaultdict(set)
        for place, names in enumerate(self._entries):
            for name in names:
                self._having[name].add(place)

    @classmethod
    def read(cls, index: Path) -> IndexedNames:
        """Those of bangumi-data's data.json."""
        return cls(read_index(index.read_bytes()).entries)

    def same_as(self, spelling: Spelling) -> set[str]:
        """The other names of the one entry that is called so, beside its season or as the show is; none where several are."""
        found = (self._having.get(one, set()) for one in (spelling, Spelling(spelling.name, _FIRST_SEASON)))
        entries = [next(iter(some)) for some in found if len(some) == 1]
        return {one.name for entry in entries for one in self._entries[entry]}


def _names_of(entry: OfflineEntry, show: Sequence[OfflineEntry]) -> set[Spelling]:
    """What an entry is called: its names with and without their season, and those of its show beside its season."""
    sequels = [sequel for title in entry.titles if (sequel := read_sequel(title)) is not None]
    seasons = {sequel.season for sequel in sequels}
    season = entry.ids.tmdb_season or (seasons.pop() if len(seasons) == 1 else _FIRST_SEASON)
    names = {fold_title(title) for title in entry.titles} | {fold_title(sequel.name) for sequel in sequels}
    whole = {fold_title(title) for title in entry.titles}
    if season > _FIRST_SEASON:
        firsts = [one for one in show if not any(read_sequel(title) for title in one.titles)]
        names.update(fold_title(title) for one in firsts if one.ids.tmdb_season in (None, 1) for title in one.titles)
    # A season's whole name needs no number beside it.
    own = {Spelling(name, _FIRST_SEASON) for name in whole}
    return {one for one in own | {Spelling(name, season) for name in names} if one.name}


def spelled(written: Iterable[tuple[str, str]], season: int, known: Set[str]) -> frozenset[Spelling]:
    """The spellings of a title, beside its season; two names with nothing between them are two where `known` has both, folded."""
    found = set()
    for name, rest in written:
        is_name = fold_title(rest) in known
        whole = [name, rest] if is_name else [f"{name} {rest}"]
        found.update(Spelling(_without_season(one, season), season) for one in whole)
    return frozenset(one for one in found if one.name)


def _without_season(name: str, season: int) -> str:
    sequel = read_sequel(name)
    return fold_title(sequel.name if sequel is not None and sequel.season == season else name)
