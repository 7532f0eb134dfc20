"""Changes of rows that can be taken back: each notes what was there before, and is undone only where its value still stands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from kurabito.catalog.corrections.model import CorrectionEffect
from kurabito.catalog.errors import CorrectionConflict
from kurabito.db import Connection, Queries, Query

_COLUMNS: Final = frozenset(
    {
        ("anime_links", "series_id"),
        ("anime_links", "episode_id"),
        ("anime_links", "question_id"),
        ("anime_links", "held_reason"),
        ("anime_links", "is_released"),
        ("anime_links", "is_fixed"),
        ("conflicts", "episode_id"),
        ("conflicts", "status"),
        ("episodes", "series_id"),
        ("filter_rules", "target_id"),
        ("folder_matches", "series_id"),
        ("identity_questions", "series_id"),
        ("identity_questions", "status"),
        ("identity_rulings", "series_id"),
        ("series", "country"),
        ("series", "episode_offset"),
        ("series", "is_record_said"),
        ("series", "merged_into"),
        ("series", "metadata_id"),
        ("series", "season"),
        ("series", "state"),
        ("series", "title"),
        ("series", "year"),
        ("subscriptions", "series_id"),
    }
)
"""What corrections may write, and nothing else."""
_TEXTS: Final = frozenset({"held_reason", "status", "country", "state", "title"})
_SQL: Final = Queries("kurabito.catalog.corrections", "changes.sql")


class _OwnedRows(NamedTuple):
    """A table whose rows are known by what owns them and by what they hold."""

    owner: str
    key: str
    rest: str = ""
    """Its other columns, as SQL."""


_OWNED: Final = {
    "episode_files": _OwnedRows("episode_id", "file_id", ", created_at"),
    "placement_episodes": _OwnedRows("episode_id", "placement_id"),
    "series_places": _OwnedRows("series_id", "library_id", ", folder, updated_at"),
}


class RowChanges:
    """Changes of one correction, in their order."""

    def __init__(self, conn: Connection, made: Sequence[dict[str, Any]] = ()) -> None:
        self._conn = conn
        self._made: list[dict[str, Any]] = list(made)

    def column(self, table: str, column: str, rows: Iterable[tuple[int, Any, Any]]) -> None:
        """Write a column: the id of each row, what it has, and what it is to have."""
        listed = [(row_id, before, after) for row_id, before, after in rows if before != after]
        if listed:
            self._conn.run(_update(table, column), {"rows": _rows(listed)})
            self._made.append({"table": table, "column": column, "rows": listed})

    def names(self, rows: Iterable[tuple[Mapping[str, Any], int | None, int | None]]) -> None:
        """Give names to other series: each as it is stored, whose it was and whose it becomes; None where no series has it."""
        listed = [(dict(name), before, after) for name, before, after in rows if before != after]
        if listed:
            self._write_names(listed)
            self._made.append({"names": listed})

    def owned(self, table: str, rows: Iterable[tuple[int, int, int]]) -> None:
        """Give rows to another owner: the key of each, whose it is, and whose it becomes. One that the new owner has already stays one."""
        listed = [(key, before, after) for key, before, after in rows if before != after]
        if listed:
            self._write_owned(table, listed)
            self._made.append({"owned": table, "rows": listed})

    @property
    def is_empty(self) -> bool:
        return not self._made

    def undo(self) -> None:
        """Take all of them back, the last one first."""
        for made in reversed(self._made):
            if "names" in made:
                self._write_names([(name, after, before) for name, before, after in made["names"]])
            elif "made" in made:
                self._forget_links(made["made"])
            elif "owned" in made:
                self._write_owned(made["owned"], [(key, after, before) for key, before, after in made["rows"]])
            else:
                rows = [(row_id, after, before) for row_id, before, after in made["rows"]]
                self._conn.run(_update(made["table"], made["column"]), {"rows": _rows(rows)})

    def new_links(self, link_ids: Iterable[int], free: Iterable[int]) -> None:
        """Note links that were made, and those of them that nothing holds back."""
        if listed := list(link_ids):
            self._made.append({"made": listed, "free": list(free)})

    def effect(self, correction_id: int | None, series_id: int, names: Iterable[str] = ()) -> CorrectionEffect:
        """What they come to."""
        holds = [row for made in self._made if made.get("column") == "held_reason" for row in made["rows"]]
        return CorrectionEffect(
            correction_id=correction_id,
            series_id=series_id,
            links=len(self.links()),
            episodes=tuple(sorted(self.episodes())),
            names=tuple(dict.fromkeys(names)),
            freed=(
                *(link_id for link_id, _, after in holds if after is None),
                *(link_id for made in self._made for link_id in made.get("free", ())),
            ),
            held=tuple(link_id for link_id, before, _ in holds if before is None),
        )

    def links(self) -> list[int]:
        """The links that were changed."""
        changed = [made["rows"] for made in self._made if made.get("table") == "anime_links"]
        return sorted({link_id for rows in changed for link_id, _, _ in rows})

    def episodes(self) -> set[int]:
        """The episodes that links went to, or came from."""
        moved = (row for made in self._made if _is_of_episodes(made) for row in made["rows"])
        return {episode for _, *both in moved for episode in both if episode is not None}

    def recounted(self) -> tuple[int, ...]:
        """The series whose titles count on from another number."""
        rows = (made["rows"] for made in self._made if made.get("column") == "episode_offset")
        return tuple(sorted({series_id for some in rows for series_id, *_ in some}))

    def renamed(self) -> tuple[str, ...]:
        """The names, folded, that came or went."""
        return tuple(sorted({name["folded"] for made in self._made for name, *_ in made.get("names", ())}))

    def _forget_links(self, link_ids: Sequence[int]) -> None:
        rows = {"rows": json.dumps([[link_id] for link_id in link_ids])}
        if (title := self._conn.value(_SQL.under_way, rows)) is not None:
            raise CorrectionConflict(f"{title!r} was downloaded since; move that link in place of undoing this")
        self._conn.run(_SQL.forget_links, rows)

    def stored(self) -> str:
        """As the journal keeps them."""
        return json.dumps(self._made, ensure_ascii=False)

    def _write_owned(self, table: str, rows: Sequence[tuple[int, int, int]]) -> None:
        values = {"rows": _rows(rows)}
        for query in _hand_over(table):
            self._conn.run(query, values)

    def _write_names(self, rows: Sequence[tuple[dict[str, Any], int | None, int | None]]) -> None:
        gone = [name for name, _, after in rows if after is None]
        moved = [{**name, "before": before, "after": after} for name, before, after in rows if after is not None]
        if gone:
            self._conn.run(_SQL.forget_names, {"rows": json.dumps(gone, ensure_ascii=False)})
        if moved:
            self._conn.run(_SQL.give_names, {"rows": json.dumps(moved, ensure_ascii=False)})


def _is_of_episodes(made: Mapping[str, Any]) -> bool:
    return made.get("column") == "episode_id" or ("owned" in made and _OWNED[made["owned"]].owner == "episode_id")


def _rows(rows: Sequence[tuple[int, Any, Any]]) -> str:
    return json.dumps([{"id": row_id, "before": before, "after": after} for row_id, before, after in rows])


@cache
def _update(table: str, column: str) -> Query:
    if (table, column) not in _COLUMNS:
        raise LookupError(f"corrections write no {table}.{column}")
    stamp = ", updated_at = :now" if table in ("series", "identity_questions") else ""
    kind = "text" if column in _TEXTS else "bigint"
    return Queries(
        "kurabito.catalog.corrections", "columns.sql", table=table, column=column, type=kind, stamp=stamp
    ).write


@cache
def _hand_over(table: str) -> tuple[Query, Query]:
    of = _OWNED[table]
    sql = Queries("kurabito.catalog.corrections", "owned.sql", table=table, owner=of.owner, key=of.key, rest=of.rest)
    return sql.give, sql.take
