"""Digests of files, whole and by their edges."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest
from blake3 import blake3

from kurabito.dataplane.files.digest import Reader
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import EDGE

SIZES = [
    0,
    1,
    EDGE - 1,
    EDGE,
    EDGE + 1,
    2 * EDGE,
    2 * EDGE + 1,
    (1 << 18) - 1,
    1 << 18,
    (1 << 18) + 1,
    3 << 20,
    (64 << 20) + 5,
]


def opened(folder: Path, content: bytes) -> int:
    (folder / "file").write_bytes(content)
    return os.open(folder / "file", os.O_RDONLY)


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_the_whole_content_is_hashed(tmp_path: Path, size: int, mapped: bool) -> None:
    content = os.urandom(size)
    reader = Reader(mapped=mapped)
    fd = opened(tmp_path, content)
    try:
        assert reader.whole(HashAlgorithm.BLAKE3)(fd, size) == (blake3(content).digest(), size)
        # The descriptor need not stand at the beginning, and the buffer has held something else.
        assert reader.whole(HashAlgorithm.SHA256)(fd, size) == (sha256(content).digest(), size)
    finally:
        os.close(fd)


@pytest.mark.parametrize("size", SIZES)
def test_edges_are_the_first_and_the_last_bytes(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    first, last = content[:EDGE], content[EDGE:][-EDGE:]
    fd = opened(tmp_path, content)
    try:
        assert Reader(mapped=True).edges(fd, size) == (blake3(first + last).digest(), size)
    finally:
        os.close(fd)
