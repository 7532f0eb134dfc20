"""A SQLite file for its owner alone: feeds with passkeys, tokens of services and what is kept of passwords are in it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from kurabito.logs import get_logger

_OTHERS: Final = 0o077
# SQLite gives what it makes beside a database the mode of the database.
_COMPANIONS: Final = ("", "-wal", "-shm", "-journal")

_log = get_logger(__name__)


def make_private(database: Path) -> None:
    """Make the file if it is missing, and close it and its companions to other users.

    Made empty before SQLite opens it: there is no moment at which others could open it too. What stands in the way is left to
    SQLite, which says what it is.
    """
    file = database.resolve()
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        return
    close_to_others(file)


def close_to_others(database: Path) -> None:
    """Take the rights of other users away from a database and its companions, as far as they are there."""
    for companion in _COMPANIONS:
        path = database.with_name(database.name + companion)
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & _OTHERS:
                path.chmod(mode & ~_OTHERS)
                _log.info("closed to other users", file=str(path), mode=f"{mode:o}")
        except FileNotFoundError:
            continue
        except OSError as problem:
            _log.warning("other users may read this file: chmod 600 it", file=str(path), problem=str(problem))
