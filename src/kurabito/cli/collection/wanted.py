"""`kurabito wanted`: what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kurabito.downloads.wanted.store import WantedEpisode


def wanted(
    search: Annotated[bool, typer.Option("--search", help="Have all of it searched for by `kurabito serve`.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per episode, one per line.")] = False,
) -> None:
    """Show the episodes that were shown on TV and are neither in a library nor on their way, and those below the preferences.

    Examples:

        kurabito wanted

        kurabito wanted --search
    """
    from kurabito.cli.collection.opened import opened_database
    from kurabito.downloads.wanted import store

    with opened_database() as (_, database):
        found = database.read_blocking(store.wanted)
        if search:
            database.write_blocking(lambda conn: store.ask(conn, [one.id for one in found]))
    if as_json:
        for one in found:
            typer.echo(json.dumps(_shown(one), ensure_ascii=False))
    else:
        _print(found)


def _shown(one: WantedEpisode) -> dict[str, Any]:
    return {
        "id": one.id,
        "series_id": one.series_id,
        "series": one.series,
        "season": one.season,
        "kind": one.kind,
        "number": one.number,
        "aired_at": None if one.aired_at is None else one.aired_at.isoformat(),
        "reason": one.reason,
        "searches": one.searches,
        "outcome": one.outcome,
    }


def _print(found: list[WantedEpisode]) -> None:
    from rich.table import Table

    from kurabito.cli.collection.duplicates import counted
    from kurabito.cli.shown import console, safe

    table = Table(box=None, pad_edge=False)
    for name in ("series", "episode", "shown", "why"):
        table.add_column(name, no_wrap=name != "series", overflow="fold")
    for one in found:
        day = "" if one.aired_at is None else f"{one.aired_at:%Y-%m-%d}"
        table.add_row(safe(one.series), f"S{one.season:02}E{one.number:02g}", day, one.reason.value)
    out = console()
    out.print(table)
    out.print(counted(len(found), "episode"))
