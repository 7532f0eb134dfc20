"""A library in shards: names of one folder that follow each other, each walked by a process that has nothing else to do.

Upper folders are listed until there are enough folders to divide. A shard that turns out to be large is not walked to its end,
and its rest is divided in turn.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Final, NamedTuple

from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Identity, Walk, WalkedFolder
from kurabito.dataplane.scan.chunks import Chunk, chunks_of

PIECE: Final = 1000


class ShardLimits(NamedTuple):
    """How a library is divided."""

    shards: int = 64
    """How many shards there are at least, where the folders allow it."""
    names: int = 2000
    """How many names a shard has at most."""
    files: int = 5000
    """Files after which the rest of a shard is divided: no process waits long for another, and memory stays bounded."""


LIMITS: Final = ShardLimits()


class Shard(NamedTuple):
    """Some names of one folder."""

    prefix: str
    """The folder, as the path before its names."""
    names: tuple[str, ...]
    above: tuple[Identity, ...]
    """The folder, and those that it lies in."""
    after: str
    """Up to here everything was walked."""

    def rest(self, after: str) -> Shard:
        """What is left of it behind the path of a file in it."""
        name, slash, _ = after[len(self.prefix) :].partition("/")
        # A folder in which the walk was is not done yet.
        left = tuple([each for each in self.names if each > name + slash or (slash and each == name + slash)])
        return self._replace(names=left, after=after)


@dataclass(frozen=True, slots=True)
class ScanTarget:
    """A library's folder, and what of it is walked, and how."""

    root: Root
    ignored: Ignored
    closed: frozenset[Identity] = frozenset()
    encodes: bool = False
    """Whether the files are encoded in one text."""
    piece: int = PIECE
    """How many files a chunk has at most."""
    limits: ShardLimits = LIMITS

    def everything(self, after: str) -> Walk:
        """A walk through all that lies behind a path."""
        return Walk(self.root.fd, after, self.ignored.keep, self.closed)

    def within(self, shard: Shard) -> Walk:
        """A walk through a shard, to begin at once; raises OSError when its folder cannot be opened."""
        folder = self.root.open_folder(shard.prefix.split("/")[:-1])
        names, above = list(shard.names), frozenset(shard.above)
        return Walk(folder, shard.after, self.ignored.keep, self.closed, shard.prefix, names, above)

    def walk(self, shard: Shard) -> tuple[list[Chunk], bool]:
        """Walk a shard; whether it was left before its end, because it has so many files."""
        try:
            walk = self.within(shard)
        except FileNotFoundError:
            return [], False
        except OSError as problem:
            return [Chunk.without_files(problems=[(shard.prefix, problem)])], False
        found: list[Chunk] = []
        left = self.limits.files
        with closing(chunks_of(walk, self.piece, encode=self.encodes)) as pieces:
            for piece in pieces:
                found.append(piece)
                left -= piece.count
                if piece.count and left <= 0:
                    return found, True
        return found, False


def shards_of(walk: Walk, limits: ShardLimits) -> Generator[Shard]:
    """The shards of a walk, in order. What is met on the way to one is with the walk when it comes."""
    first = walk.enter()
    stack: list[tuple[WalkedFolder, int]] = [(first, first.folders)]
    try:
        while stack:
            folder, many = stack[-1]
            above = walk.above.union([each.identity for each, _ in stack])
            if folder.is_done:
                stack.pop()[0].close()
            elif names := folder.take_names(limits.names, many // limits.shards):
                yield Shard(folder.prefix, tuple(names), tuple(above), walk.after)
            elif (inner := folder.enter_next(above)) is not None:
                stack.append((inner, many * max(1, inner.folders)))
    finally:
        for folder, _ in stack:
            folder.close()
