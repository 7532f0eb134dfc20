"""The port that takes links on: the catalog makes them, and does not know what becomes of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from kurabito.db import Connection


class LinkSink(Protocol):
    """Takes on the links that nothing holds back: filters them, and sends what is left to downloaders."""

    def accept(self, conn: Connection, link_ids: Sequence[int]) -> None:
        """Take these on, in the transaction that made or freed them, so that no crash can come between."""
        ...

    def restate(self, conn: Connection, episode_ids: Collection[int]) -> None:
        """Have these episodes say how far they are: links of theirs came, or went to others."""
        ...
