"""What the offline index says of names: which of them are one show's, and which are several shows'."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from kurabito.catalog.identity.evidence import is_near
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import romaji_of
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.metadata.lookup import Sequel, read_sequel
from kurabito.metadata.records import RecordKind

_SQL: Final = Queries("kurabito.catalog.identity", "knowledge.sql", series="series.id")
_FIRST_SEASON: Final = 1


class IndexNames:
    """The entries of the offline index that have some names, or are known by the page of a site."""

    def __init__(
        self, conn: Connection, names: Iterable[Name], spellings: Iterable[str] = (), pages: Iterable[int] = ()
    ) -> None:
        listed = {name.folded: name for name in names}
        self._entries: dict[tuple[str, SeriesKind], set[int]] = {}
        extras: dict[tuple[str, SeriesKind], set[int]] = {}
        self._years: dict[int, int | None] = {}
        for folded, entry_id, kind, year in conn.all(_SQL.entries, _rows({*listed, *spellings})):
            self._years[entry_id] = year
            chosen = extras if kind == RecordKind.OVA else self._entries
            chosen.setdefault((folded, _kind(kind)), set()).add(entry_id)
        # A show and its OVA of the same name: the show is meant.
        self._entries = extras | self._entries
        known = {folded for folded, _ in self._entries}
        sounds = {name.folded: sound for name in listed.values() if (sound := romaji_of(name.shown)) is not None}
        unknown = {sound for folded, sound in sounds.items() if folded not in known}
        heard: dict[tuple[str, SeriesKind], set[int]] = {}
        for sound, entry_id, kind in conn.all(_SQL.sounding, _rows(unknown)) if unknown else ():
            heard.setdefault((sound, _kind(kind)), set()).add(entry_id)
        for folded, sound in sounds.items():
            if folded not in known:
                self._entries |= {(folded, kind): heard[sound, kind] for kind in SeriesKind if (sound, kind) in heard}
        self._of_pages: dict[int, int] = {}
        if wanted := list(pages):
            self._of_pages = dict(conn.all(_SQL.entries_of_pages, _rows(wanted)))
        found = {entry for some in self._entries.values() for entry in some} | set(self._of_pages.values())
        self._names: dict[int, set[str]] = {}
        for entry_id, folded in conn.all(_SQL.entry_names, _rows(found)) if found else ():
            self._names.setdefault(entry_id, set()).add(folded)
        self._sequels = {
            entry_id: [sequel for name in names if (sequel := read_folded_sequel(name)) is not None]
            for entry_id, names in self._names.items()
        }

    def every_name(self) -> set[str]:
        """All names of the entries that were found, and what is left of them without their seasons."""
        bases = {sequel.name for sequels in self._sequels.values() for sequel in sequels}
        return bases.union(*self._names.values())

    def namesakes(self, folded: str, kind: SeriesKind, year: int | None = None) -> set[str]:
        """The other names of the one show that has this name; none when several have it, and no year tells them apart."""
        entries = self._entries.get((folded, kind), set())
        if len(entries) > 1 and year is not None:
            entries = {entry for entry in entries if is_near(self._years.get(entry), year)}
        return self._names.get(next(iter(entries)), set()) - {folded} if len(entries) == 1 else set()

    def names_of_page(self, page_id: int | None) -> set[str]:
        """The names of the show that a page is of."""
        return self._names.get(self._of_pages[page_id], set()) if page_id in self._of_pages else set()

    def season_of(self, folded: str, kind: SeriesKind) -> int | None:
        """The later season that the one show of this name is, where another of its names says so."""
        seasons = {sequel.season for sequel in self.seasons_of(folded, kind)}
        return seasons.pop() if len(seasons) == 1 and seasons != {_FIRST_SEASON} else None

    def seasons_of(self, folded: str, kind: SeriesKind) -> list[Sequel]:
        """Those names of the one show of this name that end with a season: each without it, folded, and the season."""
        entries = self._entries.get((folded, kind), set())
        return self._sequels.get(next(iter(entries)), []) if len(entries) == 1 and kind is SeriesKind.TV else []

    def is_shared(self, folded: str, kind: SeriesKind) -> bool:
        """Whether several shows have this name."""
        return len(self._entries.get((folded, kind), ())) > 1

    def are_two(self, names: Iterable[str], kind: SeriesKind) -> bool:
        """Whether names stand for different shows, each for exactly one."""
        found = [entries for name in names if len(entries := self._entries.get((name, kind), set())) == 1]
        return len(set().union(*found)) > 1


@lru_cache(maxsize=16_384)
def read_folded_sequel(folded: str) -> Sequel | None:
    """The show and the season that a folded name stands for; a number alone may be anything there."""
    return read_sequel(folded) if not folded[-1:].isascii() or "season" in folded else None


def _kind(kind: str) -> SeriesKind:
    return SeriesKind.MOVIE if kind == RecordKind.MOVIE else SeriesKind.TV


def _rows(values: Iterable[object]) -> dict[str, str]:
    return {"rows": json.dumps([[value] for value in sorted(values)], ensure_ascii=False)}  # type: ignore[type-var]
