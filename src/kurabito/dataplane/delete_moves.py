"""What a delete job does to the disk: two files are compared, and one of them is moved away or becomes a link.

Every function leaves both contents somewhere at every moment, so that a crash between any two lines loses nothing.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kurabito.dataplane.delete_places import Place, Refused, Seen, Visit
from kurabito.protocol.codes import ErrorCode

_BLOCK: Final = 1 << 20
_FICLONE: Final = 0x40049409
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_NO_CLONES: Final = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EINVAL, errno.EXDEV})


@dataclass(frozen=True, slots=True)
class Pair:
    """A file that is to go and the copy that stays, both held open."""

    source: Place
    source_fd: int
    source_seen: Seen
    kept: Place
    kept_fd: int
    kept_seen: Seen

    def compare(self, between: Callable[[], None]) -> None:
        """Read both to the end; raises Refused unless they are the same to the last byte. `between` is called often."""
        if self.source_seen.file == self.kept_seen.file:
            raise Refused(ErrorCode.SAME_FILE, "both paths lead to one and the same file, which is its own last copy")
        offset = 0
        while True:
            between()
            ours, theirs = os.pread(self.source_fd, _BLOCK, offset), os.pread(self.kept_fd, _BLOCK, offset)
            if ours != theirs:
                raise Refused(ErrorCode.CONTENT_DIFFERS, "the two files are not the same; hash them again")
            if not ours:
                return
            offset += len(ours)

    def look_again(self) -> None:
        """See that both names still lead to what was compared, untouched; raises Refused."""
        if self.source.look() != self.source_seen:
            raise Refused(ErrorCode.FILE_CHANGED, "the file changed while it was compared; scan and plan again")
        if self.kept.look() != self.kept_seen:
            raise Refused(ErrorCode.KEPT_CHANGED, "the kept copy changed while it was compared; scan and plan again")


def open_pair(visit: Visit, source: Place, kept: Place) -> Pair:
    """Both files, open; raises Refused when one is not there or is no regular file."""
    source_seen, kept_seen = source.look(), kept.look()
    if source_seen is None:
        raise Refused(ErrorCode.FILE_MISSING, "the file is not there any more")
    if kept_seen is None:
        raise Refused(ErrorCode.KEPT_MISSING, "the kept copy is not there any more, so this one stays")
    source_fd, kept_fd = visit.open_file(source), visit.open_file(kept)
    if Seen.of(os.fstat(source_fd)) != source_seen:
        raise Refused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
    if Seen.of(os.fstat(kept_fd)) != kept_seen:
        raise Refused(ErrorCode.KEPT_CHANGED, "another file was laid in the kept copy's place a moment ago")
    return Pair(source, source_fd, source_seen, kept, kept_fd, kept_seen)


def move_to_trash(pair: Pair, trash: Place) -> Seen:
    """Rename it into the trash; what lies there now. Whoever catches an error puts back what was moved."""
    os.rename(pair.source.name, trash.name, src_dir_fd=pair.source.folder, dst_dir_fd=trash.folder)
    if not pair.source_seen.is_same_content(trash.look()):
        # In the last moment somebody laid another file there, and it is this one that we moved.
        raise Refused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
    _sync(trash, pair.source)
    return pair.source_seen


def replace_by_link(pair: Pair, trash: Place) -> Seen:
    """Have its name lead to the kept file; what it leads to now. The link is made aside and renamed into place."""
    if pair.source_seen.device != pair.kept_seen.device:
        raise Refused(ErrorCode.OTHER_FILE_SYSTEM, "a hard link cannot lead to another file system; use the trash")
    try:
        os.link(
            pair.kept.name,
            trash.name,
            src_dir_fd=pair.kept.folder,
            dst_dir_fd=trash.folder,
            follow_symlinks=False,
        )
    except OSError as problem:
        if problem.errno in _NO_LINKS:
            raise Refused(ErrorCode.LINK_UNSUPPORTED, f"no hard link can be made here: {problem.strerror}") from None
        raise
    return _swap_in(pair, trash, pair.kept_seen)


def replace_by_clone(pair: Pair, trash: Place) -> Seen:
    """Have it share its blocks with the kept file; what its name leads to now. Mode, owner and times stay its own."""
    clone = os.open(trash.name, _NEW, 0o600, dir_fd=trash.folder)
    try:
        try:
            fcntl.ioctl(clone, _FICLONE, pair.kept_fd)
        except OSError as problem:
            os.unlink(trash.name, dir_fd=trash.folder)
            if problem.errno in _NO_CLONES:
                raise Refused(
                    ErrorCode.LINK_UNSUPPORTED,
                    "this file system cannot share blocks between files; use the trash or hard links",
                ) from None
            raise
        _dress(clone, os.fstat(pair.source_fd))
        os.fsync(clone)
        made = Seen.of(os.fstat(clone))
    finally:
        os.close(clone)
    return _swap_in(pair, trash, made)


def put_back(trash: Place, target: Place) -> bool:
    """Move a file out of the trash to a place where nothing is; false when something is there."""
    lying, there = trash.look(), target.look()
    if lying is None:
        return False
    if there is None or there.file != lying.file:
        try:
            # A link, because it never takes the place of another file as a rename would.
            os.link(trash.name, target.name, src_dir_fd=trash.folder, dst_dir_fd=target.folder, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
            if target.is_taken():
                return False
            os.rename(trash.name, target.name, src_dir_fd=trash.folder, dst_dir_fd=target.folder)
            _sync(target, trash)
            return True
    _sync(target)
    os.unlink(trash.name, dir_fd=trash.folder)
    _sync(trash)
    return True


def discard(aside: Place, target: Place) -> None:
    """Take away what was made aside and never renamed into place."""
    if aside.look() is None:
        return
    if target.is_taken():
        os.unlink(aside.name, dir_fd=aside.folder)
    else:
        # Nobody needs it but whoever looks for the file that is gone.
        put_back(aside, target)


def remove(place: Place) -> None:
    """Remove it for good."""
    try:
        os.unlink(place.name, dir_fd=place.folder)
    except FileNotFoundError:
        return
    _sync(place)


def _swap_in(pair: Pair, aside: Place, made: Seen) -> Seen:
    """Rename what was made aside over the file that goes, if both files are still what was compared."""
    laid = aside.look()
    kept = Seen.of(os.fstat(pair.kept_fd))
    unchanged = pair.source.look() == pair.source_seen and pair.kept_seen.is_same_content(kept)
    if laid is None or laid.file != made.file or not unchanged:
        os.unlink(aside.name, dir_fd=aside.folder)
        raise Refused(ErrorCode.FILE_CHANGED, "one of the files changed in the last moment; scan and plan again")
    os.rename(aside.name, pair.source.name, src_dir_fd=aside.folder, dst_dir_fd=pair.source.folder)
    _sync(pair.source, aside)
    return laid


def _dress(clone: int, like: os.stat_result) -> None:
    os.fchmod(clone, like.st_mode & 0o7777)
    try:
        os.fchown(clone, like.st_uid, like.st_gid)
    except PermissionError:
        # Only root may give files away; whoever may replace this one can also own it.
        pass
    os.utime(clone, ns=(like.st_atime_ns, like.st_mtime_ns))


def _sync(*places: Place) -> None:
    """Have the renames on the disk before the database says that they were made."""
    for place in places:
        os.fsync(place.folder)
