"""Which process this is: the one that began, or a copy that a handler made with `fork` and forgot to end.

Such a copy has the worker's code and connections and none of its threads. It must not claim, settle or wait beside the
worker it was copied from.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Clearable(Protocol):
    """Something that can be emptied."""

    def clear(self) -> None: ...


class Lineage:
    """Remembers the process that it was made in; in a copy of that, what is `emptied` is so from the first moment."""

    __slots__ = ("__weakref__", "_emptied", "is_copy")

    def __init__(self, *emptied: Clearable) -> None:
        self.is_copy = False
        self._emptied = emptied
        _known.add(self)

    def end_a_copy(self) -> None:
        """End this process if it is a copy: what it would do is done by the other already."""
        if self.is_copy:
            os._exit(0)

    def note_fork(self) -> None:
        self.is_copy = True
        for each in self._emptied:
            each.clear()


_known: weakref.WeakSet[Lineage] = weakref.WeakSet()


def _note_fork() -> None:
    for lineage in list(_known):
        lineage.note_fork()


os.register_at_fork(after_in_child=_note_fork)
