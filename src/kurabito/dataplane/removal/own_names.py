"""Names of our own beside a file in the trash, for as long as it takes to look at something.

No other program has such a name. A process that stood still past its lease, while another one finished what it had begun, takes
away its own names when it goes on and nothing else.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import Final

from kurabito.dataplane.removal import syscalls
from kurabito.dataplane.removal.file_refs import FileRef, RemovalRefused, sync
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.terms import SECOND_NAME_DIGITS

_LONGEST_HEAD: Final = 64
"""Names in the trash of a library are shorter. `kurabito dedupe` keeps those that files had, some as long as can be."""


def own_name(file: FileRef) -> FileRef:
    """A name beside this one that no other program has."""
    head = file.name if len(file.name) <= _LONGEST_HEAD else ""
    return replace(file, name=f"{head}.{secrets.token_hex(SECOND_NAME_DIGITS // 2)}")


def drop_name(file: FileRef, other: FileRef) -> None:
    """Take a name of a file away that has another one. It is moved aside and looked at first: by now it may be another file."""
    aside = own_name(file)
    os.rename(file.name, aside.name, src_dir_fd=file.folder, dst_dir_fd=aside.folder)
    set_aside, there = aside.look(), other.look()
    if set_aside is not None and there is not None and set_aside.file == there.file:
        unlink(aside)
    else:
        _give_name(aside, file)
        raise RemovalRefused(
            ErrorCode.FILE_CHANGED, "another program moved the file in the same moment; look at it again"
        )


def settle_leftovers(trash: FileRef, *others: FileRef) -> None:
    """Take away other names that a crash left of a file in the trash; one that has no other gets its own back."""
    with os.scandir(trash.folder) as entries:
        names = [entry.name for entry in entries]
    for name in names:
        leftover = replace(trash, name=name)
        if not _is_own_name(name, trash) or (seen := leftover.look()) is None:
            continue
        named = [found.file for found in (trash.look(), *(other.look() for other in others)) if found is not None]
        if seen.file in named or not seen.size:
            unlink(leftover)
        elif not trash.is_taken():
            _give_name(leftover, trash)
        sync(trash)


def unlink(file: FileRef) -> None:
    """Take a name away; raises OSError."""
    os.unlink(file.name, dir_fd=file.folder)


def _give_name(file: FileRef, name: FileRef) -> None:
    """Rename within the trash, without replacing anything where the system can promise that."""
    try:
        syscalls.rename_without_replacing((file.folder, file.name), (name.folder, name.name))
    except OSError as problem:
        if problem.errno not in syscalls.UNSUPPORTED:
            raise
        os.rename(file.name, name.name, src_dir_fd=file.folder, dst_dir_fd=name.folder)


def _is_own_name(name: str, of: FileRef) -> bool:
    head, _, token = name.rpartition(".")
    return head == of.name and len(token) == SECOND_NAME_DIGITS and not set(token) - set("0123456789abcdef")
