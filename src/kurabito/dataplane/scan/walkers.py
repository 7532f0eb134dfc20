"""Walking a library with several cores. The chunks come in order, as if one had walked them all."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Final

from kurabito.dataplane.files.walk import Walk
from kurabito.dataplane.readers.pool import ReaderLost, ReaderPool, Start, spawned
from kurabito.dataplane.scan import walk_process
from kurabito.dataplane.scan.chunks import Chunk, chunks_of
from kurabito.dataplane.scan.shards import ScanTarget, Shard, shards_of
from kurabito.dataplane.scan.walk_process import Answer, WalkQuestion
from kurabito.logs import get_logger

_FEW: Final = 4000
"""Files that are walked sooner than a process is started to help."""
_AHEAD: Final = 4
"""Shards for each process that are walked, or wait for it, before their turn."""
_MOST: Final = 3
"""Processes that help at most: what they find is stored by one, who could not keep up with more."""
_PATIENCE: Final = 0.2

_START: Final = partial(spawned, program=walk_process.__name__)
_Found = tuple[list[Chunk], bool]
_log = get_logger(__name__)


class Walkers:
    """The processes that help with walking: one for each core but the first, up to a few. They stay a while after each scan."""

    def __init__(self, processes: int | None = None, *, few: int = _FEW, start: Start = _START) -> None:
        self.count = min(_MOST, len(os.sched_getaffinity(0)) - 1) if processes is None else processes
        self.few = few
        """How many files are walked without them."""
        self._threads = ThreadPoolExecutor(max(1, self.count), "walk of a scan")
        # One for each thread: so what comes from a process is taken at once, whatever else goes on.
        self._pools = SimpleQueue[ReaderPool[None]]()
        for _ in range(self.count):
            self._pools.put(ReaderPool[None](1, start=start))

    def ask(self, question: WalkQuestion, given_up: threading.Event) -> Future[_Found]:
        """Have a shard walked, unless that is given up meanwhile. A process that dies over it is replaced once."""
        return self._threads.submit(self._ask, question, given_up)

    def close(self) -> None:
        """End the processes at once, where no scan is under way; the next one starts others."""
        # All of them: one that a thread is about to give back is waited for.
        for pool in [self._pools.get() for _ in range(self.count)]:
            pool.close()
            self._pools.put(pool)

    def _ask(self, question: WalkQuestion, given_up: threading.Event) -> _Found:
        pool = self._pools.get()
        try:
            if not given_up.is_set():
                pool.ask(question, None)
            while not given_up.is_set():
                for _, answer in pool.answers(_PATIENCE):
                    return _unpacked(answer)
            raise CancelledError
        except (ReaderLost, OSError) as problem:
            given_up.set()
            _log.warning("a scan goes on with one core", problem=str(problem))
            raise
        finally:
            pool.forget()
            self._pools.put(pool)


@dataclass(slots=True)
class _GivenShard:
    """A shard that was given out."""

    shard: Shard
    met: Chunk
    """What was met on the way to it."""
    future: Future[_Found] | None
    found: _Found | None = None

    @property
    def is_ready(self) -> bool:
        return self.found is not None or (self.future is not None and self.future.done())

    def take_back(self) -> bool:
        """Whether no process began with it, and none will."""
        return self.found is None and (self.future is None or self.future.cancel())


class SharedWalk:
    """One walk through a library by this process and those that help it. `check` is called now and then, and may raise."""

    def __init__(self, target: ScanTarget, walkers: Walkers, check: Callable[[], None]) -> None:
        self._target = target
        self._walkers = walkers
        self._check = check
        self._given_up = threading.Event()
        """No process helps any more, or none ever did."""
        if not walkers.count:
            self._given_up.set()

    def chunks(self, after: str) -> Generator[Chunk]:
        """What lies behind a path, in short chunks; the last one has no files."""
        target = self._target
        seen = 0
        with closing(chunks_of(target.everything(after), target.piece, encode=target.encodes)) as alone:
            for chunk in alone:
                yield chunk
                seen += chunk.count
                if not self._given_up.is_set() and chunk.count and seen >= self._walkers.few:
                    after = chunk.end
                    break
            else:
                return
        try:
            yield from self._divide(target.everything(after))
        finally:
            self._given_up.set()

    def _divide(self, walk: Walk) -> Iterator[Chunk]:
        ahead = deque[_GivenShard]()
        most = _AHEAD * self._walkers.count
        try:
            with closing(shards_of(walk, self._target.limits)) as coming:
                while True:
                    while len(ahead) < most and (shard := next(coming, None)) is not None:
                        ahead.append(_GivenShard(shard, Chunk.met_by(walk), self._give(shard)))
                    if not ahead:
                        break
                    yield from self._take_first(ahead)
            yield Chunk.met_by(walk)
        finally:
            for given in ahead:
                given.take_back()

    def _give(self, shard: Shard) -> Future[_Found] | None:
        if self._given_up.is_set():
            return None
        return self._walkers.ask(WalkQuestion.about(self._target, shard), self._given_up)

    def _take_first(self, ahead: deque[_GivenShard]) -> Iterator[Chunk]:
        first = ahead[0]
        while not first.is_ready:
            if (mine := next((given for given in ahead if given.take_back()), None)) is not None:
                mine.found = self._target.walk(mine.shard)
            elif first.future is not None:
                wait([first.future], _PATIENCE)
            self._check()
        ahead.popleft()
        found, is_left = self._found(first)
        yield first.met
        yield from found
        if is_left:
            yield from self._divide_rest(first.shard.rest(found[-1].end))

    def _found(self, given: _GivenShard) -> _Found:
        if given.found is not None or given.future is None:
            return given.found or ([], False)
        try:
            return given.future.result()
        except (ReaderLost, OSError, CancelledError):
            return self._target.walk(given.shard)

    def _divide_rest(self, rest: Shard) -> Iterator[Chunk]:
        try:
            walk = self._target.within(rest)
        except FileNotFoundError:
            return
        except OSError as problem:
            yield Chunk.without_files(problems=[(rest.prefix, problem)])
            return
        yield from self._divide(walk)


def _unpacked(answer: Answer) -> _Found:
    packed, is_left = answer
    return [Chunk.unpack(each) for each in packed], is_left
