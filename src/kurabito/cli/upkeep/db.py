"""`kurabito db`: the database itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.db.adoption import TakenTable
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Migrate, check, back up and restore the database.")


@app.command()
def migrate() -> None:
    """Bring the tables up to date, after a backup. `kurabito serve` does the same when it starts.

    A SQLite database of the earlier system is taken over with everything in it.

    Examples:

        kurabito db migrate
    """
    from kurabito.app.database import missing_role, prepare_database
    from kurabito.db import open_database

    with _alone() as settings:
        applied, taken = prepare_database(settings)
    typer.echo(f"Applied {', '.join(applied)}." if applied else "The tables are up to date.")
    _tell_of_earlier(taken)
    database = open_database(settings.database, create=False)
    database.open()
    try:
        script = missing_role(settings, database)
    finally:
        database.close()
    if script is not None:
        typer.echo(
            "This user may not restrict the rights of data planes. Run this as a user who may create roles:\n", err=True
        )
        typer.echo(script, nl=False)


@app.command()
def check() -> None:
    """Check the whole database for damage. The exit code is 1 when it finds some.

    Examples:

        kurabito db check
    """
    from kurabito.app.database import pending_migrations
    from kurabito.db import open_database
    from kurabito.maintenance.integrity import damages

    database = open_database(_settings().database, create=False)
    database.open()
    try:
        found = damages(database, thorough=True)
        missing = pending_migrations(database)
    finally:
        database.close()
    for problem in found:
        typer.echo(problem, err=True)
    if missing:
        typer.echo(f"It lacks {', '.join(missing)}: `kurabito db migrate` applies them.")
    if found:
        typer.echo("The database is damaged. Put a backup in its place: kurabito db restore FILE", err=True)
        raise typer.Exit(1)
    whole = "The database answers; its server checks it." if database.dialect.has_server else "The database is whole."
    typer.echo(whole)


@app.command()
def backup(
    file: Annotated[
        Path | None, typer.Argument(help="File to write; default: a new file in `backups` of the state folder.")
    ] = None,
) -> None:
    """Copy the SQLite database, also while it is in use.

    Examples:

        kurabito db backup

        kurabito db backup /mnt/usb/kurabito.db
    """
    from kurabito.app.database import BACKUPS
    from kurabito.clock import SystemClock
    from kurabito.maintenance.backups import back_up, fresh_name

    settings = _settings()
    source = _existing_file(settings)
    copy = file or fresh_name(settings.state / BACKUPS, SystemClock().now())
    back_up(source, copy)
    typer.echo(str(copy))


@app.command()
def restore(file: Annotated[Path, typer.Argument(help="A copy made by `kurabito db backup`.")]) -> None:
    """Replace the SQLite database with a copy. Stop `kurabito serve` first; the old file is kept beside it.

    Examples:

        kurabito db restore /mnt/usb/kurabito.db
    """
    from kurabito.clock import SystemClock
    from kurabito.maintenance import backups

    with _alone() as settings:
        target = _file(settings)
        kept = backups.restore(file, target, SystemClock().now())
    typer.echo(f"{target} is now what {file} was." + (f" The old one is {kept}." if kept else ""))


def _tell_of_earlier(taken: list[TakenTable]) -> None:
    from kurabito.cli.collection.duplicates import counted

    if not taken:
        return
    listed = ", ".join(f"{counted(table.carried, 'row')} of {table.name}" for table in taken)
    typer.echo(f"Taken over from the earlier system: {listed}.")
    for table in taken:
        if table.kept_in is not None:
            why = "; ".join(table.reasons)
            typer.echo(f"{table.kept_in} keeps {counted(table.kept, 'row')} of {table.name} as before, because: {why}.")
        if table.stays:
            typer.echo(f"The table {table.name} is still there; Kurabito does not use it.")


def _settings() -> Settings:
    from kurabito.cli.queues import chosen_settings

    return chosen_settings(None)


@contextmanager
def _alone() -> Iterator[Settings]:
    """The settings, with the state folder locked for this process."""
    from kurabito.app.state import StateLock, prepare_state

    settings = _settings()
    prepare_state(settings.state, umask=settings.umask)
    with StateLock(settings.state):
        yield settings


def _file(settings: Settings) -> Path:
    from kurabito.app.database import sqlite_file
    from kurabito.errors import ConfigError

    file = sqlite_file(settings)
    if file is None:
        raise ConfigError("PostgreSQL is backed up with its own tools: pg_dump and pg_restore")
    return file


def _existing_file(settings: Settings) -> Path:
    from kurabito.errors import DatabaseUnavailable

    file = _file(settings)
    if not file.is_file():
        raise DatabaseUnavailable(f"there is no database at {file}; is it the right state folder?")
    return file
