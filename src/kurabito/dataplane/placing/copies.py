"""The content of a file, copied and hashed in one go."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Final

from blake3 import blake3

from kurabito.dataplane.removal import syscalls

_BLOCK: Final = 256 << 10
"""Small enough that a block is still in the cache of its core when it is hashed."""
_CHUNK: Final = 2 << 20
"""So much is written at once."""
_CHUNKS: Final = 4
_WRITERS: Final = 3
"""A disk is fast when it has several chunks to write, while the next one is filled."""
_PAST_CACHE: Final = getattr(os, "O_DIRECT", 0)


def copy(source: int, target: int, between: Callable[[], None]) -> tuple[bytes, int]:
    """Copy an open file to its end; the BLAKE3 of what was copied, and how much that was. `between` is called often.

    Threads write while the next chunk is read and hashed. What is smaller than a chunk needs none.
    """
    hasher, copied, rest = blake3(), 0, memoryview(b"")
    written = _WrittenFile(target)
    # Aligned to pages, as the disk wants it.
    chunks = [memoryview(mmap.mmap(-1, _CHUNK)) for _ in range(_CHUNKS)]
    under_way: deque[Future[None]] = deque()
    with ThreadPoolExecutor(_WRITERS, "copy") as threads:
        for chunk in cycle(chunks):
            if len(under_way) == _CHUNKS:
                under_way.popleft().result()
            filled = _fill(chunk, source, copied, hasher, between)
            if filled < len(chunk):
                rest = chunk[:filled]
                break
            if not copied:
                written.expect(os.fstat(source).st_size)
            under_way.append(threads.submit(written.write, chunk, copied))
            copied += filled
        for write in under_way:
            write.result()
    written.end(rest, copied)
    return hasher.digest(), copied + len(rest)


def write_all(target: int, content: memoryview, offset: int = 0) -> None:
    """Write everything; a file system may take less at once."""
    while content:
        taken = os.pwrite(target, content, offset)
        content, offset = content[taken:], offset + taken


def _fill(chunk: memoryview, source: int, offset: int, hasher: blake3, between: Callable[[], None]) -> int:
    """Read and hash what comes next in a file; how much that is, which is less than fits only at its end."""
    filled = 0
    while filled < len(chunk):
        between()
        block = chunk[filled : filled + _BLOCK]
        read = os.preadv(source, (block,), offset + filled)
        if not read:
            break
        hasher.update(block[:read])
        filled += read
    return filled


class _WrittenFile:
    """An empty file that is open, written in chunks, which several threads may do.

    Chunks go to the disk past the kernel's cache where that is possible. There they are copied once less, other files stay in the
    cache, and an `fsync` finds next to nothing left to do.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._is_past_cache = False

    def expect(self, size: int) -> None:
        """Prepare for a file that is larger than a chunk."""
        # A file that has its blocks is written by all threads at once; one that grows, by one after the other.
        syscalls.allocate(self._fd, size)
        self._is_past_cache = bool(_PAST_CACHE) and _go_past_cache(self._fd, wanted=True)

    def write(self, chunk: memoryview, offset: int) -> None:
        """Write a whole chunk."""
        try:
            write_all(self._fd, chunk, offset)
        except OSError as problem:
            if not _PAST_CACHE or problem.errno != errno.EINVAL:
                raise
            # The disk has larger sectors, or took a part that does not end with one.
            self._use_cache()
            write_all(self._fd, chunk, offset)
        if not self._is_past_cache:
            # The disk writes while the next chunks are read, so that little is left to wait for at the end.
            syscalls.start_writing(self._fd, offset, len(chunk))

    def end(self, rest: memoryview, offset: int) -> None:
        """Write what is left, however long that is, and have the file end there."""
        self._use_cache()
        write_all(self._fd, rest, offset)
        os.ftruncate(self._fd, offset + len(rest))

    def _use_cache(self) -> None:
        if self._is_past_cache:
            self._is_past_cache = not _go_past_cache(self._fd, wanted=False)


def _go_past_cache(fd: int, *, wanted: bool) -> bool:
    """Have writes go past the kernel's cache, or through it again; false where that cannot be done."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    try:
        fcntl.fcntl(fd, fcntl.F_SETFL, flags | _PAST_CACHE if wanted else flags & ~_PAST_CACHE)
    except OSError:
        return False
    return True
