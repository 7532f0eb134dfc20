"""Walking a library with several cores. The stretches come in order, as if one had walked them all."""

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

from kurabito.dataplane import scan_process
from kurabito.dataplane.hash_pool import HashPool, ReaderLost, Start, spawned
from kurabito.dataplane.scan_process import Answer, WalkQuestion
from kurabito.dataplane.scan_shares import Ground, Share, shares
from kurabito.dataplane.scan_stretches import Stretch, stretches
from kurabito.dataplane.walk import Walk
from kurabito.logs import get_logger

_FEW: Final = 4000
"""Files that are walked sooner than a process is started to help."""
_AHEAD: Final = 4
"""Shares for each process that are walked, or wait for it, before their turn."""
_MOST: Final = 3
"""Processes that help at most: what they find is stored by one, who could not keep up with more."""
_PATIENCE: Final = 0.2

_START: Final = partial(spawned, program=scan_process.__name__)
_Found = tuple[list[Stretch], bool]
_log = get_logger(__name__)


class Walkers:
    """The processes that help with walking: one for each further core, up to a few. They stay a while after each scan."""

    def __init__(self, processes: int | None = None, *, few: int = _FEW, start: Start = _START) -> None:
        self.count = min(_MOST, len(os.sched_getaffinity(0)) - 1) if processes is None else processes
        self.few = few
        """How many files are walked without them."""
        self._threads = ThreadPoolExecutor(max(1, self.count), "walk of a scan")
        # One for each thread: so what comes from a process is taken at once, whatever else goes on.
        self._pools = SimpleQueue[HashPool[None]]()
        for _ in range(self.count):
            self._pools.put(HashPool[None](1, start=start))

    def ask(self, question: WalkQuestion, given_up: threading.Event) -> Future[_Found]:
        """Have a share walked, unless that is given up meanwhile. A process that dies over it is replaced once."""
        return self._threads.submit(self._ask, question, given_up)

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
class _Given:
    """A share that was given out."""

    share: Share
    met: Stretch
    """What was met on the way to it."""
    future: Future[_Found] | None
    found: _Found | None = None

    @property
    def is_ready(self) -> bool:
        return self.found is not None or (self.future is not None and self.future.done())

    def take_back(self) -> bool:
        """Whether nobody began with it, and nobody will."""
        return self.found is None and (self.future is None or self.future.cancel())


class SharedWalk:
    """One walk through a library by this process and those that help it. `check` is called now and then, and may raise."""

    def __init__(self, ground: Ground, walkers: Walkers, check: Callable[[], None]) -> None:
        self._ground = ground
        self._walkers = walkers
        self._check = check
        self._given_up = threading.Event()
        """Nobody helps any more, or ever did."""
        if not walkers.count:
            self._given_up.set()

    def stretches(self, after: str) -> Generator[Stretch]:
        """What lies behind a path, in short stretches; the last one has no files."""
        ground = self._ground
        seen = 0
        with closing(stretches(ground.everything(after), ground.piece, tell=ground.tells)) as alone:
            for stretch in alone:
                yield stretch
                seen += stretch.count
                if not self._given_up.is_set() and stretch.count and seen >= self._walkers.few:
                    after = stretch.end
                    break
            else:
                return
        try:
            yield from self._share(ground.everything(after))
        finally:
            self._given_up.set()

    def _share(self, walk: Walk) -> Iterator[Stretch]:
        ahead = deque[_Given]()
        most = _AHEAD * self._walkers.count
        try:
            with closing(shares(walk, self._ground.cut)) as coming:
                while True:
                    while len(ahead) < most and (share := next(coming, None)) is not None:
                        ahead.append(_Given(share, Stretch.met_by(walk), self._give(share)))
                    if not ahead:
                        break
                    yield from self._take_first(ahead)
            yield Stretch.met_by(walk)
        finally:
            for given in ahead:
                given.take_back()

    def _give(self, share: Share) -> Future[_Found] | None:
        if self._given_up.is_set():
            return None
        return self._walkers.ask(WalkQuestion.about(self._ground, share), self._given_up)

    def _take_first(self, ahead: deque[_Given]) -> Iterator[Stretch]:
        first = ahead[0]
        while not first.is_ready:
            if (mine := next((given for given in ahead if given.take_back()), None)) is not None:
                mine.found = self._ground.walk(mine.share)
            elif first.future is not None:
                wait([first.future], _PATIENCE)
            self._check()
        ahead.popleft()
        found, is_left = self._found(first)
        yield first.met
        yield from found
        if is_left:
            yield from self._share_rest(first.share.rest(found[-1].end))

    def _found(self, given: _Given) -> _Found:
        if given.found is not None or given.future is None:
            return given.found or ([], False)
        try:
            return given.future.result()
        except (ReaderLost, OSError, CancelledError):
            return self._ground.walk(given.share)

    def _share_rest(self, rest: Share) -> Iterator[Stretch]:
        try:
            walk = self._ground.within(rest)
        except FileNotFoundError:
            return
        except OSError as problem:
            yield Stretch.without_files(problems=[(rest.prefix, problem)])
            return
        yield from self._share(walk)


def _unpacked(answer: Answer) -> _Found:
    packed, is_left = answer
    return [Stretch.unpack(each) for each in packed], is_left
