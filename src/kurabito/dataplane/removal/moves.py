"""Into the trash, and back.

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
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, RemovalRefused, Stranded, sync
from kurabito.dataplane.removal.own_names import drop_name, own_name, unlink
from kurabito.dataplane.removal.pairs import Pair
from kurabito.protocol.error_codes import ErrorCode

Check = Callable[[], None]
"""Called before a move is undone: raises when that is for another to do by now."""

NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EINVAL}
)


def move_to_trash(pair: Pair, trash: FileRef, is_ours: Check = lambda: None) -> FileStamp:
    """Move a file that was compared into the trash; what lies there now.

    The copy that stays is looked at again once the file is moved. If it is gone then, or was this very file, the file is put
    back and RemovalRefused is raised; Stranded when it cannot be put back because another file has its name.
    """
    pair.look_again()
    aliases.refuse_twins(pair)
    can_link = _probe(pair, trash)
    _move_away(pair.source, trash, can_link=can_link)
    try:
        if not pair.source_seen.is_same_content(trash.look()):
            raise RemovalRefused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
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
    trashed, there = trash.look(), target.look()
    if trashed is None:
        return False
    if there is None or there.file != trashed.file:
        try:
            # A link never takes the place of another file, as a rename would.
            os.link(trash.name, target.name, src_dir_fd=trash.folder, dst_dir_fd=target.folder, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as problem:
            if problem.errno not in NO_LINKS:
                raise
            return _rename_back(trash, target)
    sync(target)
    drop_name(trash, target)
    sync(trash)
    return True


def _probe(pair: Pair, trash: FileRef) -> bool:
    """Look for aliases with what is put into the trash for a moment; whether files can be linked there."""
    before = syscalls.links_and_ctime(pair.kept_fd)
    with _laid(pair.source, trash) as (probe, is_link):
        if is_link:
            aliases.refuse_touched(before, syscalls.links_and_ctime(pair.kept_fd))
        aliases.refuse_seen_elsewhere(pair, probe)
    return is_link


@contextmanager
def _laid(source: FileRef, trash: FileRef) -> Iterator[tuple[FileRef, bool]]:
    """Another name of the file in the trash for a while, or an empty file where there are no links; and whether it is a link."""
    if trash.is_taken():
        raise RemovalRefused(ErrorCode.TARGET_EXISTS, f"{trash.shown} is there already")
    probe = own_name(trash)
    is_link = try_link(source, probe)
    if not is_link:
        os.close(os.open(probe.name, NEW, 0o600, dir_fd=probe.folder))
    try:
        yield probe, is_link
    finally:
        unlink(probe)


def try_link(source: FileRef, target: FileRef) -> bool:
    """Give a file another name; false where there are no links. Raises FileExistsError."""
    try:
        os.link(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as problem:
        if problem.errno in NO_LINKS:
            return False
        raise
    return True


def _move_away(source: FileRef, trash: FileRef, *, can_link: bool) -> None:
    """Rename into the trash. The name there is our own and was free a moment ago; still nothing is replaced if the system can promise that."""
    try:
        syscalls.rename_without_replacing((source.folder, source.name), (trash.folder, trash.name))
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise RemovalRefused(
                ErrorCode.OTHER_FILE_SYSTEM, "its trash is on another mount, and files are not copied there"
            ) from None
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        if not can_link:
            # It could be moved away, and not be put back.
            raise no_safe_move() from None
        os.rename(source.name, trash.name, src_dir_fd=source.folder, dst_dir_fd=trash.folder)


def _rename_back(trash: FileRef, target: FileRef) -> bool:
    try:
        syscalls.rename_without_replacing((trash.folder, trash.name), (target.folder, target.name))
    except FileExistsError:
        return False
    except OSError as problem:
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        raise no_safe_move() from None
    sync(target, trash)
    return True


def no_safe_move() -> RemovalRefused:
    """Why nothing is moved on a file system that may replace a file unseen."""
    return RemovalRefused(
        ErrorCode.LINK_UNSUPPORTED,
        "this file system can neither link files nor move them without replacing others, so nothing is moved here; "
        "move the file by hand",
    )
