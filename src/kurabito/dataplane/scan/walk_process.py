"""A process that walks shards of a library for a scan, and answers with what it found."""

from __future__ import annotations

import errno
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Identity, identity_of
from kurabito.dataplane.readers.process import serve
from kurabito.dataplane.scan.chunks import Chunk, Packed
from kurabito.dataplane.scan.shards import ScanTarget, Shard, ShardLimits

Answer = tuple[list[Packed], bool]
"""What was found, and whether the shard was left before its end."""


class WalkQuestion(NamedTuple):
    """What is in this shard?"""

    folder: str
    identity: Identity
    """Which folder it has to be: where a share is mounted there may be another for a while."""
    patterns: tuple[str, ...]
    closed: frozenset[Identity]
    encodes: bool
    piece: int
    limits: tuple[int, ...]
    shard: tuple[Any, ...]

    @classmethod
    def about(cls, target: ScanTarget, shard: Shard) -> WalkQuestion:
        """The question that another process can answer as we would."""
        return cls(
            str(target.root.folder),
            identity_of(target.root.fd),
            target.ignored.patterns,
            target.closed,
            target.encodes,
            target.piece,
            tuple(target.limits),
            tuple(shard),
        )


def answer(question: tuple[Any, ...], _: Reader) -> Answer:
    """Walk what is asked for."""
    asked = WalkQuestion(*question)
    try:
        with Root(Path(asked.folder)) as root:
            if identity_of(root.fd) != asked.identity:
                return _taken_away()
            target = ScanTarget(
                root, _ignored(asked.patterns), asked.closed, asked.encodes, asked.piece, ShardLimits(*asked.limits)
            )
            found, is_left = target.walk(Shard(*asked.shard))
    except RootUnavailable:
        return _taken_away()
    return [chunk.pack() for chunk in found], is_left


def _taken_away() -> Answer:
    problem = OSError(errno.ESTALE, "it was taken away while it was scanned")
    return [Chunk.without_files(problems=[("", problem)]).pack()], False


@lru_cache(maxsize=8)
def _ignored(patterns: tuple[str, ...]) -> Ignored:
    return Ignored(patterns)


if __name__ == "__main__":
    serve(sys.stdin.fileno(), sys.stdout.fileno(), answer)
