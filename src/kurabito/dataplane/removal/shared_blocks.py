"""Two files that share their blocks: both stay what they are, with their names, times, owners and attributes.

The kernel compares the two once more, block by block, while neither can be written to, and only then has the one use the blocks
of the other. Nothing is moved and nothing can be lost, so there is nothing to put back.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from typing import Final

from kurabito.dataplane.removal.file_refs import RemovalRefused
from kurabito.dataplane.removal.pairs import Pair
from kurabito.protocol.error_codes import ErrorCode

_FIDEDUPERANGE: Final = 0xC0189436
_HEAD: Final = struct.Struct("=QQHHI")
_TARGET: Final = struct.Struct("=qQQiI")
_AT_ONCE: Final = 16 << 20
"""As much as every file system takes in one call."""
_DIFFERS: Final = 1
_CANNOT: Final = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EINVAL})
_NOT_OURS: Final = frozenset({errno.EPERM, errno.EACCES})
_WRITE: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


def share_blocks(pair: Pair, between: Callable[[], None] = lambda: None) -> None:
    """Have a file share the kept one's blocks; raises RemovalRefused, and both are as they were. `between` is called often."""
    pair.look_again()
    target = os.open(pair.source.name, _WRITE, dir_fd=pair.source.folder)
    try:
        if not os.path.samestat(os.fstat(target), os.fstat(pair.source_fd)):
            raise RemovalRefused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
        offset, size = 0, pair.source_seen.size
        while offset < size:
            between()
            offset += _share(pair.kept_fd, target, offset, min(_AT_ONCE, size - offset))
        os.fsync(target)
    finally:
        os.close(target)


def _share(kept: int, target: int, offset: int, length: int) -> int:
    """Share a part; how many bytes that was."""
    asked = bytearray(_HEAD.pack(offset, length, 1, 0, 0) + _TARGET.pack(target, offset, 0, 0, 0))
    try:
        fcntl.ioctl(kept, _FIDEDUPERANGE, asked)
    except OSError as problem:
        raise _refusal(problem.errno or 0) from None
    _, _, shared, status, _ = _TARGET.unpack_from(asked, _HEAD.size)
    if status < 0:
        raise _refusal(-status)
    if status == _DIFFERS or not shared:
        raise RemovalRefused(
            ErrorCode.CONTENT_DIFFERS, "its content is not that of the copy that would stay; both are read again"
        )
    return int(shared)


def _refusal(code: int) -> RemovalRefused:
    if code in _CANNOT:
        return RemovalRefused(
            ErrorCode.LINK_UNSUPPORTED,
            "this file system cannot share blocks between files; use the trash or hard links",
        )
    if code == errno.EXDEV:
        return RemovalRefused(
            ErrorCode.OTHER_FILE_SYSTEM, "blocks cannot be shared between file systems; use the trash"
        )
    if code in _NOT_OURS:
        return RemovalRefused(
            ErrorCode.DISK_FAILURE, "this user may not write to the file, so it cannot share its blocks"
        )
    return RemovalRefused(ErrorCode.DISK_FAILURE, f"the blocks cannot be shared: {os.strerror(code)}")
