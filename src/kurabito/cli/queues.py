"""Which queue a command means, and how it is opened."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
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
    """The existing queue, for a command that only reads: nothing is created for it."""
    from kurabito.library.tasks import TASK_TYPES
    from kurabito.runtime.factory import open_delegated

    # A scan that is over stays over, also for a command: retrying it asks for a new one.
    return open_delegated(chosen_settings(given).database, create=False, delegate=TASK_TYPES)
