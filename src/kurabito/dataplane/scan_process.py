"""A process that walks shares of a library for a scan, and answers with what it found."""

from __future__ import annotations

import errno
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kurabito.dataplane.digest import Reader
from kurabito.dataplane.hash_process import serve
from kurabito.dataplane.ignore import Ignored
from kurabito.dataplane.paths import Root
from kurabito.dataplane.scan_shares import Cut, Ground, Share
from kurabito.dataplane.scan_stretches import Packed, Stretch
from kurabito.dataplane.walk import Identity, identity_of
from kurabito.errors import RootUnavailable

Answer = tuple[list[Packed], bool]
"""What was found, and whether the share was left before its end."""


class WalkQuestion(NamedTuple):
    """What is in this share?"""

    folder: str
    identity: Identity
    """Which folder it has to be: where a share is mounted there may be another for a while."""
    patterns: tuple[str, ...]
    closed: frozenset[Identity]
    tells: bool
    piece: int
    cut: tuple[int, ...]
    share: tuple[Any, ...]

    @classmethod
    def about(cls, ground: Ground, share: Share) -> WalkQuestion:
        """The question that another process can answer as we would."""
        return cls(
            str(ground.root.folder),
            identity_of(ground.root.fd),
            ground.ignored.patterns,
            ground.closed,
            ground.tells,
            ground.piece,
            tuple(ground.cut),
            tuple(share),
        )


def answer(question: tuple[Any, ...], _: Reader) -> Answer:
    """Walk what is asked for."""
    asked = WalkQuestion(*question)
    try:
        with Root(Path(asked.folder)) as root:
            if identity_of(root.fd) != asked.identity:
                return _taken_away()
            ground = Ground(root, _ignored(asked.patterns), asked.closed, asked.tells, asked.piece, Cut(*asked.cut))
            found, is_left = ground.walk(Share(*asked.share))
    except RootUnavailable:
        return _taken_away()
    return [stretch.pack() for stretch in found], is_left


def _taken_away() -> Answer:
    problem = OSError(errno.ESTALE, "it was taken away while it was scanned")
    return [Stretch.without_files(problems=[("", problem)]).pack()], False


@lru_cache(maxsize=8)
def _ignored(patterns: tuple[str, ...]) -> Ignored:
    return Ignored(patterns)


if __name__ == "__main__":
    serve(sys.stdin.fileno(), sys.stdout.fileno(), answer)
