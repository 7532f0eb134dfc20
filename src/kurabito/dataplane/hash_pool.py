"""The processes that read files for one program: as many as it has cores, started when the first question comes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, Final, Generic, NamedTuple, Self, TypeVar, cast

from kurabito.dataplane import hash_process
from kurabito.dataplane.hash_process import Answer, Question
from kurabito.errors import DiskError

T = TypeVar("T")

MOST_FILES: Final = 512
MOST_BYTES: Final = 16 << 20
"""A question with more than this is two, unless it is a single file: so no core waits long for another one's last."""


class ReaderLost(DiskError):
    """A process that reads files ended by itself."""

    code = "reader_lost"


class _Process(NamedTuple):
    child: subprocess.Popen[bytes]
    questions: BinaryIO
    answers: BinaryIO


class HashPool(Generic[T]):
    """Questions go in, answers come out, in the order in which they are ready. What `about` says comes back with the answer.

    with HashPool() as pool:
        pool.ask(Question(folder, "blake3", files), about=rows)
        while pool.waiting:
            for rows, digests in pool.answers(timeout=1.0): ...
    """

    def __init__(self, processes: int | None = None) -> None:
        self._most = processes or len(os.sched_getaffinity(0))
        self._idle: list[_Process] = []
        self._busy: dict[int, tuple[_Process, T]] = {}
        self._queue: deque[tuple[Question, T]] = deque()
        self._poll = select.poll()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in [*self._idle, *(busy for busy, _ in self._busy.values())]:
            # They hold nothing that could be lost, and one may be in the middle of a very large file.
            process.child.kill()
            process.child.wait()
            _close(process.questions)
            _close(process.answers)
        self._idle, self._busy = [], {}
        self._queue.clear()

    @property
    def waiting(self) -> int:
        """How many questions have no answer yet."""
        return len(self._queue) + len(self._busy)

    @property
    def has_room(self) -> bool:
        """True while a further question would keep some process from idling soon."""
        return len(self._queue) < self._most

    def ask(self, question: Question, about: T) -> None:
        """Have some files read."""
        self._queue.append((question, about))
        self._hand_out()

    def answers(self, timeout: float = 0.0) -> Iterator[tuple[T, Answer]]:
        """What is ready by now, or within so many seconds when nothing is; raises ReaderLost."""
        for fd, _ in self._poll.poll(timeout * 1000):
            process, about = self._busy[fd]
            try:
                answer: Answer = hash_process.receive(process.answers)
            except EOFError:
                raise ReaderLost(
                    f"a process that reads files ended with code {process.child.wait()} in the middle of its work; "
                    "was it killed for want of memory?"
                ) from None
            del self._busy[fd]
            self._poll.unregister(fd)
            self._idle.append(process)
            self._hand_out()
            yield about, answer

    def _hand_out(self) -> None:
        while self._queue and (self._idle or len(self._busy) < self._most):
            if not self._idle:
                self._idle.append(_start())
            question, about = self._queue.popleft()
            process = self._idle[-1]
            try:
                hash_process.send(process.questions, tuple(question))
            except BrokenPipeError:
                raise ReaderLost(f"a process that reads files ended with code {process.child.wait()}") from None
            self._idle.pop()
            self._busy[process.answers.fileno()] = process, about
            self._poll.register(process.answers, select.POLLIN)


def _start() -> _Process:
    # -P: a file in the working folder must not be taken for a module.
    command = [sys.executable, "-P", "-m", hash_process.__name__]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
    assert child.stdin is not None
    assert child.stdout is not None
    return _Process(child, cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout))


def _close(pipe: BinaryIO) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        # Something was left to be written to a process that is no more.
        pass
