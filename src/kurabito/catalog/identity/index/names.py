"""What the offline index says of names: which of them are one show's, and which are several shows'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final

from kurabito.catalog.identity.evidence import is_near, year_fits
from kurabito.catalog.identity.index.parts import SeasonParts
from kurabito.catalog.identity.index.shows import IndexedShow, WholeName, age_of, as_written, first_of
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import read_folded_sequel, romaji_of, spelled_films, without_film_word
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList, given
from kurabito.metadata.lookup import Sequel, read_part
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.titles.scripts import simplified

_ENTRY: Final = ColumnList(
    "entry.id, entry.kind, entry.air_date, entry.year, entry.bgm_id, entry.tmdb_id, entry.tmdb_kind, entry.tmdb_season, "
    "entry.title, entry.title_chinese, entry.title_english, entry.last_date, entry.episode_count"
)
SQL: Final = Queries("kurabito.catalog.identity.index", "names.sql", entry=_ENTRY)


class IndexNames:
    """The entries of the offline index that have some names, or are known by the page of a site."""

    def __init__(
        self,
        conn: Connection,
        names: Iterable[Name],
        spellings: Iterable[str] = (),
        pages: Iterable[int] = (),
        films: Iterable[str] = (),
    ) -> None:
        listed = {name.folded: name for name in names}
        # The index says of a film's name that it is one; titles say it beside the name.
        said = {spelling: film for film in films for spelling in spelled_films(film)}
        self._shows: dict[int, IndexedShow] = {}
        self._entries: dict[tuple[str, SeriesKind], set[int]] = {}
        extras: dict[tuple[str, SeriesKind], set[int]] = {}
        written = {*listed, *spellings, *said}
        plain = {name: other for name in written if not name.isascii() and (other := simplified(name)) != name}
        for folded, *row in conn.all(SQL.entries, given(sorted(written.union(plain.values())))):
            show, is_extra = self._note(row)
            if show.kind is SeriesKind.MOVIE and folded in said:
                self._entries.setdefault((said[folded], SeriesKind.MOVIE), set()).add(show.id)
            chosen = extras if is_extra else self._entries
            chosen.setdefault((folded, show.kind), set()).add(show.id)
        # A show and its OVA of the same name: the show is meant.
        self._entries = extras | self._entries
        # The index has many a name in one script only.
        for (folded, other), kind in product(plain.items(), SeriesKind):
            if (folded, kind) not in self._entries and (other, kind) in self._entries:
                self._entries[folded, kind] = self._entries[other, kind]
        self._listen(conn, listed.values())
        self._of_pages: dict[int, int] = {}
        if wanted := list(pages):
            self._of_pages = dict(conn.all(SQL.entries_of_pages, given(sorted(wanted))))
        found = {entry for some in self._entries.values() for entry in some} | set(self._of_pages.values())
        parts = self._read_parts(conn)
        found.update(part.id for some in parts.values() for part in some)
        self._names: dict[int, set[str]] = {}
        for entry_id, folded in conn.all(SQL.entry_names, given(sorted(found))) if found else ():
            self._names.setdefault(entry_id, set()).add(folded)
            if entry_id in self._shows and self._shows[entry_id].kind is SeriesKind.MOVIE:
                self._names[entry_id].add(without_film_word(folded))
        # A year tells a remake from its original, also where both have a name.
        self._names_of_years = {entry_id: set(names) for entry_id, names in self._names.items()}
        self._forget_shared(conn)
        self._sequels = {
            entry_id: [sequel for name in names if (sequel := read_folded_sequel(name)) is not None]
            for entry_id, names in self._names.items()
        }
        self._seasons = self._by_season(parts)
        self._season_begun = {some[0].id: season for (_, season), some in self._seasons.items()}
        self._firsts: dict[int | None, list[int]] = {one: [part.id for part in some[:1]] for one, some in parts.items()}
        self.parts = SeasonParts(parts, self._shows, self._rivals)

    def _forget_shared(self, conn: Connection) -> None:
        """A name that several entries have means the first of the seasons that have it, and nothing where they are several shows."""
        having: dict[tuple[str, SeriesKind], dict[int, IndexedShow]] = {}
        every = set().union(*self._names.values())
        for folded, *row in conn.all(SQL.entries, given(sorted(every))) if every else ():
            show, is_extra = self._note(row)
            if not is_extra:
                having.setdefault((folded, show.kind), {})[show.id] = show
        self._rivals: dict[int, set[int]] = {}
        for (name, _), shows in having.items():
            if name in every and len(shows) > 1:
                for entry_id in shows:
                    self._rivals.setdefault(entry_id, set()).update(shows.keys() - {entry_id})
            meant = first_of(list(shows.values()))
            for entry_id, show in shows.items():
                if show is not meant and entry_id in self._names:
                    self._names[entry_id].discard(name)

    def _note(self, row: Sequence[Any]) -> tuple[IndexedShow, bool]:
        """An entry as it is known from now on, and whether it is an extra of a show."""
        entry = _ENTRY.row(tuple(row))
        year = int(entry.air_date[:4]) if entry.air_date else entry.year
        show_id = entry.tmdb_id if entry.tmdb_kind == TmdbKind.TV else None
        kind = SeriesKind.MOVIE if entry.kind == RecordKind.MOVIE else SeriesKind.TV
        began = entry.air_date or str(year or "")
        titles = tuple(filter(None, (entry.title, entry.title_chinese, entry.title_english)))
        more = show_id, entry.tmdb_season, titles, entry.last_date, entry.episode_count
        show = IndexedShow(entry.id, kind, began, year, entry.bgm_id, *more)
        self._shows[show.id] = show
        return show, entry.kind == RecordKind.OVA

    def _listen(self, conn: Connection, names: Iterable[Name]) -> None:
        """Find names that the index has not in these letters by their sound."""
        known = {folded for folded, _ in self._entries}
        sounds = {
            name.folded: sound
            for name in names
            if name.folded not in known and (sound := romaji_of(name.shown)) is not None
        }
        heard: dict[tuple[str, SeriesKind], set[int]] = {}
        for sound, *row in conn.all(SQL.sounding, given(sorted(set(sounds.values())))) if sounds else ():
            show, _ = self._note(row)
            heard.setdefault((sound, show.kind), set()).add(show.id)
        for folded, sound in sounds.items():
            self._entries |= {(folded, kind): heard[sound, kind] for kind in SeriesKind if (sound, kind) in heard}

    def _read_parts(self, conn: Connection) -> dict[int, list[IndexedShow]]:
        """The entries of each show of TMDB that was found, in the order in which they began."""
        shows = {show.tmdb_id for show in self._shows.values() if show.tmdb_id is not None}
        parts: dict[int, list[IndexedShow]] = {}
        for row in conn.all(SQL.parts, given(sorted(shows))) if shows else ():
            show, is_extra = self._note(row)
            # Some seasons came as OVAs: TMDB counts those with the others.
            if show.tmdb_id is not None and (not is_extra or (show.tmdb_season or 0) > FIRST_SEASON):
                parts.setdefault(show.tmdb_id, []).append(show)
        return {show_id: sorted(some, key=age_of) for show_id, some in parts.items()}

    def _by_season(self, parts: Mapping[int, Sequence[IndexedShow]]) -> dict[tuple[int, int], list[IndexedShow]]:
        """The entries of later seasons, by their show and season: as TMDB counts them, and where it does not, by their names."""
        seasons: dict[tuple[int, int], list[IndexedShow]] = {}
        for show_id, some in parts.items():
            for part in some:
                said = {sequel.season for sequel in self._sequels.get(part.id, ())}
                season = part.tmdb_season or (said.pop() if len(said) == 1 else None)
                if season is not None and season > FIRST_SEASON:
                    seasons.setdefault((show_id, season), []).append(part)
        # Where TMDB says it, a name that says otherwise is wrong.
        return {key: [one for one in some if one.tmdb_season == key[1]] or some for key, some in seasons.items()}

    def every_name(self) -> set[str]:
        """All names of the entries that were found, and what is left of them without their seasons."""
        bases = {sequel.name for sequels in self._sequels.values() for sequel in sequels}
        return bases.union(*self._names.values())

    def namesakes(self, folded: str, kind: SeriesKind, year: int | None = None) -> set[str]:
        """The other names of the one show that has this name; none when several have it, and no year tells them apart."""
        entries = self._entries.get((folded, kind), set())
        if len(entries) > 1 and year is not None:
            entries = {entry for entry in entries if is_near(self._shows[entry].year, year)}
        names = self._names if year is None else self._names_of_years
        return names.get(next(iter(entries)), set()) - {folded} if len(entries) == 1 else set()

    def names_of_entry(self, entry_id: int) -> set[tuple[str, int]]:
        """The names of an entry, folded, each with the season beside which it stands; none that means another entry."""
        names = self._names.get(entry_id, set())
        # What is left of a name without its part is the part before it.
        sequels = (read_folded_sequel(name) for name in names if read_part(name) is None)
        bare = {(name, FIRST_SEASON) for name in names}
        bare.update((sequel.name, sequel.season) for sequel in sequels if sequel is not None)
        if (season := self._season_begun.get(entry_id)) is not None:
            both = (entry_id, *self._firsts.get(self._shows[entry_id].tmdb_id, ()))
            bare.update((name, season) for one in both for name in self._names.get(one, ()))
        return bare

    def of_bgm(self, bgm_id: int) -> IndexedShow | None:
        """The entry with an id of bgm.tv, among those that were found."""
        return next((show for show in self._shows.values() if show.bgm_id == bgm_id), None)

    def of_names(self, names: Iterable[str]) -> IndexedShow | None:
        """The one show that has some names, those aside that several shows have; the first of its parts."""
        found = (self._entries.get((name, SeriesKind.TV), ()) for name in names)
        firsts = {first_of([self._shows[entry] for entry in entries]) for entries in found if entries} - {None}
        return firsts.pop() if len(firsts) == 1 else None

    def names_of_page(self, page_id: int | None) -> set[str]:
        """The names of the show that a page is of."""
        return self._names.get(self._of_pages[page_id], set()) if page_id in self._of_pages else set()

    def season_of(self, folded: str, kind: SeriesKind) -> int | None:
        """The later season that the one show of this name is, where another of its names says so."""
        seasons = {sequel.season for sequel in self.seasons_of(folded, kind)}
        return seasons.pop() if len(seasons) == 1 and seasons != {FIRST_SEASON} else None

    def seasons_of(self, folded: str, kind: SeriesKind) -> list[Sequel]:
        """Those names of the one show of this name that end with a season: each without it, folded, and the season."""
        entries = self._entries.get((folded, kind), set())
        return self._sequels.get(next(iter(entries)), []) if len(entries) == 1 and kind is SeriesKind.TV else []

    def whole_name(self, reading: Reading) -> WholeName | None:
        """The one entry that a release names whole; None where its names do not say it, or say several."""
        if reading.country is not None:
            return None
        subtitled = self.subtitled(reading)
        for names in reading.whole_names():
            own = (name for name in names if name not in subtitled)
            known = {name: entries for name in own if (entries := self._entries.get((name, reading.kind)))}
            if known:
                shows = map(self._shows.__getitem__, set().union(*known.values()))
                found = [show for show in shows if self._may_be(show, reading)]
                show = first_of(as_written(found, [name for name in reading.written if name.folded in known]))
                by = (name for name, entries in known.items() if show is not None and show.id in entries)
                return None if show is None else WholeName(show, frozenset(by))
        return self._season(reading) if reading.is_later_season else None

    def _season(self, reading: Reading) -> WholeName | None:
        """The entry of a season by a name that leaves it out: its own name, or that of a show of TMDB."""
        named = {entry for name in reading.names for entry in self._entries.get((name.folded, reading.kind), ())}
        # What is a later season itself has a second season that is not the second one of TMDB.
        own = {None, FIRST_SEASON, reading.season}
        shows = {show.tmdb_id for show in map(self._shows.__getitem__, named) if show.tmdb_season in own} - {None}
        found = [self._seasons.get((show, reading.said_season), ()) for show in shows if show is not None]
        counted = found[0][0] if len(found) == 1 and found[0] else None
        if counted is not None and counted.tmdb_season is not None:
            return WholeName(counted, frozenset())
        marked = [one for one in named if {reading.season} == {sequel.season for sequel in self._sequels.get(one, ())}]
        meant = self._shows[marked[0]] if len(marked) == 1 else counted
        return WholeName(meant, frozenset()) if meant is not None else None

    def subtitled(self, reading: Reading) -> frozenset[str]:
        """Its names behind which stands what is not another name of their show: `夜之蔵人 STAMPEDE` is a show of its own."""
        found = (
            (name, rest, self._entries.get((name, reading.kind), ())) for name, rest in reading.subtitles().items()
        )
        return frozenset(name for name, rest, entries in found if entries and not self._is_name(entries, rest))

    def _is_name(self, entries: Iterable[int], latin: str) -> bool:
        """Whether some shows are called so; what has no name in Latin letters here may be."""
        known = [name for entry in entries for name in self._names.get(entry, ()) if name.isascii()]
        return not known or any(name.startswith(latin) for name in known)

    def _may_be(self, show: IndexedShow, reading: Reading) -> bool:
        """Whether an entry began in the year that a release says, and is not a later season where it says the first."""
        if reading.year is not None and show.year is not None:
            return year_fits(show.year, reading.year, is_later_season=reading.is_later_season)
        seasons = {sequel.season for sequel in self._sequels.get(show.id, ())}
        return reading.season != FIRST_SEASON or len(seasons) != 1 or FIRST_SEASON in seasons

    def is_known(self, folded: str) -> bool:
        """Whether any entry has this name."""
        return any((folded, kind) in self._entries for kind in SeriesKind)

    def is_only_film(self, names: Sequence[str]) -> bool:
        """Whether these names are those of films, and of no show."""
        kinds = {kind for kind in SeriesKind if any((name, kind) in self._entries for name in names)}
        return kinds == {SeriesKind.MOVIE}

    def is_shared(self, folded: str, kind: SeriesKind) -> bool:
        """Whether several shows have this name."""
        return len(self._entries.get((folded, kind), ())) > 1

    def began(self, names: Iterable[str], kind: SeriesKind) -> frozenset[tuple[str, int]]:
        """Those of these names that one show alone has, each with the year in which it began."""
        shows = [(name, self._shows[min(self._entries[name, kind])]) for name in names if self.is_unique(name, kind)]
        return frozenset((name, show.year) for name, show in shows if show.year is not None)

    def shows_of(self, folded: str, kind: SeriesKind) -> list[IndexedShow]:
        """The different shows that have this name, each by its first season; none where they are parts of one."""
        shows: dict[tuple[int, int], IndexedShow] = {}
        for show in sorted(map(self._shows.__getitem__, self._entries.get((folded, kind), ())), key=age_of):
            if all(sequel.season == FIRST_SEASON for sequel in self._sequels.get(show.id, ())):
                shows.setdefault((show.tmdb_id or 0, 0 if show.tmdb_id else show.id), show)
        return list(shows.values()) if len(shows) > 1 else []

    def is_unique(self, folded: str, kind: SeriesKind) -> bool:
        """Whether one show alone has this name."""
        return len(self._entries.get((folded, kind), ())) == 1

    def is_of_year(self, folded: str, kind: SeriesKind, year: int | None) -> bool:
        """Whether the one show of this name began in that year."""
        entries = self._entries.get((folded, kind), set())
        return year is not None and len(entries) == 1 and is_near(self._shows[next(iter(entries))].year, year)

    def are_one(self, names: Iterable[str], kind: SeriesKind) -> bool:
        """Whether one show has all of these names, and no other any of them; its later seasons may have one too."""
        found = [self._entries.get((name, kind), set()) for name in names]
        every = [self._shows[entry] for entry in set().union(*found)]
        return bool(found and set.intersection(*found)) and first_of(every) is not None

    def are_two(self, names: Iterable[str], kind: SeriesKind) -> bool:
        """Whether names stand for different shows, each for exactly one."""
        found = [entries for name in names if len(entries := self._entries.get((name, kind), set())) == 1]
        return len(set().union(*found)) > 1
