"""Which queue a command means, and how it is opened."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from kurabito.runtime import Queue
    from kurabito.settings import Settings

QueueUrl = Annotated[
    str | None,
    typer.Option(
        "--queue",
        help="sqlite:///FILE or postgresql://USER@HOST/NAME",
        show_default="KURABITO_DATABASE",
        metavar="URL",
    ),
]


def chosen_settings(given: str | None) -> Settings:
    """The settings, whose `database` is the URL that was given, if one was."""
    from kurabito import settings
    from kurabito.errors import ConfigError

    chosen = settings.load(database=given)
    if chosen.database.startswith("memory:"):
        raise ConfigError("a queue at memory:// is known only inside the program that opened it; use a database")
    return chosen


def existing_queue(given: str | None) -> AbstractAsyncContextManager[Queue]:
    """The queue, for a command that looks at what is there: nothing is created for it."""
    from kurabito.runtime import open_queue

    url = chosen_settings(given).database
    if url.startswith("sqlite:"):
        from kurabito.db.opening import sqlite_path

        _refuse_other_files(sqlite_path(url))
    return open_queue(url)


def _refuse_other_files(path: Path) -> None:
    """Opening a queue creates what is missing, which must not happen to a misspelt name or to another program's file."""
    import sqlite3
    from contextlib import closing

    from kurabito.errors import DatabaseUnavailable, NotADatabase

    if not path.is_file():
        raise DatabaseUnavailable(f"there is no queue at {path}: it is created by the first program that uses it")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            found = reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'task_events'").fetchone()
    except sqlite3.DatabaseError as problem:
        raise NotADatabase(f"{path} cannot be read as a queue: {problem}") from None
    if found is None:
        raise DatabaseUnavailable(f"{path} is a database without a queue in it; is it the right file?")
