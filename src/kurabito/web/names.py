"""Names of files as they can be shown: whatever bytes they are made of, in whatever direction they are written."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

# Bytes that are no text are stored as characters of this range; a browser shows neither them nor control characters.
_UNSEEN: Final = re.compile("([\uef80-\uefff\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069])")
_ODD: Final = Markup('<span class="odd">{}</span>')
# Each part on its own, in the order of the path, so that a name written from right to left moves no other.
_PART: Final = Markup("<bdi>{}</bdi>")
_PATH: Final = Markup('<span class="path" dir="ltr">{}{}</span>')
_FOLDERS: Final = Markup('<span class="folders">{}<wbr></span>')
_SLASH: Final = Markup("/<wbr>")


def shown_path(path: str) -> Markup:
    """A path with its folders behind its name; what cannot be seen is written out."""
    *folders, name = path.split("/")
    before = _SLASH.join(_PART.format(shown_name(folder)) for folder in folders)
    return _PATH.format(_FOLDERS.format(before + "/") if folders else "", _PART.format(shown_name(name)))


def shown_name(name: str) -> Markup:
    """A name with what cannot be seen written out."""
    parts = _UNSEEN.split(name)
    return Markup("").join(_written(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def _written(char: str) -> Markup:
    code = ord(char)
    if 0xEF80 <= code <= 0xEFFF:
        return _ODD.format(f"\\x{code & 0xFF:02x}")
    return _ODD.format(char.encode("unicode_escape").decode("ascii"))
