"""How large a release is, as feeds write it: 409259200, "609.6 MiB", "1.4 GB", and in words: "Size: 1.4 GB"."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,6})?)\s*([kmgt]?)(i?)b?(?:ytes?)?", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# Sites that do not know the length of an enclosure write 0 or 1.
_SMALLEST: Final = 1024


_SAID: Final = re.compile(
    r"(?:\bsize|大小|サイズ|容量|[体體][积積])\s*[:\uff1a=]?\s*(?:<[^<>]{0,80}>\s*){0,4}[:\uff1a]?\s*"
    r"([0-9]{1,15}(?:,[0-9]{3})*(?:[.,][0-9]{1,6})?\s*(?:[kmgt]i?b|bytes))(?![a-z])",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r",(?=[0-9]{3}(?![0-9]))")


def size_said_in(description: str) -> int | None:
    """The size that a description names, as in "Size: 1.2 GB"; without a unit it could count anything.

    >>> size_said_in("<b>Size:</b> 1.5 GiB<br/>Seeders: 12")
    1610612736
    """
    found = _SAID.search(description)
    return size_of(_THOUSANDS.sub("", found[1])) if found else None


def size_of(text: str) -> int | None:
    """The bytes; None when the text says nothing that can be believed.

    Sites write GB and count by 1024, so both spellings are read that way.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    number, unit, _ = found.groups()
    size = round(float(number.replace(",", ".")) * 1024 ** _POWERS[unit.lower()])
    return size if _SMALLEST <= size < 2**63 else None
