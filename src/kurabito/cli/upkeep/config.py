"""`kurabito config`: what is set, and where; and what the database holds of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.settings import Settings

app = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The setting, like trash_days.", show_default=False)]


@app.callback()
def config(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object per setting.")] = False,
) -> None:
    """Show every setting, its value and where the value came from. Secrets are masked.

    Examples:

        kurabito config

        KURABITO_PORT=9000 kurabito config --json
    """
    if context.invoked_subcommand is not None:
        return
    from kurabito import settings

    shown = settings.explain(_effective())
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


@app.command("set")
def set_value(
    name: Name,
    value: Annotated[str, typer.Argument(help="The value; - reads it from standard input.", show_default=False)],
) -> None:
    """Store a value in the database. It wins over the file and the default; the environment wins over it.

    A list is written with commas. A secret is best read from standard input, where no other user can see it.

    Examples:

        kurabito config set trash_days 60

        kurabito config set tmdb_key - < key.txt
    """
    import asyncio

    from kurabito import settings
    from kurabito.cli.databases import product_database
    from kurabito.settings.store import SettingsStore

    local = settings.load()
    given = sys.stdin.read().strip() if value == "-" else value
    with product_database(local, create=True) as database:
        asyncio.run(SettingsStore(database, local).set(name, given))
    typer.echo(f"{name} is set. {_takes_effect(name)}")


@app.command()
def unset(name: Name) -> None:
    """Remove a value from the database, so that the file or the default counts again.

    Examples:

        kurabito config unset trash_days
    """
    import asyncio

    from kurabito import settings
    from kurabito.cli.databases import product_database
    from kurabito.settings.store import SettingsStore

    local = settings.load()
    with product_database(local) as database:
        asyncio.run(SettingsStore(database, local).unset(name))
    typer.echo(f"The database has no value for {name}. {_takes_effect(name)}")


def _effective() -> Settings:
    """The settings with those of the database; without them where they cannot be read, which is said."""
    from kurabito import settings
    from kurabito.errors import ConfigError, DatabaseError
    from kurabito.settings.store import stored_settings

    local = settings.load()
    try:
        return stored_settings(local)
    except (ConfigError, DatabaseError) as problem:
        # Values in it that no longer fit are removed with this same command, so it has to work.
        typer.echo(f"The settings in the database are left out: {problem}", err=True)
        return local


def _takes_effect(name: str) -> str:
    from kurabito.settings.effects import LIVE
    from kurabito.settings.store import SEEN_WITHIN

    if name in LIVE:
        return f"`kurabito serve` follows within {SEEN_WITHIN:.0f} seconds."
    return "It takes effect at the next start."
