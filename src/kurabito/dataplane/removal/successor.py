"""A file takes the place of another one of other content, which goes to the trash.

    aside   the name of the old file in the trash; nothing else ever has it
    fresh   a name beside it: the new file before the two are swapped, the old one right after

The new file is in the place first: both names are swapped in one step, and what came out is looked at before it is taken for the
old file. Where names cannot be swapped, the old file goes to the trash and the new one gets the free name, so that nothing is
ever replaced unseen. At every moment each content has a name, and the names alone tell how far it came.
"""

from __future__ import annotations

from typing import Final

from kurabito.dataplane.removal import syscalls
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, RemovalRefused, sync
from kurabito.dataplane.removal.moves import no_safe_move, try_link
from kurabito.dataplane.removal.own_names import drop_name
from kurabito.protocol.error_codes import ErrorCode

FRESH: Final = ".new"
"""What `fresh` has behind the name of `aside`."""


def change_places(fresh: FileRef, target: FileRef, aside: FileRef, old: FileStamp) -> None:
    """Have the file at `fresh` take the place of the old one at `target`, which is in the trash then.

    Raises RemovalRefused when another file was laid there a moment ago; that one stays, and the new one is at `fresh`.
    """
    try:
        syscalls.swap((fresh.folder, fresh.name), (target.folder, target.name))
    except OSError as problem:
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        retire(target, aside, old)
        move(fresh, target)
        sync(target, fresh)
        return
    if not old.is_same_content(fresh.look()):
        syscalls.swap((fresh.folder, fresh.name), (target.folder, target.name))
        raise _changed()
    sync(target, fresh)
    move(fresh, aside)
    sync(aside)


def retire(file: FileRef, aside: FileRef, seen: FileStamp) -> None:
    """Move a file to the trash, if it is the one that was seen; raises RemovalRefused when it is another by now."""
    move(file, aside)
    if not seen.is_same_content(aside.look()):
        move(aside, file)
        raise _changed()
    sync(aside, file)


def move(file: FileRef, target: FileRef) -> None:
    """Give a file another name, on the same file system and never that of another file; raises FileExistsError."""
    there, own = target.look(), file.look()
    if there is not None and own is not None and there.file == own.file:
        # A crash came between the two names, where files are moved by a link.
        drop_name(file, target)
        return
    try:
        syscalls.rename_without_replacing((file.folder, file.name), (target.folder, target.name))
    except OSError as problem:
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        if not try_link(file, target):
            raise no_safe_move() from None
        sync(target)
        drop_name(file, target)


def _changed() -> RemovalRefused:
    return RemovalRefused(ErrorCode.FILE_CHANGED, "the file that was to be replaced is another one by now, and stays")
