"""What a decision has to know, looked up for many releases at once: however many there are, a handful of questions are asked.

What a batch makes itself (series, names) is known to its later releases too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kurabito.catalog.identity.aliases import NO_COUNTRY, NO_YEAR, alias_row
from kurabito.catalog.identity.evidence import CandidateSeries, KnownName, is_near, may_follow
from kurabito.catalog.identity.index.names import IndexNames
from kurabito.catalog.identity.index.pieces import without_pieces
from kurabito.catalog.identity.index.shows import WholeName
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading, ReleaseOrigin
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import (
    bare_title,
    film_names,
    halves_of,
    is_extra_name,
    latin_end_of,
    likeness_of,
    plain_latin_of,
    simplified_of,
)
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries, Query
from kurabito.db.rows import ColumnList, given
from kurabito.titles.kana import letters_of, readings_of
from kurabito.titles.scripts import simplified

_SERIES: Final = ColumnList(
    "series.id, series.title, series.kind, series.season, series.state, series.year, series.country, "
    "series.episode_offset, series.metadata_id, record.bgm_id"
)
SQL: Final = Queries("kurabito.catalog.identity", "knowledge.sql", series=_SERIES)


class NameRow(NamedTuple):
    """A name in a season, with year and country, and the series that it leads to."""

    season: int
    year: int
    country: str
    series_id: int


class SeriesKnowledge:
    """Series, their names and the offline index, as far as some readings touch them."""

    def __init__(self, conn: Connection, readings: Iterable[Reading], origins: Iterable[ReleaseOrigin] = ()) -> None:
        self._conn = conn
        self._rows: dict[tuple[str, SeriesKind], set[NameRow]] = {}
        self._romaji: dict[str, set[str]] = {}
        self._series: dict[int, CandidateSeries] = {}
        self._shows: set[int] = set()
        """Series that a title of this batch called a show or a film."""
        listed, feeds = list(readings), list(origins)
        halves = {half for one in listed for name in one.names for half in halves_of(name.shown) or ()}
        written = {name for one in listed for name in (*one.names, *one.written)} | halves
        names = {name.folded for one in listed for name in one.names}
        sequels = {sequel.folded for one in listed for _, sequel in one.sequels()}
        screened = [name for one in listed if one.kind is SeriesKind.MOVIE for name in one.names]
        dated = {folded for one in listed for _, folded, _ in one.dated()}
        pages = {one.page_id for one in feeds if one.page_id is not None}
        self.index = IndexNames(conn, written, sequels | dated, pages, {name.folded for name in screened})
        plain = {one for name in written if (one := simplified_of(name)) is not None}
        bases = {base for one in listed for _, some in one.bases() for base in some}
        plain.update(simplified(one) for one in (*sequels, *bases))
        filmed = {spelled for name in screened for spelled in film_names(name)}
        names.update(pair for one in listed for pair in one.pairs())
        names.update(one.folded for one in written if is_extra_name(one.folded))
        names.update(f"{name.folded}ova" for one in listed if one.is_ova for name in one.names)
        names.update(filter(None, (end(one.shown) for one in written for end in (latin_end_of, plain_latin_of))))
        names.update(half.folded for half in halves)
        self._look_up(names.union(sequels, plain, dated, bases, filmed, self.index.every_name()))
        spoken = {likeness_of(name) or name.folded for name in written}
        self._look_up_romaji(spoken | {simplified(one) for one in sequels if not one.isascii()})
        self._read_aloud = self._read_titles_aloud({name for one in listed for name in one.names})
        meant = {*listed, *(without_pieces(self.index, one) for one in listed)}
        self._whole_names = {one: self.index.whole_name(one) for one in meant}
        whole = [one for one in self._whole_names.values() if one is not None]
        shared = {show.id for one in meant for name in one.names for show in self.index.shows_of(name.folded, one.kind)}
        self._of_entries = self._read_entries(shared.union(one.entry.id for one in whole))
        self._of_pages = self._read_pages({one.subscription_id for one in feeds if one.page_id is not None})
        self.read_series(one.series_id for one in feeds if one.series_id is not None)
        self.read_series(row.series_id for rows in self._rows.values() for row in rows)
        self.read_series(series_id for some in self._of_pages.values() for series_id in some)
        self.read_series(series_id for some in self._of_entries.values() for series_id in some)

    def series(self, series_id: int) -> CandidateSeries | None:
        """A series, if it was read and is there."""
        return self._series.get(series_id)

    def named(self, folded: str, reading: Reading, season: int | None) -> list[tuple[CandidateSeries, NameRow]]:
        """The series that a name leads to beside a season. A number that says none may have reached a later one's count."""
        rows = [(self._series[row.series_id], row) for row in self._rows.get((folded, reading.kind), ())]
        if season is None and reading.first_episode is not None:
            reached = [one for one in rows if 0 < one[0].episode_offset < reading.first_episode]
            if reached:
                most = max(series.episode_offset for series, _ in reached)
                return [one for one in reached if one[0].episode_offset == most]
        return [one for one in rows if one[1].season == (FIRST_SEASON if season is None else season)]

    def later_seasons(self, reading: Reading) -> list[CandidateSeries]:
        """The later seasons that have one of the names of a reading; with a year, those that may have begun after it."""
        names = {other for name in reading.names for other in (name.folded, *self.in_other_script(name.folded))}
        rows = (row for name in names for row in self._rows.get((name, SeriesKind.TV), ()))
        later = {row.series_id for row in rows if row.season > FIRST_SEASON}
        found = (self._series[one] for one in sorted(later))
        return [
            one for one in found if reading.year is None or all(may_follow(reading.year, it, one) for it in one.years)
        ]

    def has_namesake_of_other_year(self, series: CandidateSeries) -> bool:
        """Whether another series has one of its names beside a year that is not its own."""
        own = {one.name.folded for one in series.names}
        names = {(one, series.kind) for one in own.union(*map(self.in_other_script, own))}
        self._look_up({folded for folded, _ in names} - {folded for folded, _ in self._rows})
        others = {row for name in names for row in self._rows.get(name, ()) if row.series_id != series.id}
        return any(row.year and not any(is_near(row.year, year) for year in series.years) for row in others)

    def later_parts(self, reading: Reading) -> list[CandidateSeries]:
        """The series of what the offline index has after the entry that a reading names."""
        found = self._read_entries(self.index.parts.after(one.entry)) if (one := self.whole_name(reading)) else {}
        self.read_series(ids := sorted(set().union(*found.values())))
        return [self._series[one] for one in ids]

    def rows(self, folded: str, kind: SeriesKind) -> Set[NameRow]:
        """Where a name leads, beside whatever stands there."""
        return self._rows.get((folded, kind), set())

    def alike(self, name: Name) -> frozenset[str]:
        """The names of series, folded, that are this one in another spelling: romaji, its reading, or the other Chinese script."""
        found = self._romaji.get(likeness_of(name) or name.folded, set()) | self._read_aloud.get(name.folded, set())
        spelled = filter(None, (simplified_of(name), latin_end_of(name.shown), plain_latin_of(name.shown)))
        return frozenset({*found, *spelled} - {name.folded})

    def in_other_script(self, folded: str) -> frozenset[str]:
        """The same Chinese name in the other script, folded, as series have it."""
        if folded.isascii():
            return frozenset()
        plain = simplified(folded)
        return frozenset({*self._romaji.get(plain, ()), plain} - {folded})

    def of_page(self, origin: ReleaseOrigin, kind: SeriesKind) -> CandidateSeries | None:
        """The one series of what a page's feed brought so far."""
        found = self._of_pages.get((origin.subscription_id, kind), set())
        return self._series.get(next(iter(found))) if len(found) == 1 else None

    def whole_name(self, reading: Reading) -> WholeName | None:
        """The entry of the index that a release names whole; none where its number may have reached the count of a later one."""
        if reading.season is None and reading.first_episode is not None:
            counted = (one for name in reading.names for one, _ in self.named(name.folded, reading, None))
            if any(0 < series.episode_offset < reading.first_episode for series in counted):
                return None
        if reading not in self._whole_names:
            self._whole_names[reading] = self.index.whole_name(reading)
        return self._whole_names[reading]

    def of_entry(self, entry_id: int) -> list[CandidateSeries]:
        """The series whose record an entry of the index is."""
        return [self._series[series_id] for series_id in self._of_entries.get(entry_id, ())]

    def has_habit(self, series_id: int, group: Name, subscription_id: int) -> bool:
        """Whether this group released something of a series in this feed before."""
        given = {"series_id": series_id, "folded": group.folded, "subscription_id": subscription_id}
        return self._conn.one(SQL.habit, given) is not None

    def is_free(self, folded: str, reading: Reading, season: int) -> bool:
        """Whether no series has this name beside the season, and the year and country of the reading."""
        row = (season, reading.year or NO_YEAR, reading.country or NO_COUNTRY)
        return all(row != one[:3] for one in self._rows.get((folded, reading.kind), ()))

    def learn(
        self, series: CandidateSeries, names: Sequence[tuple[Name, int]], reading: Reading
    ) -> list[dict[str, Any]]:
        """Remember names of a series, each with its season; as rows to be stored."""
        rows = [
            {**alias_row(name, reading.kind, season, reading.year, reading.country), "series_id": series.id}
            for name, season in names
        ]
        for row in rows:
            known_row = NameRow(row["season"], row["year"], row["country"], series.id)
            self._rows.setdefault((row["folded"], reading.kind), set()).add(known_row)
            if row["romaji"] is not None:
                self._romaji.setdefault(row["romaji"], set()).add(row["folded"])
        known = (KnownName(name, season, reading.year, reading.country) for name, season in names)
        self._series[series.id] = replace(series, names=(*series.names, *known))
        return rows

    def join(self, into: CandidateSeries, others: Sequence[CandidateSeries]) -> CandidateSeries:
        """One series has the names of all of them from now on."""
        gone = {one.id for one in others}
        for key, rows in self._rows.items():
            self._rows[key] = {row._replace(series_id=into.id) if row.series_id in gone else row for row in rows}
        for page, some in self._of_pages.items():
            self._of_pages[page] = {into.id if one in gone else one for one in some}
        names = (*into.names, *(name for one in others for name in one.names))
        years = [one.year for one in (into, *others) if one.year]
        countries = [one.country for one in (into, *others) if one.country]
        joined = replace(into, names=names, year=min(years, default=None), country=next(iter(countries), None))
        for one in gone:
            self._series[one] = joined
        self._series[into.id] = joined
        return joined

    def is_surely_show(self, series: CandidateSeries) -> bool:
        """Whether a record or a number of an episode says that a series is no film."""
        is_said = series.metadata_id is not None or series.id in self._shows
        return is_said or self._conn.one(SQL.any_number, {"id": series.id}) is not None

    def note_kind(self, series_id: int, reading: Reading) -> None:
        """A release of a series came; what it is, its title may say."""
        if not reading.may_be_film:
            self._shows.add(series_id)

    def make_film(self, series: CandidateSeries) -> None:
        """A series that no title called a show or a film turned out to be a film."""
        for name, kind in list(self._rows):
            own = {row for row in self._rows[name, kind] if row.series_id == series.id}
            if own and kind is SeriesKind.TV:
                self._rows[name, kind] -= own
                self._rows.setdefault((name, SeriesKind.MOVIE), set()).update(own)
        self._series[series.id] = replace(series, kind=SeriesKind.MOVIE)

    def note_page(self, origin: ReleaseOrigin, kind: SeriesKind, series_id: int) -> None:
        """A page's feed brought something of this series."""
        self._of_pages.setdefault((origin.subscription_id, kind), set()).add(series_id)

    def read_series(self, ids: Iterable[int]) -> None:
        """Read series with their names."""
        wanted = sorted(set(ids) - self._series.keys())
        names: dict[int, list[KnownName]] = {}
        for series_id, name, season, year, country in self._ask(SQL.names, wanted):
            names.setdefault(series_id, []).append(KnownName(Name.of(name), season, year or None, country or None))
        for row in map(_SERIES.row, self._ask(SQL.series, wanted)):
            self._series[row.id] = CandidateSeries(
                row.id,
                row.title,
                SeriesKind(row.kind),
                row.season,
                SeriesState(row.state),
                row.year,
                row.country,
                row.episode_offset,
                row.metadata_id,
                row.bgm_id,
                tuple(names.get(row.id, ())),
            )

    def _look_up(self, names: Iterable[str]) -> None:
        for folded, kind, *row in self._ask(SQL.named, sorted(names)):
            self._rows.setdefault((folded, SeriesKind(kind)), set()).add(NameRow(*row))

    def _look_up_romaji(self, keys: Iterable[str]) -> None:
        for key, folded, kind, *row in self._ask(SQL.like_romaji, sorted(keys)):
            self._romaji.setdefault(key, set()).add(folded)
            self._rows.setdefault((folded, SeriesKind(kind)), set()).add(NameRow(*row))

    def _read_titles_aloud(self, names: Iterable[Name]) -> dict[str, set[str]]:
        """The one Japanese title of a followed series that a name in Latin letters may be the reading of, by the name."""
        known = {folded for folded, _ in self._rows}
        unknown = {
            name.folded: letters_of(name.shown)
            for name in names
            if name.folded.isascii() and name.folded not in known and likeness_of(name) not in self._romaji
            if not self.index.is_known(name.folded)
        }
        titles = {bare_title(title) for (title,) in self._conn.all(SQL.japanese_titles)} if unknown else set()
        read: dict[str, set[str]] = {}
        for folded, letters in unknown.items():
            found = {one.folded for one in titles if (aloud := readings_of(one.shown)) and aloud.fullmatch(letters)}
            if len(found) == 1:
                read[folded] = found
        self._look_up(set().union(*read.values()))
        return read

    def _read_entries(self, entries: Iterable[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for entry_id, series_id in self._ask(SQL.series_of_entries, sorted(entries)):
            found.setdefault(entry_id, []).append(series_id)
        return found

    def _read_pages(self, subscriptions: Iterable[int]) -> dict[tuple[int, SeriesKind], set[int]]:
        found: dict[tuple[int, SeriesKind], set[int]] = {}
        for subscription_id, kind, series_id in self._ask(SQL.series_of_feeds, sorted(subscriptions)):
            found.setdefault((subscription_id, SeriesKind(kind)), set()).add(series_id)
        return found

    def _ask(self, query: Query, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        return iter(self._conn.all(query, given(values)) if values else ())
