"""Files with a unique name, by which two machines find out whether they see the same folder."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from kurabito.errors import InvalidInput

_NAME: Final = re.compile(r"\.kurabito-[0-9a-f]{32}")


def new_probe() -> str:
    """A name that no file has yet."""
    return f".kurabito-{secrets.token_hex(16)}"


def leave(folder: Path, name: str) -> str | None:
    """Write such a file; why not, if it cannot be."""
    try:
        # Never over anything, and never through a link.
        os.close(os.open(folder / checked(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))
    except OSError as error:
        return error.strerror or str(error)
    return None


def is_there(folder: Path, name: str) -> bool:
    """Whether the file of the other side can be seen here."""
    # Listed, and not asked for by its name: a network share may remember that it was not there.
    with suppress(OSError):
        return any(one.name == checked(name) for one in folder.iterdir())
    return False


def take_away(folder: Path, name: str) -> None:
    """Remove such a file."""
    with suppress(OSError):
        (folder / checked(name)).unlink()


def checked(name: str) -> str:
    """The name, if it is one of these: nothing else is ever touched."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("name", "must be that of a file by which paths are tested")
    return name
