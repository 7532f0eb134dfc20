"""How far the numbers of a season go: whether `Show - 29` can be of the season whose name it has.

Titles that count seasons through say no season. Where a source has the counts they are read as the episodes that they are
(`entries`). Else it may still be known that a number cannot be of the first season: by the count of its record, by the weeks in
which it was shown, or because titles of a later season came and nothing leads up to the number. Such a number is asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kurabito.catalog.identity.decision import Candidate
from kurabito.catalog.identity.evidence import CandidateSeries
from kurabito.catalog.identity.index.names import IndexNames
from kurabito.catalog.identity.index.shows import IndexedShow
from kurabito.catalog.identity.knowledge import SeriesKnowledge
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.titles.scripts import simplified

_SQL: Final = Queries("kurabito.catalog.identity.seasons", "reach.sql")
_SHORTEST_SEASON: Final = 9
_ONE_COUR: Final = 13
"""Numbers that hardly any first season is without."""
_WIDEST_GAP: Final = 3


class Reach:
    """Which numbers can be of a season, by all that is known."""

    def __init__(self, conn: Connection, known: SeriesKnowledge, readings: Iterable[Reading]) -> None:
        self._conn = conn
        self._known = known
        self._counts: dict[int, int | None] = {}
        self._entries: dict[int, tuple[IndexNames, IndexedShow | None]] = {}
        self._stored: dict[int, set[float]] = {}
        self._brought: dict[tuple[str, int | None], set[float]] = {}
        """Numbers of these readings, by the names and years that stand beside them without a season."""
        self._continued: set[str] = set()
        """Names that stand beside a later season in these readings, folded and in simplified letters."""
        for reading in readings:
            if reading.is_later_season:
                self._continued.update(simplified(name.folded) for name in reading.names)
            if _counts(reading):
                for name in reading.names:
                    self._brought.setdefault((name.folded, reading.year), set()).update(_numbers(reading))

    def continued(self, reading: Reading, candidates: Sequence[Candidate]) -> frozenset[int]:
        """Those series of which titles of a later season came that have one of the names of a reading, which says no season."""
        if reading.season is not None or reading.kind is not SeriesKind.TV:
            return frozenset()
        return frozenset(one.series.id for one in candidates if self._is_continued(one.series, reading))

    def beyond(self, reading: Reading, candidates: Sequence[Candidate]) -> dict[int, int]:
        """Those series that cannot have the number of a reading, while something else may have it; each with its last number."""
        number = reading.first_episode
        if not _counts(reading) or number is None or number <= _SHORTEST_SEASON or reading.counted_from:
            return {}
        found = [one.series for one in candidates if one.series.kind is SeriesKind.TV and not one.series.episode_offset]
        lasts = {one.id: self._last_before(one, reading, number, candidates) for one in found}
        return {series_id: last for series_id, last in lasts.items() if last is not None}

    def beyond_entry(self, reading: Reading) -> int | None:
        """The last number of the entry of the index that a reading names, where its own is beyond it, and another may have it."""
        number, whole = reading.first_episode, self._known.whole_name(reading)
        if (
            not _counts(reading)
            or number is None
            or number <= _SHORTEST_SEASON
            or reading.counted_from
            or whole is None
        ):
            return None
        longest = self._known.index.parts.longest(whole.entry)
        is_beyond = longest is not None and number > longest
        return longest if is_beyond and self._known.index.parts.may_be_other(whole.entry, number) else None

    def is_beyond_first_cour(self, reading: Reading) -> bool:
        """Whether the number of a reading is beyond one cour, and none of the readings leads up to it."""
        number = reading.first_episode
        return (
            _counts(reading) and number is not None and number > _ONE_COUR and not self._leads_up((), reading, number)
        )

    def _last_before(
        self, series: CandidateSeries, reading: Reading, number: float, candidates: Sequence[Candidate]
    ) -> int | None:
        index, entry = self._entry(series, reading)
        if any(one.episode_offset for one in self._known.later_seasons(reading)):
            # A person, or a source, said from where on titles count the later one.
            return None
        count = self._count(series.id)
        if entry is not None:
            # What its record says is of its own cour.
            count = index.parts.longest(entry, own=count)
        is_continued = self._is_continued(series, reading)
        if count is None:
            is_open = is_continued and number > _ONE_COUR and not self._is_led_up_to(series, reading, number)
            return _ONE_COUR if is_open else None
        is_other = (
            is_continued or (entry is not None and index.parts.may_be_other(entry, number)) or len(candidates) > 1
        )
        return count if number > count and is_other else None

    def _entry(self, series: CandidateSeries, reading: Reading) -> tuple[IndexNames, IndexedShow | None]:
        """The entry of a series: of its record, of the name in the title, or of the other names that titles have for it."""
        index, whole = self._known.index, self._known.whole_name(reading)
        if series.bgm_id is not None and (own := index.of_bgm(series.bgm_id)) is not None:
            return index, own
        if whole is not None and series.bgm_id is None:
            return index, whole.entry
        if series.id not in self._entries:
            names = [one.name for one in series.names if one.season == FIRST_SEASON]
            listed = IndexNames(self._conn, names)
            wanted = listed.of_bgm(series.bgm_id) if series.bgm_id is not None else None
            self._entries[series.id] = listed, wanted or listed.of_names(name.folded for name in names)
        return self._entries[series.id]

    def _is_continued(self, series: CandidateSeries, reading: Reading) -> bool:
        """Whether a later season has come that has one of its names."""
        if series.own_season != FIRST_SEASON:
            return False
        is_said = not self._continued.isdisjoint(simplified(name.folded) for name in reading.names)
        return is_said or any(other.id != series.id for other in self._known.later_seasons(reading))

    def _is_led_up_to(self, series: CandidateSeries, reading: Reading, number: float) -> bool:
        """Whether numbers lead there from those of one cour, without a gap: a long season reaches them step by step."""
        if series.id not in self._stored:
            self._stored[series.id] = {one for (one,) in self._conn.all(_SQL.numbers, {"id": series.id})}
        return self._leads_up(self._stored[series.id], reading, number)

    def _leads_up(self, stored: Iterable[float], reading: Reading, number: float) -> bool:
        brought = (self._brought.get((name.folded, reading.year), set()) for name in reading.names)
        found = sorted(set(stored).union(*brought))
        reached = max((one for one in found if one <= _ONE_COUR), default=0)
        for one in found:
            if one - reached > _WIDEST_GAP:
                break
            reached = max(reached, one)
        return reached >= number

    def _count(self, series_id: int) -> int | None:
        if series_id not in self._counts:
            # A series without a record has no row.
            self._counts[series_id] = next((count for (count,) in self._conn.all(_SQL.counts, {"id": series_id})), None)
        return self._counts[series_id]


def _counts(reading: Reading) -> bool:
    """Whether it says a number and no season."""
    return reading.kind is SeriesKind.TV and reading.season is None and reading.first_episode is not None


def _numbers(reading: Reading) -> Iterable[float]:
    if reading.first_episode is None or reading.last_episode is None:
        return ()
    return {reading.first_episode, *range(int(reading.first_episode), int(reading.last_episode) + 1)}
