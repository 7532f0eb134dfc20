"""A process that reads files and answers with their digests.

Threads would share one interpreter, and over many small files they only stand in each other's way. It is asked through one
pipe and answers on another, one answer to each question, and ends when its asker is gone.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final, NamedTuple

from kurabito.dataplane import garbage
from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.digest import READ_AT_ONCE, Reader
from kurabito.dataplane.files.paths import Root
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode

_LENGTH: Final = 4
_READ_AT_ONCE: Final = 1 << 20
PATIENCE: Final = 60.0
"""Seconds after which a process that is asked nothing gives its memory back."""

Wanted = tuple[str, int, int, int | None, int | None]
"""A file as it was last seen: relative path, size, mtime in ns, inode, device. An older database may lack the last two."""
Problem = tuple[str, str]
"""An error code, and what went wrong."""
Answer = list[bytes | Problem]
"""For each file its digest, or why there is none."""


_OF_OTHER_KINDS: Final = (errno.ESPIPE, errno.EISDIR)
"""What a pipe, a terminal and a folder say when they are read at a place."""
_NOT_ORDINARY: Final[Problem] = (ErrorCode.FILE_UNREADABLE.value, "it is no ordinary file")


class Question(NamedTuple):
    """What to read: some files of one folder."""

    folder: str
    algorithm: str | None
    """How to hash the whole content; None asks for the edges alone."""
    files: list[Wanted]


def packed(message: Any) -> bytes:
    """A message as it goes through a pipe."""
    text = marshal.dumps(message)
    return len(text).to_bytes(_LENGTH, "big") + text


def write(pipe: int, message: bytes) -> None:
    """Write one message that is packed."""
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive(pipe: int) -> Any:
    """The next message; raises EOFError when the other side is gone."""
    # Both ends are this program, and no other program can write to the pipe.
    return marshal.loads(_read(pipe, int.from_bytes(_read(pipe, _LENGTH), "big")))  # noqa: S302


def _read(pipe: int, size: int) -> bytearray:
    text = bytearray()
    while len(text) < size:
        part = os.read(pipe, min(size - len(text), _READ_AT_ONCE))
        if not part:
            raise EOFError
        text += part
    return text


def answer(question: tuple[Any, ...], reader: Reader) -> Answer:
    """Read what is asked for."""
    folder, name, files = Question(*question)
    return read(folder, files, reader.edges if name is None else reader.whole(HashAlgorithm(name)))


def read(folder: str, files: list[Wanted], digest_of: Callable[[int, int], tuple[bytes, int]]) -> Answer:
    """The digests of some files of a folder; `digest_of` makes one of an open file and its size, and says how much it read."""
    try:
        with Root(Path(folder)) as root:
            return [_digest(root, digest_of, file) for file in files]
    except RootUnavailable as problem:
        return [(ErrorCode.ROOT_UNAVAILABLE.value, str(problem))] * len(files)


def _digest(root: Root, digest_of: Callable[[int, int], tuple[bytes, int]], file: Wanted) -> bytes | Problem:
    try:
        fd = root.open_file(file[0])
        try:
            # A device may have no end. A little is read without asking, at places that a pipe does not have.
            if file[1] > READ_AT_ONCE and not S_ISREG(os.fstat(fd).st_mode):
                return _NOT_ORDINARY
            digest, read = digest_of(fd, file[1])
            # Looked at once, afterwards: what changed since the file was last seen shows, and what changed meanwhile too.
            now = os.fstat(fd)
        finally:
            os.close(fd)
    except PathEscapes as problem:
        return ErrorCode.PATH_ESCAPES.value, str(problem)
    except OSError as problem:
        if problem.errno in _OF_OTHER_KINDS:
            return _NOT_ORDINARY
        return ErrorCode.FILE_UNREADABLE.value, problem.strerror or type(problem).__name__
    if not S_ISREG(now.st_mode):
        return _NOT_ORDINARY
    if read != file[1] or not is_as_seen(now, file):
        return ErrorCode.FILE_CHANGED.value, "it changed since it was last seen"
    return digest


def is_as_seen(now: os.stat_result, file: Wanted) -> bool:
    """True when it is that very file, as far as it is known which, and has not changed."""
    _, size, mtime_ns, inode, device = file
    if now.st_size != size or now.st_mtime_ns != mtime_ns:
        return False
    if now.st_ino == inode and now.st_dev == device:
        return True
    # Databases keep numbers of 64 bits with a sign, and some have none for these.
    pairs = ((now.st_ino, inode), (now.st_dev, device))
    return all(stored is None or (number - stored) % (1 << 64) == 0 for number, stored in pairs)


def serve(
    questions: int,
    answers: int,
    answer: Callable[[tuple[Any, ...], Reader], Any],
    patience: Callable[[], float] = lambda: PATIENCE,
) -> None:
    """Answer questions until none comes for so many seconds. A message is a question and whether files may be mapped."""
    # Ctrl-C is for the asker, who then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    garbage.look_rarely()
    threading.Thread(target=_end_with_the_asker, args=[questions], daemon=True).start()
    readers = {mapped: Reader(mapped=mapped) for mapped in (True, False)}
    try:
        while select.select([questions], [], [], patience())[0]:
            question, mapped = receive(questions)
            write(answers, packed(answer(question, readers[mapped])))
    except (EOFError, BrokenPipeError):
        pass
    os._exit(0)


def _end_with_the_asker(questions: int) -> None:
    """Wait until the asker is gone, and leave at once, also from the middle of a very large file."""
    poll = select.poll()
    # That the other end is closed is reported whatever else is asked for.
    poll.register(questions, 0)
    poll.poll()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.stdin.fileno(), sys.stdout.fileno(), answer)
