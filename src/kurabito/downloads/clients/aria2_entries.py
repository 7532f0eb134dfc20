"""What aria2 says of one download: whose it is, how far it is, and which files it has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kurabito.downloads.clients.leftovers import remove_files
from kurabito.downloads.items import MOST_FILES, DownloadStatus, Owner, TransferDetail, TransferFile, TransferStatus

Entry = Mapping[str, Any]

GONE: Final = frozenset({"error", "removed"})
_DETAILS: Final = {"paused": TransferDetail.PAUSED, "waiting": TransferDetail.QUEUED}
_OWN_TORRENT: Final = re.compile(r"[0-9a-f]{40}\.torrent")


def is_ours(hash: str, entry: Entry, noted: Mapping[str, str]) -> bool:
    """Whether we added this: under an id that we noted, or following one. After a restart aria2 begins with the first id."""
    ids = {noted[hash], hash[:16]} if hash in noted else set()
    return entry["gid"] in ids or entry.get("following") in ids


def owner_of(hash: str, entry: Entry, noted: Mapping[str, str]) -> Owner:
    """Who added this."""
    return Owner.KURABITO if is_ours(hash, entry, noted) else Owner.USER


def _is_metadata(entry: Entry) -> bool:
    """Whether this only finds out what is in the torrent."""
    return any(file["path"].startswith("[METADATA]") for file in entry["files"])


def is_complete(entry: Entry) -> bool:
    """Whether all that was selected is on the disk."""
    return not _is_metadata(entry) and (entry["status"] == "complete" or entry.get("seeder") == "true")


def files_of(entry: Entry) -> list[Path]:
    """The files of a download, and where aria2 notes how far it is."""
    paths = [Path(file["path"]) for file in entry["files"] if file["path"] and not _is_metadata(entry)]
    name = entry.get("bittorrent", {}).get("info", {}).get("name")
    notes = [Path(entry["dir"]) / f"{name}.aria2"] if name else [path.with_name(f"{path.name}.aria2") for path in paths]
    return [*paths, *notes]


def _files_below(entry: Entry) -> tuple[TransferFile, ...] | None:
    """The files as they lie below the folder of the download; None if one lies elsewhere, or if there are too many."""
    folder = entry["dir"].rstrip("/") + "/"
    listed = entry["files"]
    if len(listed) > MOST_FILES or not all(file["path"].startswith(folder) for file in listed):
        return None
    # Files are asked for only once the download is complete, and then each selected file is.
    selected = [file["selected"] == "true" for file in listed]
    return tuple(
        TransferFile(file["path"].removeprefix(folder), int(file["length"]), is_wanted, is_complete=is_wanted)
        for file, is_wanted in zip(listed, selected, strict=True)
    )


def clear_folder(folder: Path, gone: Sequence[Path]) -> None:
    """Remove these, and the torrent file that aria2 laid there: it is named by its own hash, and of no more use."""
    torrents = [path for path in folder.glob("*.torrent") if _OWN_TORRENT.fullmatch(path.name)]
    remove_files(folder, [*gone, *torrents])


def status_of(hash: str, entry: Entry, owner: Owner) -> DownloadStatus:
    """How a download is doing, in the words of the port."""
    is_metadata, state = _is_metadata(entry), entry["status"]
    total, done = (0, 0) if is_metadata else (int(entry["totalLength"]), int(entry["completedLength"]))
    # Whatever follows a magnet link is another download. There is none when aria2 does not like what is in it.
    is_refused = is_metadata and state == "complete"
    detail: str | None
    if is_refused or state in GONE:
        status = TransferStatus.ERROR
        detail = TransferDetail.CONTENT_REFUSED if is_refused else entry.get("errorMessage") or state
    elif is_complete(entry):
        status, detail = TransferStatus.COMPLETED, TransferDetail.SEEDING if state == "active" else None
    else:
        status = TransferStatus.DOWNLOADING
        detail = _DETAILS.get(state) or (TransferDetail.METADATA if is_metadata else None)
    return DownloadStatus(
        hash=hash,
        status=status,
        progress=done / total if total else float(status is TransferStatus.COMPLETED),
        size=total,
        rate=int(entry["downloadSpeed"]),
        peers=int(entry["connections"]),
        detail=detail,
        owner=owner,
        content_path=entry["dir"] or None,
        files=_files_below(entry) if status is TransferStatus.COMPLETED else None,
    )
