"""Pages of files in the order of their paths: a cursor names the last path that was shown."""

from __future__ import annotations

import base64
import binascii

from kurabito.errors import InvalidInput


def cursor_after(relative_path: str) -> str:
    """The cursor of the page that begins after this path."""
    return base64.urlsafe_b64encode(relative_path.encode()).decode()


def path_of(cursor: str) -> str:
    """The path that a cursor names; raises InvalidInput."""
    try:
        path = base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        path = ""
    # Only what `cursor_after` writes is a cursor.
    if not path or "\x00" in path or cursor_after(path) != cursor:
        raise InvalidInput("cursor", f"is not one that a page gave ({cursor!r}); begin again without it")
    return path
