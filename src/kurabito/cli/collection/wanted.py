"""`kurabito wanted`: what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from kurabito.db import Connection
    from kurabito.downloads.wanted.store import WantedEpisode

WHY: Final = {
    "no_release": "no release was seen",
    "filtered": "rules leave out every release",
    "held": "every release waits for you",
    "in_doubt": "it is not sure which show the releases are of",
    "failed": "the download failed",
    "unwanted": "no release is what its show prefers",
    "upgrade": "a better release is wanted",
}
"""Why an episode is not there, by its `WantedReason`: a command that asks nothing of the product does not load it."""


def wanted(
    series: Annotated[int | None, typer.Option("--series", min=1, help="Only the show with this ID.")] = None,
    search: Annotated[bool, typer.Option("--search", help="Have `kurabito serve` search for all of them.")] = False,
    automatic: Annotated[
        bool | None,
        typer.Option(
            "--automatic/--no-automatic", help="Switch the automatic search on or off; with --series, for that show."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per episode, one per line.")] = False,
) -> None:
    """Show the episodes that were shown on TV and are neither in a library nor on their way, and those below the preferences.

    The ID of the show is what `kurabito backfill` and `--series` take.

    Examples:

        kurabito wanted

        kurabito wanted --search

        kurabito wanted --series 7 --automatic
    """
    from kurabito.cli.collection.database import opened_database
    from kurabito.downloads.wanted import store

    with opened_database() as (_, database):
        if automatic is not None:
            database.write_blocking(lambda conn: _switch(conn, series, automatic))
        found = database.read_blocking(lambda conn: store.wanted(conn, series_id=series))
        if search:
            database.write_blocking(lambda conn: store.ask(conn, [one.id for one in found]))
    if as_json:
        for one in found:
            typer.echo(json.dumps(_shown(one), ensure_ascii=False))
    else:
        _print(found)


def _switch(conn: Connection, series_id: int | None, is_automatic: bool) -> None:
    from kurabito.catalog import series
    from kurabito.downloads.wanted import store

    if series_id is None:
        store.set_automatic(conn, is_automatic)
    else:
        series.find(conn, series_id)
        store.set_series_automatic(conn, series_id, is_automatic)


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
    from kurabito.cli.display import console, safe

    table = Table(box=None, pad_edge=False)
    for name in ("id", "series", "episode", "shown", "why"):
        table.add_column(name, no_wrap=name not in ("series", "why"), overflow="fold")
    for one in found:
        day = "" if one.aired_at is None else f"{one.aired_at:%Y-%m-%d}"
        number = f"S{one.season:02}E{one.number:02g}"
        table.add_row(str(one.series_id), safe(one.series), number, day, WHY[one.reason.value])
    out = console()
    out.print(table)
    out.print(counted(len(found), "episode"))
