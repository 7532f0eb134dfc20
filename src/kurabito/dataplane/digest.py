"""The content of one open file as a digest: of the whole, or of its two edges.

The edges are a question, never an answer: files of one size whose edges differ are different, and that is all they tell.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from hashlib import sha256
from typing import Final, Protocol

from blake3 import blake3

from kurabito.protocol.values import HashAlgorithm

EDGE: Final = 4 * 1024
"""Bytes of each end that an edge sample reads."""
READ_WHOLE: Final = 32 * 1024
"""Up to this size a file is read whole at once: looking at its edges first would cost about as much."""

_BUFFER: Final = 256 * 1024
"""Small enough to stay in a core's own cache between being filled and being hashed."""


class _Hasher(Protocol):
    """What blake3 and hashlib have in common."""

    def update(self, data: memoryview, /) -> object: ...
    def digest(self) -> bytes: ...


_HASHERS: Final[dict[HashAlgorithm, Callable[[], _Hasher]]] = {
    # On one thread: it is given several files at once as it is.
    HashAlgorithm.BLAKE3: blake3,
    HashAlgorithm.SHA256: sha256,
}


class Reader:
    """Reads files into one buffer, which is used again for each; not for two threads at once."""

    def __init__(self) -> None:
        # It begins with a page: into such memory the kernel copies, and from it blake3 reads, markedly faster.
        self._buffer = memoryview(mmap.mmap(-1, _BUFFER))

    def whole(self, fd: int, algorithm: HashAlgorithm) -> tuple[bytes, int]:
        """The digest of everything that the descriptor has, and how many bytes that were."""
        hasher, buffer, size = _HASHERS[algorithm](), self._buffer, 0
        while read := os.preadv(fd, (buffer,), size):
            hasher.update(buffer[:read])
            size += read
            if read < _BUFFER:
                # A file gives less than was asked for only at its end.
                break
        return hasher.digest(), size

    def edges(self, fd: int, size: int) -> bytes:
        """The digest of the first and the last bytes, the same for every algorithm so that all can be compared."""
        buffer = self._buffer
        first = os.preadv(fd, (buffer[:EDGE],), 0)
        last = os.preadv(fd, (buffer[first : first + EDGE],), max(size - EDGE, first))
        return blake3(buffer[: first + last]).digest()
