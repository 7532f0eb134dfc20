"""The stretches of a library: files that follow each other, so many that a transaction takes them.

What is known of one is looked up while the next is walked: neither needs the other, and both cores are busy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from kurabito.dataplane import scan_files
from kurabito.dataplane.held import HeldJob
from kurabito.dataplane.scan_files import SEPARATOR
from kurabito.dataplane.walk import Entry, Walk


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some files, in order, and what the walk met on its way to the last of them."""

    files: list[Entry]
    told: str
    """All of them in one text, if that was asked for."""
    folders: int
    """How many folders were entered since the walk began."""
    problems: list[tuple[str, OSError]]

    @property
    def end(self) -> str:
        """The path of the last file; nothing is behind a walk that found none."""
        return self.files[-1][0] if self.files else ""


def stretches(
    walk: Walk, length: Callable[[], int], told: Callable[[list[Entry]], str] | None = None
) -> Iterator[Stretch]:
    """All files of a walk. The last stretch may have none, and tells what the walk met behind the last file."""
    files: list[Entry] = []
    texts: list[str] = []

    def cut() -> Stretch:
        # A walk is never in a folder that lies behind the last file it gave, so that these belong together.
        stretch = Stretch([*files], SEPARATOR.join(texts), walk.folders, [*walk.problems])
        for taken in (files, texts, walk.problems):
            taken.clear()
        return stretch

    for batch in walk.batches():
        begin = 0
        while begin < len(batch):
            some = batch[begin : begin + length() - len(files)]
            begin += len(some)
            files += some
            if told is not None:
                # Right after they were made they are in the processor's cache; a whole stretch of them is not.
                texts.append(told(some))
            if len(files) >= length():
                yield cut()
    yield cut()


class Lookups:
    """A thread that looks up what is known, and its connection, which is opened once for all scans."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "what a scan looks up")

    def compare(
        self, job: HeldJob, library: int, after: str, walked: Iterator[Stretch]
    ) -> Generator[tuple[Stretch, bool]]:
        """The stretches behind a path, each with whether it is known exactly as it is."""
        last: tuple[Stretch, Future[str | None]] | None = None
        try:
            for stretch in walked:
                before, last = last, (stretch, self._look_up(job, library, after, stretch))
                after = stretch.end
                if before is not None:
                    yield _compared(*before)
            if last is not None:
                yield _compared(*last)
        finally:
            # Whoever closes the database closes it under nobody's hands.
            if last is not None:
                last[1].exception()

    def _look_up(self, job: HeldJob, library: int, after: str, stretch: Stretch) -> Future[str | None]:
        most = len(stretch.files) + 1
        known = partial(scan_files.told_of, library=library, after=after, until=stretch.end, most=most)
        return self._thread.submit(job.read, known)


def _compared(stretch: Stretch, known: Future[str | None]) -> tuple[Stretch, bool]:
    return stretch, stretch.told == (known.result() or "")
