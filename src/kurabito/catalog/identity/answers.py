"""Answers a question: its releases go to their series, the answer is remembered, and questions that it answers too are settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kurabito.catalog import links, rules
from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.merge import find_series
from kurabito.catalog.corrections.model import CorrectionEffect, CorrectionKind
from kurabito.catalog.errors import CorrectionConflict
from kurabito.catalog.identity import aliases, questions, rulings
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.identity.decision import Certain
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.identity.knowledge import SeriesKnowledge
from kurabito.catalog.identity.questions import QuestionStatus, SeriesQuestion
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.resolution import SeriesMatch, judge
from kurabito.catalog.linker import settle_link
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.spellings import is_junk
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem
from kurabito.titles import TitleRule


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person says: one of the series that are there, or a new one and what is wanted of it."""

    series_id: int | None = None
    new_state: SeriesState = SeriesState.FOLLOWED


@dataclass(frozen=True, slots=True)
class Answered:
    """What an answer came to."""

    effect: CorrectionEffect
    also: tuple[int, ...]
    """Other questions that it answered."""


def answer(conn: Connection, question_id: int, said: Answer) -> Answered:
    """Answer a question; raises QuestionNotFound, SeriesNotFound or CorrectionConflict. The caller has locked the catalog."""
    question = questions.find(conn, question_id)
    if question.status is QuestionStatus.ANSWERED:
        raise CorrectionConflict(f"question {question_id} is answered already; correct its links, or undo the answer")
    series = find_series(conn, said.series_id) if said.series_id is not None else _new(conn, question, said.new_state)
    is_elsewhere = question.series_id is not None and question.series_id != series.id
    correction_id = journal.add(
        conn,
        CorrectionKind.ANSWER,
        series.id,
        other_id=question.series_id if is_elsewhere else None,
        title=series.title,
        name=question.reading.names[0].shown,
        question=question_id,
    )
    changes = RowChanges(conn)
    rulings.add(conn, correction_id, [question.reading], series.id)
    if not question.reading.asked_from:
        # Beside other numbers the names are those of another season.
        _learn(conn, changes, question.reading, series.id)
    title_rules = rules.enabled(conn)
    _settle(conn, changes, question, series, title_rules)
    also = []
    for other in questions.others_open(conn, question):
        decision = judge(conn, other.reading)
        if isinstance(decision, Certain):
            _settle(conn, changes, other, find_series(conn, decision.series.id), title_rules)
            also.append(other.id)
    journal.keep(conn, correction_id, changes)
    return Answered(
        changes.effect(correction_id, series.id, (name.shown for name in question.reading.names)), tuple(also)
    )


def _new(conn: Connection, question: SeriesQuestion, state: SeriesState) -> Any:
    return find_series(conn, aliases.add_series(conn, question.reading, state))


def _learn(conn: Connection, changes: RowChanges, reading: Reading, series_id: int) -> None:
    known = SeriesKnowledge(conn, [reading])
    rows = [
        {
            **alias_row(name, reading.kind, reading.said_season, reading.year, reading.country),
            "source": AliasSource.KEEPER.value,
        }
        for name in reading.names
        if not is_junk(name.shown) and known.is_free(name.folded, reading, reading.said_season)
    ]
    changes.names((row, None, series_id) for row in rows)


def _settle(
    conn: Connection, changes: RowChanges, question: SeriesQuestion, series: Any, title_rules: list[TitleRule]
) -> None:
    is_film = series.kind == SeriesKind.MOVIE
    match = SeriesMatch(series.id, series.episode_offset, SeriesState(series.state), (Clue.RULING,), is_film=is_film)
    for waiting in links.of_question(conn, question.id):
        item = FeedItem(
            title=waiting.title, download_url=waiting.url, size_bytes=waiting.size_bytes, info_hash=waiting.hash
        )
        release = read_release(item, title_rules)
        assert isinstance(release, Release), "a link was made of it"
        settle_link(conn, changes, waiting, release, match)
    changes.column("identity_questions", "status", [(question.id, question.status, QuestionStatus.ANSWERED)])
    changes.column("identity_questions", "series_id", [(question.id, question.series_id, series.id)])
    if not question.candidates and question.series_id is not None and question.series_id != series.id:
        # It was made only to keep the releases of this question.
        changes.column("series", "merged_into", [(question.series_id, None, series.id)])
