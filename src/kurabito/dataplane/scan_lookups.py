"""Looking up what is known of a stretch while the next is walked: neither needs the other, and both cores are busy."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from kurabito.dataplane import scan_files
from kurabito.dataplane.held import HeldJob
from kurabito.dataplane.scan_stretches import Stretch


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
        most = stretch.count + 1
        known = partial(scan_files.told_of, library=library, after=after, until=stretch.end, most=most)
        return self._thread.submit(job.read, known)


def _compared(stretch: Stretch, known: Future[str | None]) -> tuple[Stretch, bool]:
    return stretch, stretch.told == (known.result() or "")
