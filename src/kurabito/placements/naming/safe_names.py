"""Names that ext4, NTFS, SMB and APFS all take, from texts that may hold anything."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

LONGEST_NAME: Final = 255
"""Bytes in UTF-8. NTFS counts other units, and a text never has more of those."""
LONGEST_STEM: Final = 200
"""What lies beside a video has its name and more behind it: `.简体.zh.forced.ass`, `-thumb.jpg`."""
NAMELESS: Final = "_"

_COLON: Final = re.compile(r"\s*:(?=\s)")
_REPLACED: Final = str.maketrans(
    {":": "-", "/": "-", "\\": "-", "|": "-", "*": "-", '"': "'", "<": "", ">": "", "?": ""}
)
_RESERVED: Final = re.compile(r'[:/\\|*"<>?]|  ')
# Controls and marks of direction (C?), but for the plain blanks among them, which are folded before.
_DROPPED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BLANKS: Final = re.compile(r"\s+")
_DEVICE: Final = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])\s*(?:\.|$)", re.I)
_EXTENSION: Final = re.compile(r"[A-Za-z0-9]{1,16}")
_EDGES: Final = " ."


def safe_text(text: str) -> str:
    """The text with no character that a name may not have: composed (NFC), one kind of blank, nothing invisible."""
    # Most texts are fine as they are, and this is asked for every name of a library. A text that can be printed has no blank
    # but the plain one.
    if text.isprintable() and not _RESERVED.search(text) and (text.isascii() or unicodedata.is_normalized("NFC", text)):
        return text
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    plain = _BLANKS.sub(" ", plain)
    if not plain.isprintable():
        plain = "".join(char for char in plain if unicodedata.category(char) not in _DROPPED)
    plain = _BLANKS.sub(" ", _COLON.sub(" -", plain).translate(_REPLACED))
    # What was dropped may have stood between two characters that are one.
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def safe_name(text: str, extension: str = "", longest: int = LONGEST_NAME) -> str:
    """One component of a path: legal everywhere, never hidden, never `..`, never empty, and with its extension.

    >>> safe_name("Re: Zero? ...", ".mkv"), safe_name("../../etc"), safe_name("con")
    ('Re - Zero.mkv', '-..-etc', '_con')
    """
    ending = safe_extension(extension)
    room = min(longest, LONGEST_NAME - len(ending))
    # One byte is left for the mark of a device's name.
    stem = shorten(safe_text(text).strip(_EDGES), room - 1).rstrip(_EDGES) or NAMELESS
    return f"{NAMELESS if _DEVICE.match(stem) else ''}{stem}{ending}"


@lru_cache(maxsize=256)
def safe_extension(extension: str) -> str:
    """The extension with its dot if it is one, in lower case; nothing otherwise.

    >>> safe_extension(".MKV"), safe_extension(". ./x")
    ('.mkv', '')
    """
    plain = extension.removeprefix(".")
    return f".{plain.lower()}" if _EXTENSION.fullmatch(plain) else ""


def shorten(text: str, most_bytes: int) -> str:
    """The beginning of a text that fits, cut between characters and never before a mark that belongs to one."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    kept = raw[: max(0, most_bytes)].decode(errors="ignore")
    rest = text[len(kept) :]
    while kept and rest and unicodedata.combining(rest[0]):
        rest = kept[-1] + rest
        kept = kept[:-1]
    return kept


def is_safe(path: str) -> bool:
    """Whether a path below a library is one that these functions could have made: what tests ask of every target.

    >>> is_safe("Show/Season 01/Show S01E01.mkv"), is_safe("Show/../x.mkv"), is_safe("/x.mkv")
    (True, False, False)
    """
    return bool(path) and all(_is_safe_name(part) for part in path.split("/"))


def twin_key(path: str) -> str:
    """What two paths share that one of the systems takes for the same: letters that differ in case or composition only."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _is_safe_name(name: str) -> bool:
    return (
        0 < len(name.encode(errors="surrogatepass")) <= LONGEST_NAME
        and name == name.strip(_EDGES)
        and name == safe_text(name)
        and _DEVICE.match(name) is None
    )
