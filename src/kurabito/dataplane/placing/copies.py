"""The content of a file, copied and hashed in one go."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import Final

from blake3 import blake3

from kurabito.dataplane.removal import syscalls

_BLOCK: Final = 256 << 10
"""Small enough that a block is still in the cache of its core when it is hashed and written."""
_DRAINED: Final = 16 << 20
"""So much is given to the disk at once: large enough for it to write in one go."""


def copy(source: int, target: int, between: Callable[[], None]) -> tuple[bytes, int]:
    """Copy an open file to its end; the BLAKE3 of what was copied, and how much that was. `between` is called often.

    The disk writes while the next blocks are read and hashed, so that little is left to wait for at the end. That gains more
    than a second thread for the hash, which has to fetch every block from the core that read it.
    """
    hasher = blake3()
    # Aligned to pages, which the kernel fills faster.
    buffer = memoryview(mmap.mmap(-1, _BLOCK))
    offset = drained = 0
    while read := os.preadv(source, (buffer,), offset):
        between()
        block = buffer[:read]
        write_all(target, block)
        hasher.update(block)
        offset += read
        if offset - drained >= _DRAINED:
            syscalls.start_writing(target, drained, offset - drained)
            drained = offset
    return hasher.digest(), offset


def write_all(target: int, content: memoryview) -> None:
    """Write everything; a file system may take less at once."""
    while content:
        content = content[os.write(target, content) :]
