"""A file that becomes another name of its equal, and what is removed for good.

At no moment a name is without its content. Before a content is destroyed its copy was compared with it, and was seen right
before; and it is seen once more right after, while the content is still held open and can be written back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final

from kurabito.dataplane.removal import syscalls
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, RemovalRefused, Stranded, sync
from kurabito.dataplane.removal.moves import NEW, NO_LINKS, put_back
from kurabito.dataplane.removal.own_names import unlink
from kurabito.dataplane.removal.pairs import Pair
from kurabito.protocol.error_codes import ErrorCode

_BLOCK: Final = 1 << 20


def replace_by_link(pair: Pair, aside: FileRef) -> FileStamp:
    """Have the name of a file lead to the kept one; what it leads to now.

    The link is made aside, and the two names are swapped in one step, so that at no moment anything is missing; what the name
    led to before is looked at, and only then removed.
    """
    pair.look_again()
    if pair.source_seen.device != pair.kept_seen.device:
        raise RemovalRefused(
            ErrorCode.OTHER_FILE_SYSTEM, "a hard link cannot lead to another file system; use the trash"
        )
    _link_aside(pair, aside)
    try:
        made = aside.look()
        if made is None or made.file != pair.kept_seen.file:
            raise RemovalRefused(ErrorCode.KEPT_CHANGED, "another file was laid in the kept copy's place a moment ago")
        syscalls.swap((aside.folder, aside.name), (pair.source.folder, pair.source.name))
    except OSError as problem:
        unlink(aside)
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        raise RemovalRefused(
            ErrorCode.LINK_UNSUPPORTED, "this file system cannot swap two names in one step; use the trash"
        ) from None
    except RemovalRefused:
        unlink(aside)
        raise
    return _after_swap(pair, aside, made)


def settle_link(
    pair_of: Callable[[FileRef, FileRef], Pair], aside: FileRef, source: FileRef, kept: FileRef | None
) -> None:
    """Finish or undo a replacement that was begun.

    Raises Refused when what lies aside is not what the name leads to now: then it has to stay.
    """
    set_aside, there, staying = aside.look(), source.look(), None if kept is None else kept.look()
    if set_aside is None:
        return
    if there is None:
        # Only a keeper who looks for a file that is gone needs it.
        put_back(aside, source)
    elif set_aside.file == there.file or (staying is not None and set_aside.file == staying.file):
        unlink(aside)
        sync(aside)
    else:
        left = pair_of(aside, source)
        left.compare()
        destroy(left)


def discard(aside: FileRef, target: FileRef) -> None:
    """Take away a copy that was made aside and never got into its place."""
    if aside.look() is None:
        return
    if target.is_taken():
        unlink(aside)
        sync(aside)
    else:
        put_back(aside, target)


def destroy(pair: Pair) -> None:
    """Remove a file of the trash for good; its copy is seen right before, and right after, and if it is gone then the content
    is written back from what is still open."""
    pair.look_again()
    unlink(pair.source)
    try:
        pair.check_kept()
    except RemovalRefused:
        # Its last other copy went in the very moment in which it was removed.
        _copy(pair.source_fd, pair.source)
        raise
    sync(pair.source)


def _link_aside(pair: Pair, aside: FileRef) -> None:
    try:
        os.link(pair.kept.name, aside.name, src_dir_fd=pair.kept.folder, dst_dir_fd=aside.folder, follow_symlinks=False)
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise RemovalRefused(
                ErrorCode.OTHER_FILE_SYSTEM, "a hard link cannot lead to another mount; use the trash"
            ) from None
        if problem.errno in NO_LINKS:
            raise RemovalRefused(
                ErrorCode.LINK_UNSUPPORTED, f"no hard link can be made here: {problem.strerror}"
            ) from None
        raise


def _after_swap(pair: Pair, aside: FileRef, made: FileStamp) -> FileStamp:
    """Remove what the name led to before, if that and the kept file are still what was compared; else swap back."""
    was_ours = pair.source_seen.is_same_content(aside.look())
    kept_is_whole = pair.kept_seen.is_same_content(FileStamp.of(os.fstat(pair.kept_fd)))
    if not was_ours or not kept_is_whole:
        syscalls.swap((aside.folder, aside.name), (pair.source.folder, pair.source.name))
        set_aside = aside.look()
        if set_aside is not None and set_aside.file == made.file:
            unlink(aside)
        raise RemovalRefused(ErrorCode.FILE_CHANGED, "one of the files changed in the last moment; scan and plan again")
    sync(pair.source, aside)
    unlink(aside)
    if not pair.kept_seen.is_same_content(FileStamp.of(os.fstat(pair.kept_fd))):
        _copy(pair.source_fd, aside)
        raise Stranded(
            ErrorCode.KEPT_CHANGED,
            f"the kept file was written to in the last moment; the content before is {aside.shown}",
        )
    sync(aside)
    return made


def _copy(fd: int, target: FileRef) -> None:
    like = os.fstat(fd)
    copy = os.open(target.name, NEW, 0o600, dir_fd=target.folder)
    try:
        offset = 0
        while block := os.pread(fd, _BLOCK, offset):
            with memoryview(block) as view:
                written = 0
                while written < len(block):
                    written += os.write(copy, view[written:])
            offset += len(block)
        os.fchmod(copy, like.st_mode & 0o7777)
        os.utime(copy, ns=(like.st_atime_ns, like.st_mtime_ns))
        os.fsync(copy)
    finally:
        os.close(copy)
    sync(target)
