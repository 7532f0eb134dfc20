"""The modes in which a file comes into its place. The final name appears once, with the whole content behind it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.placing import copies
from kurabito.dataplane.placing.placement_row import LeasedPlacement
from kurabito.dataplane.placing.refusals import PlacementRefused, refusal_of
from kurabito.dataplane.placing.staged_file import can_link_open, link, link_open, stage
from kurabito.dataplane.removal import syscalls
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused, sync
from kurabito.dataplane.removal.moves import NO_LINKS
from kurabito.dataplane.removal.own_names import drop_name, settle_leftovers
from kurabito.dataplane.removal.pairs import Pair, open_pair
from kurabito.dataplane.removal.replacement import destroy
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy, PlacementMode

_FICLONE: Final = 0x40049409
_NO_CLONES: Final = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.ENOSYS})
_IMPOSSIBLE: Final = frozenset({ErrorCode.LINK_UNSUPPORTED, ErrorCode.OTHER_FILE_SYSTEM})
"""Refusals of one mode that leave the next one to be tried."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A file that is in its place."""

    method: PlacedBy
    seen: FileStamp
    content_hash: bytes | None = None


@dataclass(frozen=True, slots=True)
class OpenSource:
    """The file that is to come into its place, open."""

    file: FileRef
    fd: int
    seen: FileStamp


class PlacementModes:
    """Brings the file of one placement to its target, which was free a moment ago."""

    def __init__(self, row: LeasedPlacement, roots: OpenRoots[str], *, source_shown: str, target_shown: str) -> None:
        self._row = row
        self._roots = roots
        self._source_shown = source_shown
        self._shown = target_shown
        self._modes = [PlacementMode(mode) for mode in (row.values["mode"], *json.loads(row.values["fallbacks"]))]

    def put(self, source: OpenSource | None, target: FileRef) -> Placed:
        """Try one mode after the other; the first refusal says why the preferred one is not possible."""
        first: PlacementRefused | None = None
        for mode in self._modes:
            try:
                return self._put_as(mode, source, target)
            except PlacementRefused as refused:
                if refused.error_code not in _IMPOSSIBLE:
                    raise
                first = first or refused
        assert first is not None
        raise first

    def _put_as(self, mode: PlacementMode, source: OpenSource | None, target: FileRef) -> Placed:
        if source is None:
            return self._write(target)
        match mode:
            case PlacementMode.LINK:
                return self._link(source, target)
            case PlacementMode.REFLINK:
                return self._make(PlacedBy.REFLINK, target, lambda fd: _clone(source, fd, self._shown), source)
            case PlacementMode.MOVE | PlacementMode.RENAME:
                return self._move(PlacedBy(mode), source, target)
            case _:
                return self._copy(PlacedBy.COPY, source, target)

    def _link(self, source: OpenSource, target: FileRef) -> Placed:
        self._row.intend(PlacedBy.LINK, source.seen, None, durable=False)
        try:
            if can_link_open():
                link_open(source.fd, target)
            else:
                link(source.file, target)
        except FileExistsError:
            raise
        except OSError as problem:
            raise _no_link(problem, self._shown) from None
        sync(target)
        return Placed(PlacedBy.LINK, source.seen)

    def _copy(self, method: PlacedBy, source: OpenSource, target: FileRef) -> Placed:
        def fill(fd: int) -> bytes:
            digest, copied = copies.copy(source.fd, fd, self._row.check)
            if copied != source.seen.size or not source.seen.is_same_content(FileStamp.of(os.fstat(source.fd))):
                raise PlacementRefused(ErrorCode.FILE_CHANGED, path=self._source_shown)
            return digest

        self._refuse_without_room(target, source.seen.size)
        return self._make(method, target, fill, source)

    def _write(self, target: FileRef) -> Placed:
        content = bytes(self._row.values["content"] or b"")

        def fill(fd: int) -> None:
            copies.write_all(fd, memoryview(content))

        self._refuse_without_room(target, len(content))
        return self._make(PlacedBy.WRITE, target, fill)

    def _make(
        self, method: PlacedBy, target: FileRef, fill: Callable[[int], bytes | None], source: OpenSource | None = None
    ) -> Placed:
        """Make a file beside its place, and have it there once it is whole and on the disk."""
        with stage(target, self._row.id) as staged:
            digest = fill(staged.fd)
            if source is not None:
                os.utime(staged.fd, ns=(source.seen.mtime_ns, source.seen.mtime_ns))
            os.fsync(staged.fd)
            seen = FileStamp.of(os.fstat(staged.fd))
            self._row.intend(method, seen, digest)
            staged.publish()
        sync(target)
        return Placed(method, seen, digest)

    def _move(self, method: PlacedBy, source: OpenSource, target: FileRef) -> Placed:
        self._row.intend(method, source.seen, None)
        try:
            syscalls.rename_without_replacing((source.file.folder, source.file.name), (target.folder, target.name))
        except OSError as problem:
            if problem.errno == errno.EXDEV:
                placed = self._copy(method, source, target)
                self.take_source_away(source, target)
                return placed
            if problem.errno not in syscalls.UNSUPPORTED:
                raise
            link(source.file, target)
            self.take_source_away(source, target)
        if not source.seen.is_same_content(target.look()):
            # Another file was laid in its place a moment ago: that one goes back.
            syscalls.rename_without_replacing((target.folder, target.name), (source.file.folder, source.file.name))
            raise PlacementRefused(ErrorCode.FILE_CHANGED, path=self._source_shown)
        sync(target, source.file)
        return Placed(method, source.seen)

    def is_equal(self, source: OpenSource, target: FileRef) -> bool:
        try:
            self._compared(source, target)
        except RemovalRefused:
            return False
        return True

    def _compared(self, source: OpenSource, target: FileRef) -> Pair:
        pair = open_pair(self._roots, source.file, target)
        pair.compare(self._row.check)
        return pair

    def take_source_away(self, source: OpenSource | None, target: FileRef) -> None:
        """Finish a move whose file has its new name: the old name goes, or the old file after it was compared with the new."""
        if source is None:
            self._settle_source(target)
        elif (there := target.look()) is not None and there.file == source.seen.file:
            drop_name(source.file, target)
            sync(source.file)
        else:
            pair = self._compared(source, target)
            self._row.see_that_it_is_ours()
            destroy(pair)

    def _settle_source(self, target: FileRef) -> None:
        """Take away what a crash left of the old name while it was taken away."""
        try:
            settle_leftovers(self._roots.file(self._row.source_root, self._row.values["source_path"]), target)
        except (FileNotFoundError, RootUnavailable):
            return

    def _refuse_without_room(self, target: FileRef, needed: int) -> None:
        found = os.fstatvfs(target.folder)
        left = found.f_bavail * found.f_frsize - self._row.values["reserve_bytes"]
        if needed > left:
            raise PlacementRefused(ErrorCode.DISK_FULL, path=self._shown, needed_bytes=needed, left_bytes=max(0, left))


def _clone(source: OpenSource, fd: int, shown: str) -> None:
    try:
        fcntl.ioctl(fd, _FICLONE, source.fd)
    except OSError as problem:
        if problem.errno == errno.EXDEV:
            raise PlacementRefused(ErrorCode.OTHER_FILE_SYSTEM, path=shown) from None
        if problem.errno not in _NO_CLONES:
            raise
        raise PlacementRefused(ErrorCode.LINK_UNSUPPORTED, path=shown, problem=problem.strerror) from None


def _no_link(problem: OSError, shown: str) -> PlacementRefused:
    if problem.errno == errno.EXDEV:
        return PlacementRefused(ErrorCode.OTHER_FILE_SYSTEM, path=shown)
    if problem.errno in NO_LINKS and problem.errno != errno.EACCES:
        return PlacementRefused(ErrorCode.LINK_UNSUPPORTED, path=shown, problem=problem.strerror)
    return refusal_of(problem, shown)
