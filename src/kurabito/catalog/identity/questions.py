"""The questions about releases that may be of several series, as they are stored. One question asks for all that say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.errors import QuestionNotFound
from kurabito.catalog.identity.decision import WeighedSeries
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.identity.reading import Reading
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList, given
from kurabito.runtime.paging import BIGGEST_ID

_QUESTION: Final = ColumnList(
    "question.id, question.reading, question.candidates, question.status, question.series_id, question.created_at"
)
_FULL: Final = ColumnList(f"{_QUESTION}, releases")
SQL: Final = Queries("kurabito.catalog.identity", "questions.sql", question=_QUESTION)
_TITLES: Final = 5


class QuestionStatus(StrEnum):
    """How far a question is."""

    OPEN = "open"
    DISMISSED = "dismissed"
    """It stays without an answer, and its releases stay where they are."""
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class QuestionCandidate:
    """A series that may be meant, with what spoke for it and against it when it was asked."""

    series_id: int
    clues: tuple[Clue, ...]


@dataclass(frozen=True, slots=True)
class SeriesQuestion:
    """Releases that say the same, and the series that they may be of."""

    id: int
    reading: Reading
    candidates: tuple[QuestionCandidate, ...]
    status: QuestionStatus
    series_id: int | None
    """Where its links are kept until it is answered; then the answer."""
    releases: int
    """How many releases wait for the answer."""
    titles: tuple[str, ...]
    """Some of their titles, the newest first."""
    created_at: datetime


def asked(conn: Connection, keys: Iterable[str]) -> dict[str, tuple[int, int | None]]:
    """Those of these questions that are not answered yet: id, and the series that keeps their links."""
    wanted = sorted(set(keys))
    rows = conn.all(SQL.asked, given(wanted)) if wanted else []
    return {key: (question_id, series_id) for key, question_id, series_id in rows}


def ask(conn: Connection, reading: Reading, candidates: Sequence[WeighedSeries], series_id: int) -> int:
    """Store a question; its id."""
    weighed = [{"series_id": one.series.id, "clues": list(one.clues)} for one in candidates]
    values = {
        "asked_of": reading.key,
        "reading": json.dumps(reading.as_stored(), ensure_ascii=False),
        "candidates": json.dumps(weighed),
        "series_id": series_id,
    }
    return int(conn.value(SQL.ask, values))


def page(
    conn: Connection, status: QuestionStatus = QuestionStatus.OPEN, *, before: int = BIGGEST_ID, limit: int
) -> list[SeriesQuestion]:
    """Questions, the newest first."""
    rows = conn.all(SQL.page, {"status": status, "before": before, "limit": limit})
    return _with_titles(conn, rows)


def find(conn: Connection, question_id: int) -> SeriesQuestion:
    """The question; raises QuestionNotFound."""
    row = conn.one(SQL.get, {"id": question_id})
    if row is None:
        raise QuestionNotFound(f"no question has the id {question_id}")
    return _with_titles(conn, [row])[0]


def count_open(conn: Connection) -> int:
    """How many wait for an answer."""
    return int(conn.value(SQL.count_open))


def settle(conn: Connection, question_id: int, status: QuestionStatus, series_id: int | None) -> None:
    """Say how far a question is."""
    conn.run(SQL.settle, {"id": question_id, "status": status, "series_id": series_id})


def others_open(conn: Connection, question: SeriesQuestion) -> list[SeriesQuestion]:
    """The other open questions that have one of its names: what else its answer tells something of."""
    names = {name.folded for name in question.reading.names}
    found = [find(conn, other) for (other,) in conn.all(SQL.holding, {"id": question.id})]
    return [one for one in found if not names.isdisjoint(name.folded for name in one.reading.names)]


def _with_titles(conn: Connection, rows: Sequence[Row]) -> list[SeriesQuestion]:
    titles: dict[int, list[str]] = {}
    for question_id, title in conn.all(SQL.titles, given(question_id for question_id, *_ in rows)) if rows else ():
        known = titles.setdefault(question_id, [])
        if len(known) < _TITLES and title not in known:
            known.append(title)
    return [_question(_FULL.row(row), titles) for row in rows]


def _question(row: Any, titles: dict[int, list[str]]) -> SeriesQuestion:
    return SeriesQuestion(
        id=row.id,
        reading=Reading.from_stored(json.loads(row.reading)),
        candidates=tuple(
            QuestionCandidate(one["series_id"], tuple(map(Clue, one["clues"]))) for one in json.loads(row.candidates)
        ),
        status=QuestionStatus(row.status),
        series_id=row.series_id,
        releases=row.releases,
        titles=tuple(titles.get(row.id, ())),
        created_at=to_datetime(row.created_at),
    )
