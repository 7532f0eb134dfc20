"""What happens to links that nothing holds back is for others to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kurabito.db import Connection


class LinkSink(Protocol):
    """Takes links on: filters them, and sends to downloaders what is left."""

    def take(self, conn: Connection, link_ids: Sequence[int]) -> None:
        """Take these on, in the transaction that made or freed them, so that no crash can come between."""
        ...
