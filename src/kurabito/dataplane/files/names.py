"""Names of files as text that every database can hold, and back again.

A name is bytes. Nearly all are UTF-8 and are stored as what they say. A byte that is not, becomes one character of a private
range (U+EF80 for 0x80 … U+EFFF for 0xFF), and a real character of that range becomes the escapes of its own bytes, so that
every name has exactly one text and every such text leads back to its name.
"""

from __future__ import annotations

import re
from typing import Final

_BASE: Final = 0xEF00
_ODD: Final = re.compile("[\udc80-\udcff\uef80-\uefff]")
_ESCAPES: Final = re.compile("[\uef80-\uefff]+")


def is_plain(names: str) -> bool:
    """True when every name in here is its own text."""
    return names.isascii() or not _ODD.search(names)


def as_text(name: str) -> str:
    """The text of a name as the operating system's functions give it."""
    if is_plain(name):
        return name
    return _ODD.sub(_escape, name)


def as_name(text: str) -> str:
    """The name that a text stands for, as the operating system's functions take it."""
    if text.isascii() or not _ESCAPES.search(text):
        return text
    return _ESCAPES.sub(_restore, text)


def shown(text: str) -> str:
    """The text for people: bytes that are no text are written out."""
    return _ESCAPES.sub(lambda found: "".join(f"\\x{ord(char) & 0xFF:02x}" for char in found[0]), text)


def _escape(found: re.Match[str]) -> str:
    return "".join(chr(_BASE + byte) for byte in found[0].encode("utf-8", "surrogateescape"))


def _restore(found: re.Match[str]) -> str:
    return bytes(ord(char) & 0xFF for char in found[0]).decode("utf-8", "surrogateescape")
