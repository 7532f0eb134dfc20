"""How often Python looks for garbage in a process that meets files by the hundred thousand.

It looks after every 700 objects that were made and are still there, and of a file's name, size and times nothing refers to
itself: a scan spent a twelfth of its time on that.
"""

from __future__ import annotations

import gc
from typing import Final

_OBJECTS: Final = 50_000
"""Some megabytes, if all of them were garbage."""


def look_rarely() -> None:
    """Look for garbage so rarely that it costs next to nothing, and often enough that none piles up."""
    gc.set_threshold(_OBJECTS)
