"""Every command.

One module per command or group of commands. Such a module imports nothing heavier than Typer at its top, so that
`kurabito --help` answers at once; what a command needs it imports when it runs. To add one:

    app.command(no_args_is_help=False)(serve)             # a command
    app.add_typer(tasks.app, name="tasks")                # a group
"""

from __future__ import annotations

from typing import Annotated

import typer

from kurabito.cli import tasks
from kurabito.cli.collection import adopt, import_from, media_servers, metadata, notifications, placements
from kurabito.cli.collection.dedupe import dedupe
from kurabito.cli.collection.fetch import fetch
from kurabito.cli.collection.import_files import import_files
from kurabito.cli.collection.search import search
from kurabito.cli.collection.title import title
from kurabito.cli.collection.wanted import wanted
from kurabito.cli.conformance import conformance
from kurabito.cli.finding import blocklist, indexers, profiles
from kurabito.cli.finding.backfill import backfill
from kurabito.cli.finding.follow import follow
from kurabito.cli.finding.grab import grab
from kurabito.cli.finding.history import history
from kurabito.cli.processes.dataplane import dataplane
from kurabito.cli.processes.demo import demo
from kurabito.cli.processes.downloader import downloader
from kurabito.cli.processes.serve import serve
from kurabito.cli.processes.worker import worker
from kurabito.cli.upkeep import addresses, config, db, keys, user
from kurabito.cli.upkeep.doctor import doctor

app = typer.Typer(
    name="kurabito",
    no_args_is_help=True,
    # Our own errors are one line; anything else is a bug, and its plain traceback is what a report needs.
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve)
app.command()(demo)
app.command()(doctor)
app.add_typer(config.app, name="config")
app.command()(dataplane)
app.command()(conformance)
app.command()(downloader)
app.command()(dedupe)
app.command("import")(import_files)
app.command()(worker)
app.command()(title)
app.command()(fetch)
app.command()(search)
app.command()(grab)
app.command()(follow)
app.command()(wanted)
app.command()(backfill)
app.add_typer(indexers.app, name="indexers")
app.add_typer(blocklist.app, name="blocklist")
app.add_typer(profiles.app, name="profile")
app.command()(history)
app.add_typer(tasks.app, name="tasks")
app.add_typer(keys.app, name="key")
app.add_typer(addresses.app, name="address")
app.add_typer(user.app, name="user")
app.add_typer(db.app, name="db")
app.add_typer(metadata.app, name="metadata")
app.add_typer(placements.app, name="placements")
app.add_typer(media_servers.app, name="media-servers")
app.add_typer(notifications.app, name="notifications")
app.add_typer(adopt.app, name="adopt")
app.add_typer(import_from.app, name="import-from")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kurabito {version('kurabito')}")
        raise typer.Exit


@app.callback()
def _kurabito(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Keep a media collection, and run background work that survives crashes.

    Settings come from the environment (`KURABITO_PORT=9000`), from the database (`kurabito config set`), from
    `kurabito.toml` in the state folder, or from defaults; `kurabito config` shows which.

    Examples:

        kurabito serve

        KURABITO_DATABASE=postgresql://me@db.local/kurabito kurabito serve --port 9000

        kurabito demo

        kurabito doctor
    """
