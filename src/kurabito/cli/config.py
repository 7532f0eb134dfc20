"""`kurabito config`: what is set, and where."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object per setting.")] = False,
) -> None:
    """Show every setting, its value and where the value came from. Secrets are masked.

    Examples:

        kurabito config

        KURABITO_PORT=9000 kurabito config --json
    """
    from kurabito import settings

    shown = settings.explain(settings.load())
    if as_json:
        import json

        typer.echo(
            json.dumps([{"name": row.name, "value": row.value, "origin": row.origin} for row in shown], indent=2)
        )
        return
    from rich.console import Console
    from rich.table import Table

    # Values are text, never markup, and are never cut; a pipe gets one line for each.
    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 1000)
    table = Table("setting", box=None, pad_edge=False, expand=False)
    for title in ("value", "from", "meaning"):
        table.add_column(title, overflow="fold")
    for row in shown:
        value = ", ".join(row.value) if isinstance(row.value, list) else "" if row.value is None else str(row.value)
        table.add_row(row.name, value, row.origin, row.description)
    console.print(table)
