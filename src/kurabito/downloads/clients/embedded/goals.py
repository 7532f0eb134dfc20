"""How long single torrents are seeded, where they are asked for with a goal of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.downloads.clients.embedded.kept import keep
from kurabito.downloads.clients.embedded.options import EmbeddedOptions
from kurabito.downloads.items import DownloadItem

_SUFFIX: Final = ".seed"


class SeedGoal(NamedTuple):
    """Enough is whichever comes first."""

    ratio: float
    seconds: float

    @classmethod
    def of(cls, item: DownloadItem, usual: EmbeddedOptions) -> SeedGoal | None:
        """The goal of an item; None where it is the usual one."""
        if item.seed_ratio is None and item.seed_minutes is None:
            return None
        return cls(
            usual.ratio if item.seed_ratio is None else item.seed_ratio,
            usual.seed_seconds if item.seed_minutes is None else item.seed_minutes * 60.0,
        )


class SeedGoals:
    """The goals by hash, each in a file, so that they hold after a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, SeedGoal] = {}

    def load(self, hash: str) -> None:
        """Remember what was asked for before the last stop."""
        try:
            self._known[hash] = SeedGoal(*json.loads(self._file(hash).read_bytes()))
        except (OSError, ValueError, TypeError):
            # Without one it is seeded as others are.
            self._known.pop(hash, None)

    def put(self, hash: str, goal: SeedGoal | None) -> None:
        """Keep the goal of a torrent that is taken."""
        if goal is not None:
            keep(self._file(hash), json.dumps(goal).encode())
            self._known[hash] = goal

    def drop(self, hash: str) -> None:
        """Forget it with its torrent."""
        if self._known.pop(hash, None) is not None:
            self._file(hash).unlink(missing_ok=True)

    def of(self, hash: str) -> SeedGoal | None:
        return self._known.get(hash)

    def _file(self, hash: str) -> Path:
        return self._folder / f"{hash}{_SUFFIX}"
