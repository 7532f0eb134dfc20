"""How a torrent of libtorrent is doing, in the words of the port."""

from __future__ import annotations

import errno
import os
from typing import Final

import libtorrent as lt

from kurabito.downloads.items import MOST_FILES, DownloadStatus, TransferDetail, TransferFile, TransferStatus, with_text

_CHECKING: Final = frozenset({lt.torrent_status.checking_files, lt.torrent_status.checking_resume_data})


def is_refused(status: lt.torrent_status) -> bool:
    """Whether the disk does not take it: libtorrent only gives to others then what it has, and asks for nothing more."""
    return bool(status.flags & lt.torrent_flags.upload_mode) or status.errc.value() == errno.ENOSPC


def status_of(hash: str, handle: lt.torrent_handle, *, trouble: str | None, is_written: bool) -> DownloadStatus:
    """How a torrent is doing; `trouble` is why the disk does not take it, `is_written` whether it has all that came."""
    status = handle.status()
    # All may have come, and the last of it be written nowhere yet.
    is_unwritten = status.is_finished and not is_written and trouble is not None
    refused = is_unwritten or (is_refused(status) and not status.is_finished)
    if status.errc.value() and not refused:
        word = TransferStatus.ERROR
    elif is_written and status.is_finished and status.has_metadata and status.state not in _CHECKING:
        word = TransferStatus.COMPLETED
    else:
        word = TransferStatus.DOWNLOADING
    return DownloadStatus(
        hash=hash,
        status=word,
        progress=1.0 if word is TransferStatus.COMPLETED else status.progress if status.has_metadata else 0.0,
        size=status.total_wanted,
        rate=status.download_payload_rate,
        peers=status.num_peers,
        detail=_refusal(trouble) if refused else _detail(status),
        content_path=status.save_path,
        files=_files(handle) if word is TransferStatus.COMPLETED else None,
    )


def _files(handle: lt.torrent_handle) -> tuple[TransferFile, ...] | None:
    """The files as libtorrent laid them below the folder, without what only fills pieces up."""
    known = handle.torrent_file()
    if known is None or known.num_files() > MOST_FILES:
        return None
    layout, renamed = known.layout(), handle.get_renamed_files()
    return tuple(
        # Of two names that are one on some disks, the second is another on the disk than in the torrent.
        TransferFile(renamed.file_path(layout, at), layout.file_size(at), is_complete=True)
        for at in range(layout.num_files())
        if not layout.file_flags(at) & lt.file_storage.flag_pad_file
    )


def _refusal(trouble: str | None) -> str:
    if trouble is None or trouble == os.strerror(errno.ENOSPC):
        return TransferDetail.NO_ROOM
    return with_text(TransferDetail.UNWRITABLE, trouble)


def _detail(status: lt.torrent_status) -> str | None:
    if status.errc.value() and status.error_file >= 0:
        return with_text(TransferDetail.UNWRITABLE, status.errc.message())
    if status.errc.value():
        return status.errc.message()
    if status.is_finished:
        return None if status.paused else TransferDetail.SEEDING
    if status.paused:
        return TransferDetail.QUEUED if status.flags & lt.torrent_flags.auto_managed else TransferDetail.PAUSED
    if status.state in _CHECKING:
        return TransferDetail.CHECKING
    return None if status.has_metadata else TransferDetail.METADATA
