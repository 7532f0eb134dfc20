"""The content of a copy is that of its source, however it goes to the disk."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from kurabito.dataplane.placing import copies

CHUNK = 64 << 10


@pytest.fixture
def target(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "target", os.O_RDWR | os.O_CREAT)
    yield fd
    os.close(fd)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_CHUNK", CHUNK)
    monkeypatch.setattr(copies, "_BLOCK", CHUNK // 4)


def copied(tmp_path: Path, target: int, content: bytes) -> bytes:
    """What a copy of this content has, after its hash was compared."""
    (tmp_path / "source").write_bytes(content)
    source = os.open(tmp_path / "source", os.O_RDONLY)
    try:
        assert copies.copy(source, target, lambda: None) == (blake3(content).digest(), len(content))
    finally:
        os.close(source)
    return (tmp_path / "target").read_bytes()


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 5 * CHUNK + 4097])
@pytest.mark.parametrize("is_past_cache", [True, False], ids=["past the cache", "through the cache"])
def test_a_copy_has_the_content_of_its_source(
    tmp_path: Path, target: int, monkeypatch: pytest.MonkeyPatch, size: int, is_past_cache: bool
) -> None:
    if not is_past_cache:
        monkeypatch.setattr(copies, "_PAST_CACHE", 0)
    content = os.urandom(size)
    assert copied(tmp_path, target, content) == content


def test_what_a_disk_does_not_take_past_the_cache_goes_through_it(
    tmp_path: Path, target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.pwrite
    refused: list[int] = []

    def written(fd: int, content: memoryview, offset: int) -> int:
        if fd == target and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
            # So answers a disk whose sectors are larger, and here it took the beginning.
            refused.append(offset)
            if offset % CHUNK:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            return write(fd, content[:4096], offset)
        return write(fd, content, offset)

    monkeypatch.setattr(os, "pwrite", written)
    content = os.urandom(7 * CHUNK + 5)
    assert copied(tmp_path, target, content) == content
    assert refused


def test_a_source_that_became_shorter_leaves_no_more_than_was_read(
    tmp_path: Path, target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect = copies._WrittenFile.expect
    monkeypatch.setattr(copies._WrittenFile, "expect", lambda file, size: expect(file, size + 3 * CHUNK))
    content = os.urandom(2 * CHUNK + 7)
    assert copied(tmp_path, target, content) == content


def test_a_full_disk_ends_a_copy(tmp_path: Path, target: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int, _content: memoryview, _offset: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(copies, "write_all", full)
    with pytest.raises(OSError, match="No space left"):
        copied(tmp_path, target, bytes(4 * CHUNK))
