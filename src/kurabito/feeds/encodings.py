"""The text of a feed, whatever it says about how it is written."""

from __future__ import annotations

import codecs
import re
from typing import Final

_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
# What is left when a feed of our readers is neither UTF-8 nor what it says: this one reads every older Chinese page.
_LAST_GUESS: Final = "gb18030"
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"


def decoded(data: bytes, content_type: str = "") -> str:
    """The text, as well as it can be read.

    UTF-8 is tried before anything that was declared: what is no UTF-8 almost never looks like it, while many servers and
    feeds declare what once was typed into a template. `content_type` is the header of the server.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    text = data.decode("utf-8", "replace")
    if _is_mostly_whole(text):
        return text
    for encoding in (*_declared(data, content_type), _LAST_GUESS):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return text


def _is_mostly_whole(text: str) -> bool:
    """Whether this was UTF-8: a few bad bytes, as where it was cut off, do not make it something else."""
    broken = text.count(_REPLACED)
    return not broken or broken * 4 < sum(not char.isascii() for char in text)


def _declared(data: bytes, content_type: str) -> list[str]:
    inside = _DECLARED.match(data.lstrip()[:300])
    outside = _CHARSET.search(content_type)
    return [name for name in (inside and inside[1].decode("ascii"), outside and outside[1]) if name]
