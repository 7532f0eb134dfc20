"""Links go to another series, or to another episode; and one that was held is released."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_files_of_links
from kurabito.catalog.corrections.merge import find_series, held_in
from kurabito.catalog.corrections.model import CorrectionEffect, CorrectionKind
from kurabito.catalog.errors import CorrectionConflict, LinkNotFound
from kurabito.catalog.identity import rulings
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.states import HeldReason, SeriesState
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList, given
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.titles import ReleaseKind

_LINK: Final = ColumnList(
    "id, release_key, series_id, episode_id, title, held_reason, question_id, is_released, is_fixed, kind, number"
)
SQL: Final = Queries("kurabito.catalog.corrections", "moves.sql")


@dataclass(frozen=True, slots=True)
class EpisodePlace:
    """An episode by its kind and number."""

    kind: ReleaseKind
    number: float

    def __post_init__(self) -> None:
        check_episode_kind(self.kind)


def check_episode_kind(kind: ReleaseKind) -> None:
    """Raises InvalidInput for what is the kind of a title that could not be read, and of no episode."""
    if kind is ReleaseKind.UNKNOWN:
        known = ", ".join(one for one in ReleaseKind if one is not kind)
        raise InvalidInput("kind", f"must be one of {known}", refused(InputReason.CHOICE))


def find_links(conn: Connection, link_ids: Iterable[int]) -> list[Any]:
    """Links by the names of their columns; raises LinkNotFound."""
    wanted = sorted(set(link_ids))
    found = [_LINK.row(row) for row in conn.all(SQL.links, given(wanted))]
    if missing := set(wanted) - {link.id for link in found}:
        raise LinkNotFound(f"no link has the id {min(missing)}")
    return found


def whole_releases(conn: Connection, link_ids: Iterable[int]) -> list[int]:
    """These links, and the others of their releases in the same series: a release is of one show."""
    return sorted(link_id for (link_id,) in conn.all(SQL.of_release, given(link_ids)))


def place_links(
    conn: Connection,
    changes: RowChanges,
    links: Sequence[Any],
    series: Any,
    place: EpisodePlace | None = None,
) -> None:
    """Put links into a series with their files, at the same numbers or at one place; raises CorrectionConflict when one is there already."""
    places = {link.id: place or _place_of(link) for link in links}
    episodes = _episodes(conn, series.id, [one for one in places.values() if one is not None])
    targets = {link: None if at is None else episodes[at] for link, at in places.items()}
    rows = [{"id": link.id, "release_key": link.release_key, "episode_id": targets[link.id]} for link in links]
    if (taken := conn.value(SQL.taken, {"rows": json.dumps(rows)})) is not None or _collide(rows):
        raise CorrectionConflict(f"{taken or links[0].title!r} is there for that episode already; move that link first")
    before = {link.id: None if link.held_reason is None else HeldReason(link.held_reason) for link in links}
    after = {link: held_in(SeriesState(series.state), held) for link, held in before.items()}
    left = {link.episode_id for link in links} - {None}
    changes.column("anime_links", "series_id", ((link.id, link.series_id, series.id) for link in links))
    changes.column("anime_links", "episode_id", ((link.id, link.episode_id, targets[link.id]) for link in links))
    changes.column("anime_links", "held_reason", ((link, before[link], after[link]) for link in before))
    carry_files_of_links(conn, changes, ((link.id, link.episode_id, targets[link.id]) for link in links))
    lonely = conn.all(SQL.lonely_conflicts, given(left)) if left else []
    changes.column("conflicts", "status", ((conflict, status, "resolved") for conflict, status in lonely))


def move(
    conn: Connection, link_id: int, reading: Reading, *, series_id: int | None, place: EpisodePlace | None
) -> CorrectionEffect:
    """Say of a link which series or episode it is of; `reading` is what its title says.

    What comes later from the same group under the same names goes to the same series. Raises LinkNotFound, SeriesNotFound or
    CorrectionConflict. The caller has locked the catalog.
    """
    (link,) = find_links(conn, [link_id])
    if link.question_id is not None:
        raise CorrectionConflict(f"link {link_id} waits for question {link.question_id}; answer that")
    moves_away = series_id is not None and series_id != link.series_id
    series = find_series(conn, series_id if moves_away and series_id is not None else link.series_id)
    links = [link] if place is not None or not moves_away else find_links(conn, whole_releases(conn, [link_id]))
    correction_id = journal.add(
        conn,
        CorrectionKind.MOVE,
        series.id,
        other_id=link.series_id if moves_away else None,
        link=link.title,
        title=series.title,
        episode=None if place is None else place.number,
    )
    changes = RowChanges(conn)
    place_links(conn, changes, links, series, place)
    changes.column("anime_links", "is_fixed", ((one.id, one.is_fixed, 1) for one in links))
    if moves_away:
        rulings.add(conn, correction_id, [reading], series.id, of_group=True)
    journal.keep(conn, correction_id, changes)
    return changes.effect(correction_id, series.id)


def release(conn: Connection, link_id: int) -> CorrectionEffect:
    """Let a held link be downloaded; raises LinkNotFound, or CorrectionConflict when it is not held, or a question holds it."""
    (link,) = find_links(conn, [link_id])
    if link.held_reason is None:
        raise CorrectionConflict(f"link {link_id} is not held back")
    if link.question_id is not None:
        raise CorrectionConflict(f"link {link_id} waits for question {link.question_id}; answer that")
    correction_id = journal.add(conn, CorrectionKind.RELEASE, link.series_id, link=link.title)
    changes = RowChanges(conn)
    changes.column("anime_links", "held_reason", [(link.id, link.held_reason, None)])
    changes.column("anime_links", "is_released", [(link.id, link.is_released, 1)])
    journal.keep(conn, correction_id, changes)
    return changes.effect(correction_id, link.series_id)


def _place_of(link: Any) -> EpisodePlace | None:
    return None if link.episode_id is None else EpisodePlace(ReleaseKind(link.kind), float(link.number))


def _episodes(conn: Connection, series_id: int, places: Sequence[EpisodePlace]) -> dict[EpisodePlace, int]:
    rows = [{"kind": one.kind, "number": one.number} for one in dict.fromkeys(places)]
    if not rows:
        return {}
    conn.run(SQL.add_episodes, {"series_id": series_id, "rows": json.dumps(rows)})
    found = conn.all(SQL.episodes, {"series_id": series_id})
    return {EpisodePlace(ReleaseKind(kind), float(number)): episode_id for kind, number, episode_id in found}


def _collide(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether two links of one release would be for the same episode."""
    placed = [(row["release_key"], row["episode_id"]) for row in rows if row["episode_id"] is not None]
    return len(placed) != len(set(placed))
