"""A keeper says what a series is called, and beside which season."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.merge import NAME
from kurabito.catalog.corrections.merge import SQL as MERGE
from kurabito.catalog.errors import SeriesConflict
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.releases import Name
from kurabito.db import Connection, Queries
from kurabito.db.port import Row

if TYPE_CHECKING:
    from kurabito.catalog.series import Alias, Series

_SQL: Final = Queries("kurabito.catalog.corrections", "names.sql")


def rename(conn: Connection, changes: RowChanges, before: Series, after: Series) -> None:
    """Give a series the names that it is to have; raises SeriesConflict when one of them is another's.

    Where only its season changes, it keeps them, and has them beside the new season as well: titles that say it lead here.
    """
    if _keys(before) != _keys(after):
        _give(conn, changes, after, after.aliases)
    elif before.season != after.season:
        own = (one for one in before.aliases if one.season == before.season)
        beside = (replace(one, season=after.season, source=AliasSource.KEEPER) for one in own)
        free = (one for one in beside if _taken(conn, before, [_row(before, one)]) is None)
        _give(conn, changes, before, (*before.aliases, *free))


def _give(conn: Connection, changes: RowChanges, series: Series, aliases: Iterable[Alias]) -> None:
    """Give a series these names, and no others."""
    wanted = {_key(row): row for row in (_row(series, alias) for alias in aliases)}
    if (taken := _taken(conn, series, list(wanted.values()))) is not None:
        name, season, other_id, title = taken
        raise SeriesConflict(
            f"{name!r} in season {season} is a name of the series {title!r} ({other_id}); take it away there first",
            field="aliases",
        )
    known = {_key(row): row for row in (NAME.row(row)._asdict() for row in conn.all(MERGE.names, {"id": series.id}))}
    changes.names((row, series.id, None) for key, row in known.items() if key not in wanted)
    changes.names((row, None, series.id) for key, row in wanted.items() if key not in known)


def _taken(conn: Connection, series: Series, rows: list[dict[str, Any]]) -> Row | None:
    return conn.one(_SQL.alias_of_another, {"id": series.id, "kind": series.kind, "rows": json.dumps(rows)})


def _keys(series: Series) -> set[tuple[Any, ...]]:
    return {_key(_row(series, alias)) for alias in series.aliases}


def _row(series: Series, alias: Alias) -> dict[str, Any]:
    row = alias_row(Name.of(alias.name), series.kind, alias.season, alias.year, alias.country)
    return {**row, "source": alias.source.value}


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["folded"], row["season"], row["year"], row["country"]
