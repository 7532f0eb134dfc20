"""Reading a very large file in turns.

A turn lasts a moment. Between two of them the file is closed and the asker decides whether to go on now, later, or not at all;
what was hashed so far stays in this process. Only a crash begins such a file again.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Final, NamedTuple

from kurabito.dataplane.files.digest import Reader, UnfinishedDigest
from kurabito.dataplane.readers import process
from kurabito.dataplane.readers.pool import spawned
from kurabito.dataplane.readers.process import Answer, Wanted, is_as_seen, serve
from kurabito.protocol.enums import HashAlgorithm

TURN: Final = 1.0
"""Seconds of reading after which others may go first."""
_PATIENCE: Final = 3600.0
"""Seconds for which a file that was begun is worth the memory of a process that waits."""


class LargeFile(NamedTuple):
    """A question about one file. The answer is None after a turn that did not reach its end: ask again to go on."""

    folder: str
    algorithm: str
    file: Wanted
    turn: float


class _TurnOver(Exception):
    """There is more to read."""


class LargeFiles:
    """The files that this process has begun to read."""

    def __init__(self) -> None:
        self._begun: dict[LargeFile, UnfinishedDigest] = {}

    def answer(self, question: tuple[Any, ...], reader: Reader) -> Answer | None:
        """Read what is asked for, and of a large file as much as a turn allows."""
        if len(question) != len(LargeFile._fields):
            return process.answer(question, reader)
        asked = LargeFile(*question)
        begun = self._begun.pop(asked, None) or reader.begin(HashAlgorithm(asked.algorithm))

        def read_on(fd: int, size: int) -> tuple[bytes, int]:
            if not reader.read_on(begun, fd, size, time.monotonic() + asked.turn):
                if is_as_seen(os.fstat(fd), asked.file):
                    raise _TurnOver
                # It changed: what was read of it is worth nothing, and the caller sees why.
                return b"", 0
            return begun.digest()

        try:
            return process.read(asked.folder, [asked.file], read_on)
        except _TurnOver:
            self._begun[asked] = begun
            return None

    def patience(self) -> float:
        """Seconds to wait for the next question."""
        return _PATIENCE if self._begun else process.PATIENCE


def reading_in_turns(questions: int, answers: int) -> int:
    """Start a process that also reads large files in turns."""
    return spawned(questions, answers, __name__)


if __name__ == "__main__":
    files = LargeFiles()
    serve(sys.stdin.fileno(), sys.stdout.fileno(), files.answer, files.patience)
