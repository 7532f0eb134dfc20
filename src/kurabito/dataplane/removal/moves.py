"""What is done to the disk: into the trash and back, removed for good, replaced by a link.

Every function leaves each content under some name at every moment, so that a crash between any two lines loses nothing; and
none ever takes the place of a file that was laid where it is about to put one.

A name is taken away by a rename into the trash, and not by linking it there and unlinking it here: what another program laid
in its place in the last moment would be unlinked with it, whereas what was renamed can be looked at, and put back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kurabito.dataplane.removal import aliases, syscalls
from kurabito.dataplane.removal.pairs import Pair
from kurabito.dataplane.removal.places import FileRef, FileStamp, Refused, Stranded, sync
from kurabito.protocol.codes import ErrorCode

Check = Callable[[], None]
"""Called before a move is undone: raises when that is for another to do by now."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EINVAL}
)
_BLOCK: Final = 1 << 20
_PROBE: Final = ".probe"


def move_to_trash(pair: Pair, trash: FileRef, is_ours: Check = lambda: None) -> FileStamp:
    """Move a file that was compared into the trash; what lies there now.

    The copy that stays is looked at again once the file is moved. If it is gone then, or was this very file, the file is put
    back and Refused is raised; Stranded when it cannot be put back because another file has its name.
    """
    pair.look_again()
    aliases.refuse_twins(pair)
    can_link = _probe(pair, trash)
    _move_away(pair.source, trash, can_link=can_link)
    try:
        if not pair.source_seen.is_same_content(trash.look()):
            raise Refused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
        pair.check_kept()
    except BaseException as problem:
        is_ours()
        if not put_back(trash, pair.source):
            raise Stranded(
                ErrorCode.FILE_CHANGED,
                f"it should have stayed ({problem}), but another file has its name by now; it lies in {trash.shown}",
            ) from None
        raise
    sync(trash, pair.source)
    return pair.source_seen


def put_back(trash: FileRef, target: FileRef) -> bool:
    """Move a file out of the trash to a place where nothing is; false when something is there, or nothing in the trash.

    Raises Refused where the file system can neither link files nor move them without replacing others.
    """
    lying, there = trash.look(), target.look()
    if lying is None:
        return False
    if there is None or there.file != lying.file:
        try:
            # A link never takes the place of another file, as a rename would.
            os.link(trash.name, target.name, src_dir_fd=trash.folder, dst_dir_fd=target.folder, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
            return _rename_back(trash, target)
    sync(target)
    os.unlink(trash.name, dir_fd=trash.folder)
    sync(trash)
    return True


def replace_by_link(pair: Pair, aside: FileRef) -> FileStamp:
    """Have the name of a file lead to the kept one; what it leads to now.

    The link is made aside, and the two names are swapped in one step, so that at no moment anything is missing; what the name
    led to before is looked at, and only then removed.
    """
    pair.look_again()
    if pair.source_seen.device != pair.kept_seen.device:
        raise Refused(ErrorCode.OTHER_FILE_SYSTEM, "a hard link cannot lead to another file system; use the trash")
    _link_aside(pair, aside)
    try:
        made = aside.look()
        if made is None or made.file != pair.kept_seen.file:
            raise Refused(ErrorCode.KEPT_CHANGED, "another file was laid in the kept copy's place a moment ago")
        syscalls.swap((aside.folder, aside.name), (pair.source.folder, pair.source.name))
    except OSError as problem:
        _unlink(aside)
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        raise Refused(
            ErrorCode.LINK_UNSUPPORTED, "this file system cannot swap two names in one step; use the trash"
        ) from None
    except Refused:
        _unlink(aside)
        raise
    return _after_swap(pair, aside, made)


def destroy(pair: Pair) -> None:
    """Remove a file of the trash for good; its copy is seen right before, and right after, and if it is gone then the content
    is written back from what is still open."""
    pair.look_again()
    _unlink(pair.source)
    try:
        pair.check_kept()
    except Refused:
        _write_back(pair)
        raise
    sync(pair.source)


def settle_link(
    pair_of: Callable[[FileRef, FileRef], Pair], aside: FileRef, source: FileRef, kept: FileRef | None
) -> None:
    """Finish or undo a replacement that was begun.

    Raises Refused when what lies aside is not what the name leads to now: then it has to stay.
    """
    lying, there, staying = aside.look(), source.look(), None if kept is None else kept.look()
    if lying is None:
        return
    if there is None:
        # Only a keeper who looks for a file that is gone needs it.
        put_back(aside, source)
    elif lying.file == there.file or (staying is not None and lying.file == staying.file):
        _unlink(aside)
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
        _unlink(aside)
        sync(aside)
    else:
        put_back(aside, target)


def _probe(pair: Pair, trash: FileRef) -> bool:
    """Look for aliases with what is put into the trash for a moment; whether files can be linked there."""
    before = syscalls.links_and_ctime(pair.kept_fd)
    with _laid(pair.source, trash) as probe:
        is_link = probe is trash
        if is_link:
            aliases.refuse_touched(before, syscalls.links_and_ctime(pair.kept_fd))
        aliases.refuse_seen_elsewhere(pair, probe)
    return is_link


@contextmanager
def _laid(source: FileRef, trash: FileRef) -> Iterator[FileRef]:
    """Another name of the file in the trash for a while; where there are no links, an empty file beside it."""
    probe = trash
    try:
        if not _link(source, trash):
            probe = trash.beside(_PROBE)
            os.close(os.open(probe.name, _NEW, 0o600, dir_fd=probe.folder))
    except FileExistsError:
        raise Refused(ErrorCode.TARGET_EXISTS, f"{probe.shown} is there already") from None
    try:
        yield probe
    finally:
        _unlink(probe)


def forget_probe(trash: FileRef) -> None:
    """Take away what a crash left of looking for aliases where there are no links."""
    if (probe := trash.beside(_PROBE)).is_taken():
        _unlink(probe)


def _link(source: FileRef, target: FileRef) -> bool:
    try:
        os.link(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as problem:
        if problem.errno in _NO_LINKS:
            return False
        raise
    return True


def _move_away(source: FileRef, trash: FileRef, *, can_link: bool) -> None:
    """Rename into the trash. The name there is our own and was free a moment ago; still nothing is replaced if that can be had."""
    try:
        syscalls.rename_without_replacing((source.folder, source.name), (trash.folder, trash.name))
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise Refused(
                ErrorCode.OTHER_FILE_SYSTEM, "its trash is on another mount, and files are not copied there"
            ) from None
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        if not can_link:
            # It could be moved away, and not be put back.
            raise _no_safe_move() from None
        os.rename(source.name, trash.name, src_dir_fd=source.folder, dst_dir_fd=trash.folder)


def _rename_back(trash: FileRef, target: FileRef) -> bool:
    try:
        syscalls.rename_without_replacing((trash.folder, trash.name), (target.folder, target.name))
    except FileExistsError:
        return False
    except OSError as problem:
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        raise _no_safe_move() from None
    sync(target, trash)
    return True


def _no_safe_move() -> Refused:
    return Refused(
        ErrorCode.LINK_UNSUPPORTED,
        "this file system can neither link files nor move them without replacing others, so nothing is moved here; "
        "move the file by hand",
    )


def _link_aside(pair: Pair, aside: FileRef) -> None:
    try:
        os.link(pair.kept.name, aside.name, src_dir_fd=pair.kept.folder, dst_dir_fd=aside.folder, follow_symlinks=False)
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise Refused(
                ErrorCode.OTHER_FILE_SYSTEM, "a hard link cannot lead to another mount; use the trash"
            ) from None
        if problem.errno in _NO_LINKS:
            raise Refused(ErrorCode.LINK_UNSUPPORTED, f"no hard link can be made here: {problem.strerror}") from None
        raise


def _after_swap(pair: Pair, aside: FileRef, made: FileStamp) -> FileStamp:
    """Remove what the name led to before, if that and the kept file are still what was compared; else swap back."""
    was_ours = pair.source_seen.is_same_content(aside.look())
    kept_is_whole = pair.kept_seen.is_same_content(FileStamp.of(os.fstat(pair.kept_fd)))
    if not was_ours or not kept_is_whole:
        syscalls.swap((aside.folder, aside.name), (pair.source.folder, pair.source.name))
        lying = aside.look()
        if lying is not None and lying.file == made.file:
            _unlink(aside)
        raise Refused(ErrorCode.FILE_CHANGED, "one of the files changed in the last moment; scan and plan again")
    sync(pair.source, aside)
    _unlink(aside)
    if not pair.kept_seen.is_same_content(FileStamp.of(os.fstat(pair.kept_fd))):
        _copy(pair.source_fd, aside)
        raise Stranded(
            ErrorCode.KEPT_CHANGED,
            f"the kept file was written to in the last moment; the content before is {aside.shown}",
        )
    sync(aside)
    return made


def _write_back(pair: Pair) -> None:
    """Have a content under its name again whose last other copy went in the very moment in which it was removed."""
    _copy(pair.source_fd, pair.source)


def _copy(fd: int, target: FileRef) -> None:
    like = os.fstat(fd)
    copy = os.open(target.name, _NEW, 0o600, dir_fd=target.folder)
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


def _unlink(file: FileRef) -> None:
    os.unlink(file.name, dir_fd=file.folder)
