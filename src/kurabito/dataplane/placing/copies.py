"""The content of a file, copied and hashed in one go."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from blake3 import blake3

_BLOCK: Final = 4 << 20
"""Large enough that handing a block from thread to thread costs nothing beside it."""


def copy(source: int, target: int, between: Callable[[], None]) -> tuple[bytes, int]:
    """Copy an open file to its end; the BLAKE3 of what was copied, and how much that was. `between` is called often.

    A block is hashed in a thread while it is written and the next one is read, so that hashing costs no time of its own.
    """
    hasher = blake3()
    buffers = [memoryview(mmap.mmap(-1, _BLOCK)) for _ in range(2)]
    hashed: list[Future[object] | None] = [None, None]
    offset = turn = 0
    with ThreadPoolExecutor(1, "hash of a copy") as thread:
        while True:
            between()
            if (before := hashed[turn]) is not None:
                # The buffer is used again.
                before.result()
            read = os.preadv(source, (buffers[turn],), offset)
            if not read:
                break
            block = buffers[turn][:read]
            hashed[turn] = thread.submit(hasher.update, block)
            write_all(target, block)
            offset, turn = offset + read, 1 - turn
    return hasher.digest(), offset


def write_all(target: int, content: memoryview) -> None:
    """Write everything; a file system may take less at once."""
    while content:
        content = content[os.write(target, content) :]
