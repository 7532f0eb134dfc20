"""An entry of the index while it is put together, and which entry of a dump belongs to which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple

from kurabito.metadata.dumps.model import (
    DumpEntry,
    DumpName,
    DumpSource,
    FirstEpisode,
    folded_spellings,
    folded_without_article,
    language_of,
)
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.titles import fold_title

ID_FIELDS: Final = ("bgm_id", "anidb_id", "mal_id", "anilist_id")
"""The ids by which entries of different dumps are the same. One of TMDB is not: seasons share it."""
_MAY_BE_NEW: Final = frozenset((DumpSource.ARCHIVE, DumpSource.OFFLINE_DATABASE))
"""The dumps that say of what kind an entry is; the others only name what is known."""
_YEARS_APART: Final = 1


class NameSource(NamedTuple):
    """Which source has a name, and in which language."""

    source: DumpSource
    language: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class IndexEntry:
    """An entry, and everything that is known of it."""

    id: int
    source: DumpSource = DumpSource.BANGUMI_DATA
    kind: RecordKind
    year: int | None = None
    began: date | None = None
    ids: dict[str, int] = field(default_factory=dict)
    own: dict[str, NameSource] = field(default_factory=dict)
    """Its titles, folded."""
    others: dict[str, NameSource] = field(default_factory=dict)
    titles: list[DumpName] = field(default_factory=list)
    """Its titles as dumps write them."""
    shows: set[int] = field(default_factory=set)
    """The shows of TMDB that it is a part of."""
    related: set[int] = field(default_factory=set)
    first: dict[DumpSource, FirstEpisode] = field(default_factory=dict)
    episode_count: int | None = None
    base: OfflineEntry | None = None
    """What bangumi-data says of it."""

    @property
    def age(self) -> tuple[date, int]:
        """What sorts entries by their beginning; one without a date comes after those of its year."""
        return self.began or date(self.year or 9998, 12, 31), self.id

    def absorb(self, source: DumpSource, entry: DumpEntry) -> None:
        """Take over what a dump says. What is known already stays."""
        for site in ID_FIELDS:
            if (value := getattr(entry.ids, site)) is not None:
                self.ids.setdefault(site, value)
        for name in entry.names:
            for folded in folded_spellings(name.title):
                (self.own if name.is_own else self.others).setdefault(folded, NameSource(source, name.language))
            if (bare := folded_without_article(name.title)) is not None:
                self.others.setdefault(bare, NameSource(source, name.language))
        self.titles += [name for name in entry.names if name.is_own]
        self.year = self.year or entry.year
        self.began = self.began or entry.air_date
        self.episode_count = self.episode_count or entry.episode_count
        self.related.update(entry.related)
        if entry.show is not None:
            self.shows.add(entry.show)
        if entry.first is not None:
            self.first.setdefault(source, entry.first)


class IndexEntries:
    """The entries of the index, found by ids and by names."""

    def __init__(self, entries: Iterable[IndexEntry], numbers: Mapping[tuple[str, int], int], last: int) -> None:
        """`numbers` are the ids that entries of dumps have already, by their ids elsewhere: they keep them.

        New ones come behind `last`: a number that an entry had may still be found by its names.
        """
        self._entries = {entry.id: entry for entry in entries}
        self._numbers = numbers
        self._last = max((last, *self._entries))
        self._by_id: dict[tuple[str, int], list[IndexEntry]] = {}
        self._by_name: dict[str, list[IndexEntry]] = {}
        for entry in self:
            self._note(entry)

    def __iter__(self) -> Iterator[IndexEntry]:
        return iter(self._entries.values())

    def add_all(self, source: DumpSource, entries: Sequence[DumpEntry]) -> int:
        """Join every entry of a dump to the one that it is, or make it a new one; how many are neither."""
        shared = Counter(title for entry in entries for title in _titles(source, entry))
        return sum(not self._add(source, entry, shared) for entry in entries)

    def _add(self, source: DumpSource, entry: DumpEntry, shared: Mapping[str, int]) -> bool:
        home = self._same(entry) or self._namesake(source, entry, shared)
        if home is None:
            if entry.kind is None or source not in _MAY_BE_NEW:
                return False
            number = self._number(entry)
            home = self._entries[number] = IndexEntry(id=number, source=source, kind=entry.kind)
        home.absorb(source, entry)
        self._note(home)
        return True

    def _number(self, entry: DumpEntry) -> int:
        ids = [(name, value) for name in ID_FIELDS if (value := getattr(entry.ids, name)) is not None]
        known = [
            number for one in ids if (number := self._numbers.get(one)) is not None and number not in self._entries
        ]
        if known:
            return known[0]
        self._last += 1
        return self._last

    def of_bgm(self, bgm_id: int) -> IndexEntry | None:
        """The entry with this id of bgm.tv."""
        return next(iter(self._by_id.get(("bgm_id", bgm_id), ())), None)

    def _same(self, entry: DumpEntry) -> IndexEntry | None:
        """The one with the same id. Where two cours have one id elsewhere, it is the first of them."""
        for name in ID_FIELDS:
            value = getattr(entry.ids, name)
            if value is not None and (found := self._by_id.get((name, value))):
                return min(found, key=lambda one: one.age)
        return None

    def _namesake(self, source: DumpSource, entry: DumpEntry, shared: Mapping[str, int]) -> IndexEntry | None:
        """The only one with the same title in its own language, if neither kind nor year nor an id speaks against it.

        `shared` counts the entries of the dump by their titles.
        """
        titles = _titles(source, entry)
        found = {one.id: one for title in titles for one in self._by_name.get(title, ())}
        fitting = [one for one in found.values() if _may_be(one, entry)]
        # Without a kind a name is enough only if no other has it, or the dump has no more of the name than the index does:
        # then the one that is left is the one.
        is_clear = entry.kind is not None or all(shared[title] <= max(len(found), 1) for title in titles)
        return fitting[0] if len(fitting) == 1 and (is_clear or len(found) == 1) else None

    def _note(self, entry: IndexEntry) -> None:
        for name, value in entry.ids.items():
            _add_once(self._by_id.setdefault((name, value), []), entry)
        for folded in entry.own:
            _add_once(self._by_name.setdefault(folded, []), entry)


def _titles(source: DumpSource, entry: DumpEntry) -> set[str]:
    """Its titles in its own language, folded."""
    return {
        fold_title(name.title)
        for name in entry.names
        # anime-offline-database does not tell titles from synonyms, but the year and the kind.
        if (name.is_own or source is DumpSource.OFFLINE_DATABASE)
        and (name.language == "ja" or language_of(name.title) is not None)
    }


def _add_once(entries: list[IndexEntry], entry: IndexEntry) -> None:
    if entry not in entries:
        entries.append(entry)


def _may_be(one: IndexEntry, entry: DumpEntry) -> bool:
    if any(one.ids.get(name) not in (None, getattr(entry.ids, name)) for name in ID_FIELDS if getattr(entry.ids, name)):
        return False
    if entry.kind is not None and (entry.kind is RecordKind.MOVIE) != (one.kind is RecordKind.MOVIE):
        return False
    return entry.year is None or one.year is None or abs(entry.year - one.year) <= _YEARS_APART
