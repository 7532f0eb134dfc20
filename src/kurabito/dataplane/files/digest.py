"""The content of one open file as a digest: of the whole, or of its two edges.

The edges are a question, never an answer: files of one size whose edges differ are different, and that is all they say.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from blake3 import blake3

from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import EDGE

READ_AT_ONCE: Final = 256 * 1024
"""Small enough to stay in a core's own cache between being filled and being hashed. What does not fit is mapped: a large file
is hashed a third faster where it lies than through a copy, a small one is copied faster than it is mapped."""
_WINDOW: Final = 8 << 20
"""How much of a file is mapped at a time, so that the largest one takes no more memory than others, and a process that has
to stop does so soon."""


class _Hasher(Protocol):
    """What blake3 and hashlib have in common."""

    def update(self, data: Any, /) -> object: ...
    def digest(self) -> bytes: ...


def _sha256(data: memoryview, /) -> _Hasher:
    # Loaded when it is wanted: a short search has no use for it.
    from hashlib import sha256

    return sha256(data)


_HASHERS: Final[dict[HashAlgorithm, Callable[[memoryview], _Hasher]]] = {
    # On one thread: it is given several files at once as it is.
    HashAlgorithm.BLAKE3: blake3,
    HashAlgorithm.SHA256: _sha256,
}
_NOTHING: Final = memoryview(b"")


@dataclass(slots=True)
class UnfinishedDigest:
    """A file whose first bytes are hashed."""

    hasher: _Hasher
    done: int = 0
    """How many bytes those are."""

    def digest(self) -> tuple[bytes, int]:
        """The digest of what was read, and how much that was."""
        return self.hasher.digest(), self.done

    def update(self, data: Any) -> None:
        """Hash what comes next."""
        self.hasher.update(data)
        self.done += len(data)


class Reader:
    """Reads files into one buffer, which is used again for each; not for two threads at once.

    A file that is cut off, or a disk that fails, while the file is mapped ends the process with SIGBUS. Who cannot
    afford that, or wants to know which file it was, reads with `mapped=False`.
    """

    def __init__(self, *, mapped: bool) -> None:
        # It begins with a page: into such memory the kernel copies, and from it blake3 reads, markedly faster.
        self._buffer = memoryview(mmap.mmap(-1, READ_AT_ONCE))
        self._first = self._buffer[:EDGE]
        self.mapped = mapped

    def whole(self, algorithm: HashAlgorithm) -> Callable[[int, int], tuple[bytes, int]]:
        """What makes the digest of an open file that has so many bytes; it also says how many there were."""
        hasher_of, buffer = _HASHERS[algorithm], self._buffer

        def whole(fd: int, size: int) -> tuple[bytes, int]:
            if size <= READ_AT_ONCE:
                read = os.preadv(fd, (buffer,), 0)
                return hasher_of(buffer[:read]).digest(), read
            begun = self.begin(algorithm)
            self.read_on(begun, fd, size)
            return begun.digest()

        return whole

    def begin(self, algorithm: HashAlgorithm) -> UnfinishedDigest:
        """A file that is not hashed yet."""
        return UnfinishedDigest(_HASHERS[algorithm](_NOTHING))

    def read_on(self, begun: UnfinishedDigest, fd: int, size: int, until: float = math.inf) -> bool:
        """Hash more of a file that has so many bytes; false when `time.monotonic()` came to `until` before its end."""
        if self.mapped and not _update_mapped(begun, fd, size, until):
            return False
        while read := os.preadv(fd, (self._buffer,), begun.done):
            begun.update(self._buffer[:read])
            if time.monotonic() >= until:
                return False
        return True

    def edges(self, fd: int, size: int) -> tuple[bytes, int]:
        """The digest of the first and the last bytes, the same for every algorithm so that all can be compared."""
        buffer = self._buffer
        first = os.preadv(fd, (self._first,), 0)
        last = os.preadv(fd, (buffer[first : first + EDGE],), size - EDGE if size > 2 * EDGE else first)
        return blake3(buffer[: first + last]).digest(), size


def _update_mapped(begun: UnfinishedDigest, fd: int, size: int, until: float) -> bool:
    """Hash as much of a file as can be mapped; false when the time was over before."""
    while begun.done < size:
        length = min(size - begun.done, _WINDOW)
        try:
            window = mmap.mmap(fd, length, mmap.MAP_SHARED, mmap.PROT_READ, offset=begun.done)
        except (OSError, ValueError):
            # Not every file system can do it, and what is shorter by now cannot be mapped as it was.
            break
        with window:
            window.madvise(mmap.MADV_SEQUENTIAL)
            begun.update(window)
        if begun.done < size and time.monotonic() >= until:
            return False
    return True
