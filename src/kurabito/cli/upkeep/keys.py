"""`kurabito key`: API keys for programs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kurabito.access import ApiKey

app = typer.Typer(no_args_is_help=True, help="Create, list and revoke API keys for programs.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Right(StrEnum):
    """The scopes of a key, written here again so that `--help` loads nothing."""

    READ = "read"
    WRITE = "write"
    MODULE = "module"


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name to recognise it by.", show_default=False)],
    scopes: Annotated[
        list[Right] | None,
        typer.Option(
            "--scope", help="What the key may do; repeat for more than one. write includes read.", show_default="read"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print its secret once: only a hash of it is stored.

    Programs send it as `X-Api-Key`.

    Examples:

        kurabito key create "backup script"

        kurabito key create agent --scope write --json
    """
    import asyncio

    from kurabito import settings
    from kurabito.access import Keys
    from kurabito.cli.databases import product_database

    with product_database(settings.load(), create=True) as database:
        new = asyncio.run(Keys(database).create(name, scopes or [Right.READ]))
    typer.echo(f"This is shown only now. The key has the id {new.key.id}; send it as X-Api-Key.", err=True)
    if as_json:
        from kurabito.cli import display

        typer.echo(display.pretty({"key": _as_json(new.key), "secret": new.secret}))
    else:
        typer.echo(new.secret)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List the keys, the newest first, revoked ones included.

    Examples:

        kurabito key list
    """
    import asyncio

    from kurabito import settings
    from kurabito.access import Keys
    from kurabito.cli import display
    from kurabito.cli.databases import product_database

    with product_database(settings.load()) as database:
        found = asyncio.run(Keys(database).all())
    if as_json:
        typer.echo(display.pretty({"items": [_as_json(key) for key in found], "next_cursor": None}))
    elif found:
        _print_table(found)
    else:
        typer.echo("No keys. `kurabito key create NAME` makes one.")


@app.command()
def revoke(
    key_ids: Annotated[list[str], typer.Argument(help="IDs of keys, as `key list` shows them.", show_default=False)],
) -> None:
    """Revoke keys: they are refused from now on.

    Examples:

        kurabito key revoke 5f0c2a9e
    """
    import asyncio

    from kurabito import settings
    from kurabito.access import Keys
    from kurabito.access.errors import KeyNotFound
    from kurabito.cli.databases import product_database

    async def work(keys: Keys) -> bool:
        good = True
        for key_id in key_ids:
            try:
                await keys.revoke(key_id)
            except KeyNotFound as problem:
                typer.echo(f"error: {problem}", err=True)
                good = False
            else:
                typer.echo(f"{key_id} revoked")
        return good

    with product_database(settings.load()) as database:
        if not asyncio.run(work(Keys(database))):
            raise typer.Exit(1)


def _print_table(keys: list[ApiKey]) -> None:
    from rich.table import Table

    from kurabito.cli import display

    table = Table(box=None, pad_edge=False)
    for title in ("id", "name", "scopes", "created", "last used", "revoked"):
        table.add_column(title, no_wrap=title != "name")
    for key in keys:
        table.add_row(
            key.id,
            display.safe(key.name),
            ", ".join(sorted(key.scopes)),
            display.local(key.created_at),
            display.ago(key.last_used_at) if key.last_used_at else "never",
            display.local(key.revoked_at) if key.revoked_at else "",
        )
    display.console().print(table)


def _as_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at.isoformat(),
        "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
    }
