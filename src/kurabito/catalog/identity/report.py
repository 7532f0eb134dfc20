"""Why a series is what it is: its names and where they were learnt, what spoke for its releases, and what a person said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from kurabito.catalog import series
from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.model import Correction
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.series import Series
from kurabito.db import Connection, Queries
from kurabito.metadata import records
from kurabito.metadata.franchises import FranchiseEntry, franchise_of

_SQL: Final = Queries("kurabito.catalog.identity", "report.sql")
_CORRECTIONS: Final = 50


@dataclass(frozen=True, slots=True)
class CluesCount:
    """What spoke for some releases, and how many links they have."""

    clues: tuple[Clue, ...]
    links: int


@dataclass(frozen=True, slots=True)
class RulingNote:
    """A name that a person gave to this series."""

    folded: str
    season: int
    year: int | None
    country: str | None
    group: str | None
    """Only of this group's releases; folded."""


@dataclass(frozen=True, slots=True)
class FranchisePart:
    """An entry of the franchise of a series."""

    entry: FranchiseEntry
    is_this: bool
    """The series is this one."""
    series_id: int | None = None
    """The series that is known of it."""


@dataclass(frozen=True, slots=True)
class SeriesEvidence:
    """Everything that made a series what it is."""

    series: Series
    clues: tuple[CluesCount, ...]
    rulings: tuple[RulingNote, ...]
    corrections: tuple[Correction, ...]
    """The newest first."""
    question_ids: tuple[int, ...]
    """Open questions whose links are kept here."""
    franchise: tuple[FranchisePart, ...] = ()
    """The seasons, cours, films and extras of its story, as the offline index knows them; none where it stands alone."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a correction that stands."""
        return any(one.undone_at is None for one in self.corrections)


def evidence_of(conn: Connection, series_id: int) -> SeriesEvidence:
    """What made a series what it is; raises SeriesNotFound."""
    found = series.find(conn, series_id)
    given = {"id": series_id}
    return SeriesEvidence(
        found,
        tuple(CluesCount(tuple(map(Clue, json.loads(clues))), count) for clues, count in conn.all(_SQL.clues, given)),
        tuple(
            RulingNote(folded, season, year or None, country or None, group)
            for folded, season, year, country, group in conn.all(_SQL.rulings, given)
        ),
        tuple(journal.page(conn, series_id, limit=_CORRECTIONS)),
        tuple(question_id for (question_id,) in conn.all(_SQL.questions, given)),
        _franchise(conn, found),
    )


def _franchise(conn: Connection, found: Series) -> tuple[FranchisePart, ...]:
    record = None if found.metadata_id is None else records.find(conn, found.metadata_id)
    franchise = None if record is None else franchise_of(conn, record.details)
    if record is None or franchise is None or len(franchise.entries) == 1:
        return ()
    own = franchise.entry(record.details)
    rows = [{"id": one.ids.bgm_id} for one in franchise.entries if one.ids.bgm_id is not None]
    known: dict[int | None, int] = dict(conn.all(_SQL.series_of_records, {"rows": json.dumps(rows)}))
    return tuple(FranchisePart(one, one == own, known.get(one.ids.bgm_id)) for one in franchise.entries)
