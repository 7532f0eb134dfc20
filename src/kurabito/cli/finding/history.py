"""`kurabito history`: what happened to releases and files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kurabito.downloads.history.entry import HistoryEntry, HistoryFilter, HistoryKind


def history(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Only entries with this in their titles or paths.")
    ] = "",
    series: Annotated[int | None, typer.Option("--series", min=1, help="Only the show with this ID.")] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="Only what was seen, taken, sent, completed, placed, upgraded, failed, cancelled or deleted; repeat for more.",
            show_default="all",
        ),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Not before, in UTC.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--until", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Before, in UTC.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many entries; 0 is all.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per entry, one per line.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="A table for spreadsheets.")] = False,
) -> None:
    """Show what happened to releases and files, the newest first.

    Examples:

        kurabito history

        kurabito history "Yoru no Kurabito" --kind failed --kind deleted

        kurabito history --csv --limit 0 > history.csv
    """
    import asyncio

    from kurabito.downloads.history.entry import HistoryFilter

    wanted = HistoryFilter(
        series_id=series,
        kinds=[_kind(kind) for kind in kinds or ()],
        text=text.strip(),
        since=None if since is None else since.replace(tzinfo=UTC),
        until=None if until is None else until.replace(tzinfo=UTC),
    )
    asyncio.run(_print(wanted, limit, as_json=as_json, as_csv=as_csv))


def _kind(word: str) -> HistoryKind:
    from kurabito.downloads.history.entry import HistoryKind
    from kurabito.errors import InvalidInput

    try:
        return HistoryKind(word)
    except ValueError:
        raise InvalidInput("--kind", f"must be one of {', '.join(HistoryKind)}, got {word!r}") from None


async def _print(wanted: HistoryFilter, limit: int, *, as_json: bool, as_csv: bool) -> None:
    from kurabito.cli.collection.database import opened_database
    from kurabito.downloads.history.service import History

    with opened_database() as (_, database):
        entries = _first(History(database).everything(wanted), limit)
        if as_csv:
            await _print_csv(entries)
        elif as_json:
            async for entry in entries:
                typer.echo(json.dumps(_shown(entry), ensure_ascii=False))
        else:
            _print_table([entry async for entry in entries])


async def _first(entries: AsyncIterator[HistoryEntry], limit: int) -> AsyncIterator[HistoryEntry]:
    count = 0
    async for entry in entries:
        yield entry
        count += 1
        if count == limit:
            return


async def _print_csv(entries: AsyncIterator[HistoryEntry]) -> None:
    from kurabito.api.downloads.history_export import as_csv

    async for line in as_csv(_shown(entry) async for entry in entries):
        typer.echo(line, nl=False)


def _shown(entry: HistoryEntry) -> dict[str, Any]:
    from kurabito.api.downloads.history import HistoryAnswer

    return HistoryAnswer.of(entry).model_dump(mode="json")


def _print_table(entries: list[HistoryEntry]) -> None:
    from rich.table import Table

    from kurabito.cli.display import console, local, safe

    table = Table(box=None, pad_edge=False)
    for name in ("when", "what", "series", "episode", "release or file"):
        table.add_column(name, no_wrap=name in ("when", "what", "episode"), overflow="fold")
    for one in entries:
        episode = "" if one.episode is None else f"S{one.season:02}E{one.episode:02g}"
        table.add_row(local(one.at), one.kind.value, safe(one.series or ""), episode, safe(one.title))
    out = console()
    out.print(table)
    out.print("1 entry" if len(entries) == 1 else f"{len(entries):,} entries")
