"""The processes that read files for one program: as many as it has cores, started when there is a question for each."""

from __future__ import annotations

import os
import select
import signal
import sys
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from types import TracebackType
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from kurabito.dataplane.errors import DiskError
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.readers import process as hash_process

T = TypeVar("T")

MOST_FILES: Final = 512
MOST_BYTES: Final = 16 << 20
"""A question with more than this is two, unless it is a single file: so no core waits long for another one's last."""

_ATTEMPTS: Final = 2
_AHEAD: Final = 2
"""Questions that a process has at a time, so that it need not wait for the second while its asker is busy elsewhere."""
_SHORT: Final = select.PIPE_BUF
"""A second question may not be longer than this. So much goes into a pipe at once; else the asker would wait for a process
to read, which may be waiting for its asker to do so."""
_MOST_ASIDE: Final = 16
"""Processes that wait in the middle of something. Where there would be more, those that began last begin again: so the first
ones come to an end."""

Start = Callable[[int, int], int]
"""Starts a process that takes questions from one descriptor and writes answers to the other; its pid."""


class ReaderLost(DiskError):
    """A process that reads files ended before it answered, and the one after it too."""

    code = "reader_lost"


def spawned(questions: int, answers: int, program: str = hash_process.__name__) -> int:
    """A new interpreter, which knows nothing of this one: for a program with threads."""
    # -P: a file in the working folder must not be taken for a module.
    command = [sys.executable, "-P", "-m", program]
    ends = [(os.POSIX_SPAWN_DUP2, questions, 0), (os.POSIX_SPAWN_DUP2, answers, 1)]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=ends)


def forked(answer: Callable[[tuple[Any, ...], Reader], Any]) -> Start:
    """A copy of this process, ready at once, which answers with a function of its own: for a program without threads."""

    def start(questions: int, answers: int) -> int:
        if pid := os.fork():
            return pid
        try:
            # A pipe ends when no process holds it open, and a copy holds whatever the other did.
            low, high = sorted((questions, answers))
            os.closerange(3, low)
            os.closerange(low + 1, high)
            os.closerange(high + 1, os.sysconf("SC_OPEN_MAX"))
            hash_process.serve(questions, answers, answer)
        finally:
            os._exit(1)

    return start


class _ReaderProcess(NamedTuple):
    pid: int
    questions: int
    answers: int


class _Asked(NamedTuple, Generic[T]):
    question: tuple[Any, ...]
    about: T
    message: bytes
    turns: Hashable | None
    attempts: int = 0

    @property
    def is_short(self) -> bool:
        """True when it may be asked before the question in front of it was answered."""
        return self.turns is None and len(self.message) <= _SHORT

    def again(self) -> Self:
        """The same, for a process that takes over from one that ended."""
        return self.of(self.question, self.about, self.turns, self.attempts + 1)

    @classmethod
    def of(cls, question: tuple[Any, ...], about: T, turns: Hashable | None, attempts: int = 0) -> Self:
        return cls(question, about, hash_process.packed((tuple(question), not attempts)), turns, attempts)


class ReaderPool(Generic[T]):
    """Questions go in, answers come out, in the order in which they are ready. What `about` says comes back with the answer.

    with ReaderPool() as pool:
        pool.ask(Question(folder, "blake3", files), about=rows)
        while pool.waiting:
            for rows, digests in pool.answers(timeout=1.0): ...

    A process that ends in the middle of its work is replaced, and asked to read what it read without mapping it: so a file
    that was cut off meanwhile is found to have changed.

    A question with a name in `turns` may be answered with None for as long as there is more to do. It is asked again then,
    unless it was set aside; asked under the same name later, it goes on where it was.
    """

    def __init__(self, processes: int | None = None, *, start: Start = spawned) -> None:
        self._most = processes or len(os.sched_getaffinity(0))
        self._start = start
        self._processes: set[_ReaderProcess] = set()
        self._idle: list[_ReaderProcess] = []
        self._busy: dict[int, tuple[_ReaderProcess, deque[_Asked[T]]]] = {}
        self._queue: deque[_Asked[T]] = deque()
        self._aside: dict[Hashable, tuple[_ReaderProcess, _Asked[T]]] = {}
        self._poll = select.poll()
        # Who forgets a pool would keep its processes for ever.
        weakref.finalize(self, _end_all, self._processes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, and forget what they were asked; the next question starts new ones."""
        self.forget()
        _end_all(self._processes)
        self._idle.clear()
        self._aside.clear()

    def forget(self) -> None:
        """Forget what was asked and has no answer yet. Processes that have nothing to do stay, and what was set aside."""
        for process, _ in [*self._busy.values()]:
            # They hold nothing that could be lost, and one may be in the middle of a very large file.
            self._lose(process)
        self._queue.clear()

    def set_aside(self) -> None:
        """Have what is done in turns wait until it is asked for again; what was not begun is forgotten."""
        self._queue = deque(asked for asked in self._queue if asked.turns is None)
        for process, asked in [*self._busy.values()]:
            if (name := asked[0].turns) is None:
                continue
            if len(self._aside) < _MOST_ASIDE or self._lose_dead_aside():
                self._release(process)
                self._aside[name] = process, asked[0]
            else:
                self._lose(process)

    @property
    def waiting(self) -> int:
        """How many questions have no answer yet."""
        return len(self._queue) + sum(len(asked) for _, asked in self._busy.values())

    @property
    def has_room(self) -> bool:
        """True while one more question would keep some process from idling soon."""
        return len(self._queue) < self._most

    def ask(self, question: tuple[Any, ...], about: T, *, turns: Hashable | None = None) -> None:
        """Have some files read."""
        if not self._take_up(turns, about):
            self._queue.append(_Asked.of(question, about, turns))
        self._hand_out()

    def answers(self, timeout: float = 0.0) -> Iterator[tuple[T, Any]]:
        """What is ready by now, or within so many seconds when nothing is; raises ReaderLost."""
        for fd, _ in self._poll.poll(timeout * 1000):
            process, asked = self._busy[fd]
            try:
                answer = hash_process.receive(process.answers)
            except EOFError:
                self._ask_again(process, asked)
                continue
            if answer is None:
                self._go_on(process, asked)
                continue
            first = asked.popleft()
            if not asked:
                self._release(process)
                self._idle.append(process)
            self._hand_out()
            yield first.about, answer

    def _hand_out(self) -> None:
        while self._queue and len(self._busy) < self._most:
            process = self._idle_one() or self._begin()
            asked = deque([self._queue.popleft()])
            self._busy[process.answers] = process, asked
            self._poll.register(process.answers, select.POLLIN)
            try:
                hash_process.write(process.questions, asked[0].message)
            except BrokenPipeError:
                self._ask_again(process, asked)
        for process, asked in self._busy.values():
            # What is done in turns has its process for itself.
            if self._queue and len(asked) < _AHEAD and asked[0].turns is None and self._queue[0].is_short:
                try:
                    hash_process.write(process.questions, self._queue[0].message)
                except BrokenPipeError:
                    # It ended, as will be seen from its answers.
                    continue
                asked.append(self._queue.popleft())

    def _take_up(self, turns: Hashable | None, about: T) -> bool:
        """Go on with what was set aside under this name; false when there is nothing."""
        process, asked = self._aside.pop(turns, (None, None))
        if process is None or asked is None:
            return False
        if _has_ended(process):
            self._lose(process)
            return False
        # Its last turn has been answered by now, or will be.
        self._busy[process.answers] = process, deque([asked._replace(about=about)])
        self._poll.register(process.answers, select.POLLIN)
        return True

    def _go_on(self, process: _ReaderProcess, asked: deque[_Asked[T]]) -> None:
        try:
            hash_process.write(process.questions, asked[0].message)
        except BrokenPipeError:
            self._ask_again(process, asked)

    def _lose_dead_aside(self) -> bool:
        """Forget what waited for so long that its process gave up; whether there was any."""
        dead = [name for name, (process, _) in self._aside.items() if _has_ended(process)]
        for name in dead:
            self._lose(self._aside.pop(name)[0])
        return bool(dead)

    def _ask_again(self, process: _ReaderProcess, asked: deque[_Asked[T]]) -> None:
        code = self._lose(process)
        first, *others = asked
        if first.attempts + 1 == _ATTEMPTS:
            raise ReaderLost(
                f"two processes that read files ended in the middle of their work, the last one with code {code}; "
                "were they killed for want of memory?"
            )
        self._queue.extendleft(reversed([first.again(), *others]))
        self._hand_out()

    def _begin(self) -> _ReaderProcess:
        theirs_to_read, questions = os.pipe()
        answers, theirs_to_write = os.pipe()
        process = _ReaderProcess(self._start(theirs_to_read, theirs_to_write), questions, answers)
        os.close(theirs_to_read)
        os.close(theirs_to_write)
        self._processes.add(process)
        return process

    def _idle_one(self) -> _ReaderProcess | None:
        while self._idle:
            process = self._idle.pop()
            # Who was asked nothing says nothing: if there is something to read, it is the end.
            if not select.select([process.answers], [], [], 0)[0]:
                return process
            self._lose(process)
        return None

    def _release(self, process: _ReaderProcess) -> None:
        if self._busy.pop(process.answers, None) is not None:
            self._poll.unregister(process.answers)

    def _lose(self, process: _ReaderProcess) -> int:
        self._release(process)
        self._processes.remove(process)
        return _end(process)


def _end_all(processes: set[_ReaderProcess]) -> None:
    while processes:
        _end(processes.pop())


def _has_ended(process: _ReaderProcess) -> bool:
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: _ReaderProcess) -> int:
    """Have a process end, if it has not yet; its exit code, or the signal that ended it as a negative number."""
    os.kill(process.pid, signal.SIGKILL)
    _, status = os.waitpid(process.pid, 0)
    os.close(process.questions)
    os.close(process.answers)
    return os.waitstatus_to_exitcode(status)
