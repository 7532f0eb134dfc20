"""Releases that a question holds are read again too: those that can be told now go to their series, and the question ends.

They are held until a person confirms them, like all that is read again. What is still in doubt stays asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kurabito.catalog import links, rules
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.errors import LinkNotFound
from kurabito.catalog.identity import questions
from kurabito.catalog.identity.decision import Certain
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.identity.questions import QuestionStatus
from kurabito.catalog.identity.resolution import SeriesMatch
from kurabito.catalog.linker import lock_catalog, settle_link
from kurabito.catalog.links import Link
from kurabito.catalog.releases import Release, read_release, read_title_again
from kurabito.catalog.relinks import store
from kurabito.catalog.relinks.links import ASKED_LINK, SQL
from kurabito.catalog.relinks.mover import Moved
from kurabito.catalog.relinks.places import decided
from kurabito.catalog.states import HeldReason, SeriesKind, SeriesState
from kurabito.db import Connection
from kurabito.db.rows import given
from kurabito.feeds.results import FeedItem


@dataclass(frozen=True, slots=True)
class SettledLink:
    """A link that a question held, and the series that it is of."""

    link_id: int
    question_id: int
    series_id: int
    offset: int
    clues: tuple[Clue, ...]
    is_film: bool


def find_settled(conn: Connection, is_touched: Callable[[str], bool] | None) -> list[SettledLink]:
    """The links of open questions that can be told now; of those that a change touches."""
    held = [ASKED_LINK.row(row) for row in conn.all(SQL.asked)]
    touched = [link for link in held if is_touched is None or is_touched(link.title)]
    title_rules = rules.enabled(conn)
    said = {title: read_title_again(title, title_rules) for title in {link.title for link in touched}}
    read = {title: release for title, release in said.items() if release is not None}
    made = _made_to_keep(conn, {link.question_id for link in touched})
    return [
        SettledLink(
            link.id,
            link.question_id,
            decision.series.id,
            reading.counted_from or decision.series.episode_offset,
            decision.clues,
            decision.series.kind is SeriesKind.MOVIE,
        )
        for link, reading, decision in decided(conn, [link for link in touched if link.title in read], read)
        # Its names lead to the series that was made to keep it: that tells nothing.
        if isinstance(decision, Certain) and decision.series.id != made.get(link.question_id)
    ]


def settle(conn: Connection, run: int, settled: Sequence[SettledLink]) -> Moved:
    """Put links where they belong now; those that still waited for their answer."""
    lock_catalog(conn)
    there = {series_id: SeriesState(state) for series_id, state in conn.all(SQL.states, given(_series(settled)))}
    title_rules = rules.enabled(conn)
    moved = held = 0
    for one in settled:
        waiting = _waiting(conn, one)
        if waiting is None or one.series_id not in there:
            continue
        item = FeedItem(
            title=waiting.title, download_url=waiting.url, size_bytes=waiting.size_bytes, info_hash=waiting.hash
        )
        release = read_release(item, title_rules)
        assert isinstance(release, Release), "a link was made of it"
        changes = RowChanges(conn)
        match = SeriesMatch(one.series_id, one.offset, there[one.series_id], one.clues, is_film=one.is_film)
        settle_link(conn, changes, waiting, release, match)
        freed = changes.effect(None, one.series_id).freed
        changes.column("anime_links", "held_reason", ((link_id, None, HeldReason.READ_AGAIN) for link_id in freed))
        store.note_moved(conn, run, [_as_moved(waiting, links.find(conn, waiting.id))])
        _end(conn, one)
        moved, held = moved + 1, held + len(freed)
    return Moved(moved, held)


def _made_to_keep(conn: Connection, question_ids: set[int]) -> dict[int, int]:
    """The series that were made only to keep the releases of questions."""
    asked = (questions.find(conn, one) for one in sorted(question_ids))
    return {one.id: one.series_id for one in asked if not one.candidates and one.series_id is not None}


def _series(settled: Sequence[SettledLink]) -> list[int]:
    return sorted({one.series_id for one in settled})


def _waiting(conn: Connection, one: SettledLink) -> Link | None:
    try:
        link = links.find(conn, one.link_id)
    except LinkNotFound:
        return None
    return link if link.question_id == one.question_id else None


def _as_moved(before: Link, after: Link) -> dict[str, Any]:
    return {
        "link_id": before.id,
        "from_series": before.series_id,
        "from_number": before.episode_number,
        "to_series": after.series_id,
        "to_number": after.episode_number,
    }


def _end(conn: Connection, one: SettledLink) -> None:
    """A question that holds nothing any longer has its answer; a series that was made to keep its releases goes with it."""
    question = questions.find(conn, one.question_id)
    if question.releases:
        return
    questions.settle(conn, question.id, QuestionStatus.ANSWERED, one.series_id)
    if not question.candidates and question.series_id not in (None, one.series_id):
        RowChanges(conn).column("series", "merged_into", [(question.series_id, None, one.series_id)])
