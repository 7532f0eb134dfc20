"""Looking up what is known of a chunk while the next is walked: neither needs the other, and both cores are busy."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan import known_files
from kurabito.dataplane.scan.chunks import Chunk


class KnownFilesPrefetch:
    """A thread that looks up what is known, and its connection, which is opened once for all scans."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "what a scan looks up")

    def compare(
        self, job: LeasedJob, library: int, after: str, walked: Iterator[Chunk]
    ) -> Generator[tuple[Chunk, bool]]:
        """The chunks behind a path, each with whether it is known exactly as it is."""
        last: tuple[Chunk, Future[str | None]] | None = None
        try:
            for chunk in walked:
                before, last = last, (chunk, self._look_up(job, library, after, chunk))
                after = chunk.end
                if before is not None:
                    yield _compared(*before)
            if last is not None:
                yield _compared(*last)
        finally:
            # The database may be closed after this, so nothing may read it any more.
            if last is not None:
                last[1].exception()

    def _look_up(self, job: LeasedJob, library: int, after: str, chunk: Chunk) -> Future[str | None]:
        most = chunk.count + 1
        known = partial(known_files.encoded_files, library=library, after=after, until=chunk.end, most=most)
        return self._thread.submit(job.read, known)


def _compared(chunk: Chunk, known: Future[str | None]) -> tuple[Chunk, bool]:
    return chunk, chunk.encoded == (known.result() or "")
