"""How the names of a release lead to series: by what they are called, and by what the offline index, a season or a year says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from kurabito.catalog.identity.evidence import CandidateSeries, Clue, has_its_signs, is_near
from kurabito.catalog.identity.knowledge import NameRow, SeriesKnowledge
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.identity.seasons.own_names import ways_of_own_names
from kurabito.catalog.identity.seasons.signs import has_other_signs
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import film_names, halves_of, latin_end_of, season_inside
from kurabito.catalog.states import SeriesKind


class Way(NamedTuple):
    """How a release leads to a series, by which of its names, and by which of the series'."""

    series: CandidateSeries
    clue: Clue
    by: str | None = None
    row: NameRow | None = None


class NameWays:
    """The ways from the names of readings to series."""

    def __init__(self, known: SeriesKnowledge) -> None:
        self._known = known

    def of(self, reading: Reading) -> Iterator[Way]:
        """Every way by which its names lead to a series."""
        index = self._known.index
        for name in reading.names:
            yield from self.named(reading, Clue.NAME, name.folded, [name.folded])
            # Beside a later season stands the year of either; elsewhere it tells a remake from its original.
            year = None if reading.is_later_season else reading.year
            yield from self.named(reading, Clue.INDEX, name.folded, index.namesakes(name.folded, reading.kind, year))
            yield from self._ways_of_likeness(reading, name)
            yield from self._ways_of_recorded_season(reading, name)
            yield from self._ways_of_halves(reading, name)
            if reading.kind is SeriesKind.MOVIE:
                yield from self.named(reading, Clue.NAME, name.folded, film_names(name))
            yield from self._ways_of_number_inside(reading, name)
            yield from self._ways_of_bare_season(reading, name)
        yield from self._ways_of_entry(reading)
        yield from self._ways_of_shared_names(reading)
        yield from self._ways_of_pairs(reading)
        yield from self._ways_of_years(reading)
        yield from self._ways_of_signs(reading)
        yield from self._ways_of_ovas(reading)
        for series, by, row in ways_of_own_names(self._known, reading):
            yield Way(series, Clue.NAME, by, row)
        own = {name.folded for name in reading.names}
        said = {name.folded: sequel.season for name, sequel in reading.sequels()}
        for name, sequel in reading.sequels():
            for spelling in (sequel.folded, *self._known.in_other_script(sequel.folded)):
                for series, row in self._known.named(spelling, reading, sequel.season):
                    yield Way(series, Clue.SEQUEL, name.folded, row)
            # A season may have a name of its own elsewhere; the bare name is that of all of them.
            others = {(other, sequel.season) for other in index.namesakes(sequel.folded, reading.kind) - own}
            # The show is listed with its first season too: `Yoru no Kurabito Season 1` is not `Yoru no Kurabito II`.
            seasons = index.seasons_of(sequel.folded, reading.kind)
            others.update(one for one in seasons if one.season == said[name.folded])
            for other, season in others:
                for series, row in self._known.named(other, reading, season):
                    yield Way(series, Clue.INDEX, name.folded, row)
        if reading.season is None:
            yield from self._ways_of_seasons(reading)

    def _ways_of_likeness(self, reading: Reading, name: Name) -> Iterator[Way]:
        """Series that are called so in another spelling; what is found by half of a name alone is no remake of a year."""
        is_half = latin_end_of(name.shown) is not None
        for way in self.named(reading, Clue.ROMAJI, name.folded, self._known.alike(name)):
            if not is_half or reading.year is not None or not way.series.years:
                yield way

    def _ways_of_entry(self, reading: Reading) -> Iterator[Way]:
        """A series that titles called by another name of the entry that this one names whole: `Kurabito S2` is `夜之蔵人 醪篇`."""
        whole = self._known.whole_name(reading)
        if whole is None:
            return
        own = {name.folded for name in reading.names}
        by = next((name.folded for name in reading.names if name.folded in whole.names), reading.names[0].folded)
        for other, season in self._known.index.names_of_entry(whole.entry.id):
            if (other, season) not in {(name, reading.said_season) for name in own}:
                for series, row in self._known.named(other, reading, season):
                    yield Way(series, Clue.INDEX, by, row)

    def _ways_of_shared_names(self, reading: Reading) -> Iterator[Way]:
        """Series whose records are different shows of one name: it is stored for the one that had it first."""
        if reading.year is None and reading.country is None and not reading.is_later_season:
            for name in reading.names:
                shows = self._known.index.shows_of(name.folded, reading.kind)
                found = [series for show in shows for series in self._known.of_entry(show.id)]
                if len(found) > 1:
                    yield from (Way(series, Clue.SHARED_NAME, name.folded) for series in found)

    def _ways_of_recorded_season(self, reading: Reading, name: Name) -> Iterator[Way]:
        """A season whose record counts it, and whose title does not: `Hataraku Kurabito S2` is `はたらく蔵人!!`."""
        if reading.is_later_season:
            for other in self._known.alike(name):
                for series, row in self._known.named(other, reading, FIRST_SEASON):
                    if series.metadata_id is not None and series.season == reading.season:
                        yield Way(series, Clue.ROMAJI, name.folded, row)

    def _ways_of_bare_season(self, reading: Reading, name: Name) -> Iterator[Way]:
        """A season whose own name titles have beside its number and without it: `Kurabito Moromi S02` is `Kurabito Moromi`."""
        if reading.is_later_season:
            for series, row in self._known.named(name.folded, reading, FIRST_SEASON):
                if series.own_season == reading.season:
                    yield Way(replace(series, season=reading.said_season), Clue.NAME, name.folded, row)

    def _ways_of_number_inside(self, reading: Reading, name: Name) -> Iterator[Way]:
        """`Show IV: Encore` is the fourth season, whether a title says its number again or not."""
        season = season_inside(name.shown)
        if season is not None and reading.season in (None, season):
            other = None if reading.season == season else season
            for series, row in self._known.named(name.folded, reading, other):
                yield Way(replace(series, season=season), Clue.NAME, name.folded, row)

    def _ways_of_pairs(self, reading: Reading) -> Iterator[Way]:
        """A series that titles called by two of these names, with nothing between them."""
        guessed = reading.guessed()
        for whole, halves in reading.pairs().items():
            if whole not in guessed:
                for series, row in self._known.named(whole, reading, reading.season):
                    # The name that stood first; the other may lead elsewhere until the two are joined.
                    yield Way(series, Clue.NAME, next(half for half in halves if not half.isascii()), row)

    def _ways_of_years(self, reading: Reading) -> Iterator[Way]:
        """`Show 2019` and `Show (2019)` are one."""
        for name, folded, year in reading.dated():
            for series, row in self._known.named(folded, reading, reading.season):
                if any(is_near(one, year) for one in series.years):
                    yield Way(series, Clue.NAME, name.folded, row)
            for other in self._known.index.namesakes(folded, reading.kind, year) if reading.season is None else ():
                for series, row in self._known.named(other, reading, None):
                    if any(is_near(one, year) for one in series.years):
                        yield Way(series, Clue.INDEX, name.folded, row)

    def _ways_of_signs(self, reading: Reading) -> Iterator[Way]:
        """A later season that titles call by the name of the show with signs of its own, beside its number or without it."""
        if reading.season is None:
            for name in reading.names:
                for series in self._known.later_seasons(reading):
                    if has_its_signs(name, series):
                        yield Way(series, Clue.NAME, name.folded)

    def _ways_of_halves(self, reading: Reading, name: Name) -> Iterator[Way]:
        """Two names without anything between them, if one series has both, and none is called by the whole."""
        halves = halves_of(name.shown)
        if halves is not None and not self._known.named(name.folded, reading, reading.season):
            first = {series.id for series, _ in self._known.named(halves[0].folded, reading, reading.season)}
            for series, row in self._known.named(halves[1].folded, reading, reading.season):
                if series.id in first and not has_other_signs(name, (one.name for one in series.names)):
                    yield Way(series, Clue.NAME, name.folded, row)

    def _ways_of_ovas(self, reading: Reading) -> Iterator[Way]:
        """An OVA that titles call so in its name; where nothing has the name without that word, which may be its show's."""
        names = [name.folded for name in reading.names]
        if reading.is_ova and not any(self._known.named(name, reading, reading.season) for name in names):
            for name in names:
                yield from self.named(reading, Clue.NAME, name, [f"{name}ova"])

    def _ways_of_seasons(self, reading: Reading) -> Iterator[Way]:
        """A season may have a name of its own, beside which titles leave the season out."""
        index = self._known.index
        for name in reading.names:
            if (season := index.season_of(name.folded, reading.kind)) is not None:
                others = {(other, season) for other in (name.folded, *index.namesakes(name.folded, reading.kind))}
                others.update(index.seasons_of(name.folded, reading.kind))
                for other, said in others:
                    for series, row in self._known.named(other, reading, said):
                        yield Way(series, Clue.INDEX, name.folded, row)

    def named(self, reading: Reading, clue: Clue, by: str | None, names: Iterable[str]) -> Iterator[Way]:
        """The series that have one of some names beside the season of a reading."""
        for name in names:
            for series, row in self._known.named(name, reading, reading.season):
                yield Way(series, clue, by, row)
