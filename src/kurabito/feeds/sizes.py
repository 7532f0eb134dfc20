"""How large a release is, as feeds write it: 409259200, "609.6 MiB", "1.4 GB"."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,6})?)\s*([kmgt]?)(i?)b?(?:ytes?)?", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# Sites that do not know the length of an enclosure write 0 or 1.
_SMALLEST: Final = 1024


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
