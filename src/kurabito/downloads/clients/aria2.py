"""aria2, through its JSON-RPC.

We choose the id of what we add: the beginning of its hash. A magnet link gets a second id from aria2 once it knows what is
in the torrent, so the ids are kept. They also tell what is ours, as aria2 has no labels: an id is noted before anything is
added under it, and what has another id, or none that we noted, is its user's.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.clients.aria2_rpc import Aria2Rpc
from kurabito.downloads.clients.calling import Calls
from kurabito.downloads.clients.leftovers import remove_files
from kurabito.downloads.clients.native_ids import NativeIds
from kurabito.downloads.clients.sources import SourceReader, SourceRefused, TorrentSource
from kurabito.downloads.errors import TransferNotFound, TransferNotOurs
from kurabito.downloads.items import (
    MOST_FILES,
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    Owner,
    TransferFile,
    TransferStatus,
)
from kurabito.http import Outbound
from kurabito.logs import get_logger

log = get_logger(__name__)

ARIA2_TYPES: Final = (DownloadType.MAGNET, DownloadType.TORRENT, DownloadType.HTTP)

_KEYS: Final = [
    "gid", "status", "infoHash", "totalLength", "completedLength", "downloadSpeed", "connections", "seeder",
    "errorCode", "errorMessage", "followedBy", "following", "dir", "files", "bittorrent",
]  # fmt: skip
# A plain file that happens to be a torrent is what was asked for, not a reason to download more.
_PLAIN: Final = {
    "follow-torrent": "false",
    "follow-metalink": "false",
    "continue": "true",
    "auto-file-renaming": "false",
}
_OVER: Final = frozenset({"complete", "error", "removed"})
_GONE: Final = frozenset({"error", "removed"})
_MOST: Final = 100_000
_LOOKS: Final = 50
_BETWEEN_LOOKS: Final = 0.1
# Another download of the same torrent was there first.
_REGISTERED_TWICE: Final = "12"

_QUEUED: Final = "queued"
_NO_SLOT: Final = f"{_QUEUED}: torrents that seed hold all slots of aria2; start it with --bt-detach-seed-only=true"
_OWN_TORRENT: Final = re.compile(r"[0-9a-f]{40}\.torrent")

Entry = Mapping[str, Any]


class Aria2Client:
    """Adds to, and asks, an aria2 that runs somewhere."""

    def __init__(self, calls: Calls, outbound: Outbound, ids: NativeIds) -> None:
        self._rpc = Aria2Rpc(calls)
        self._is_on_this_machine = calls.is_on_this_machine
        self._taking = SourceReader(outbound, ARIA2_TYPES)
        self._ids = ids
        self._seeds_beside = True

    async def login(self, username: str, password: str) -> None:
        """aria2 knows no names; its secret is the password."""
        self._rpc.secret = password
        await self._rpc.do("aria2.getVersion")
        (options,) = await self._rpc.batch([("aria2.getGlobalOption",)])
        # It can only be said when aria2 is started.
        self._seeds_beside = (options or {}).get("bt-detach-seed-only") == "true"
        if not self._seeds_beside:
            log.warning("torrents that seed take the slots of aria2; start it with --bt-detach-seed-only=true")

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        # Told apart here: each item would else say for itself that nobody is there.
        await self._rpc.do("aria2.getVersion")
        return await self._taking.each(items, self._add)

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        there = await self._find(hashes)
        noted = await self._ids.of(list(there))
        found = {hash: entry for hash, entry in there.items() if _is_ours(hash, entry, noted)}
        for hash, entry in found.items():
            await self._remove(hash, entry, delete_files=not _is_complete(entry))
        return [
            CancelResult(hash, CancelStatus.CANCELLED if hash in found else CancelStatus.NOT_FOUND) for hash in hashes
        ]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        found = await self._find(hashes)
        if not hashes:
            await self._rpc.do("aria2.getVersion")
        noted = await self._ids.of(list(found))
        told = [_status(hash, found[hash], _owner(hash, found[hash], noted)) for hash in hashes if hash in found]
        if not self._seeds_beside and any(status.detail == _QUEUED for status in told):
            (active,) = await self._rpc.batch([("aria2.tellActive", ["seeder"])])
            if any(entry.get("seeder") == "true" for entry in active or ()):
                return [replace(one, detail=_NO_SLOT) if one.detail == _QUEUED else one for one in told]
        return told

    async def pause_torrent(self, hash: str) -> None:
        entry = await self._one(hash)
        if entry["status"] in ("active", "waiting"):
            await self._rpc.do("aria2.forcePause", entry["gid"])

    async def resume_torrent(self, hash: str) -> None:
        entry = await self._one(hash)
        if entry["status"] == "paused":
            await self._rpc.do("aria2.unpause", entry["gid"])

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:
        # A delete that was killed may have got as far as having it removed.
        await self._remove(hash, await self._one(hash, even_removed=True), delete_files=delete_files)

    async def _add(self, offer: TorrentSource) -> Owner:
        there = (await self._find([offer.hash])).get(offer.hash)
        if there is not None:
            owner = _owner(offer.hash, there, await self._ids.of([offer.hash]))
            if there["status"] not in _GONE:
                return owner
            if owner is Owner.KURABITO:
                await self._remove(offer.hash, there, delete_files=False)
        gid = offer.hash[:16]
        # A magnet link keeps its id when only what followed it was removed.
        await self._rpc.ask("aria2.removeDownloadResult", gid)
        await self._ids.put(offer.hash, gid)
        options = {"dir": offer.item.save_path, "gid": gid}
        if offer.torrent is not None:
            await asyncio.to_thread(self._make_folder, Path(offer.item.save_path))
            content = base64.b64encode(offer.torrent.content).decode("ascii")
            problem = await self._rpc.ask("aria2.addTorrent", content, [], options)
        elif offer.kind is DownloadType.MAGNET:
            problem = await self._rpc.ask("aria2.addUri", [offer.item.url], options)
        else:
            problem = await self._rpc.ask("aria2.addUri", [offer.item.url], {**_PLAIN, **options})
        if problem is None:
            return Owner.KURABITO
        # Somebody else may have added it in between, such as a service that was killed after it had asked.
        there = (await self._find([offer.hash])).get(offer.hash)
        if there is None:
            await self._ids.drop(offer.hash)
            raise SourceRefused(f"aria2 does not take it: {problem}")
        return _owner(offer.hash, there, await self._ids.of([offer.hash]))

    async def _remove(self, hash: str, entry: Entry, *, delete_files: bool) -> None:
        entry = await self._end(hash, entry)
        gids = [gid for gid in (entry["gid"], entry.get("following")) if gid]
        # All at once, and before the files go: nothing is ever said to be complete that has none.
        await self._rpc.batch([("aria2.removeDownloadResult", gid) for gid in gids])
        await self._ids.drop(hash)
        await asyncio.to_thread(_clear, Path(entry["dir"]), _files(entry) if delete_files else [])

    async def _end(self, hash: str, entry: Entry) -> Entry:
        """What is left of a download once it has let go of its files.

        It is looked at again until it is over, even where aria2 says that it has nothing to remove: a magnet link that
        learns at this moment what is in its torrent has ended, and what follows it has begun.
        """
        for _ in range(_LOOKS):
            if entry["status"] in _OVER:
                return entry
            await self._rpc.ask("aria2.forceRemove", entry["gid"])
            now = (await self._find([hash])).get(hash)
            if now is None:
                return entry
            if now["gid"] == entry["gid"] and now["status"] not in _OVER:
                await asyncio.sleep(_BETWEEN_LOOKS)
            entry = now
        raise self._rpc.failed("aria2.forceRemove", f"{hash} is still there")

    def _make_folder(self, folder: Path) -> None:
        """aria2 knows a torrent after its next start only if it could lay its file there, and makes no folder for that."""
        if self._is_on_this_machine:
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)

    async def _one(self, hash: str, *, even_removed: bool = False) -> Entry:
        entry = (await self._find([hash])).get(hash)
        if entry is None or (entry["status"] == "removed" and not even_removed):
            raise TransferNotFound(f"aria2 has no download {hash}; it may have been removed there")
        if not _is_ours(hash, entry, await self._ids.of([hash])):
            raise TransferNotOurs("aria2", hash)
        return entry

    async def _find(self, hashes: Sequence[str]) -> dict[str, Entry]:
        """What aria2 has of these: by the id that was kept, else by the torrent's own hash."""
        if not hashes:
            return {}
        kept = await self._ids.of(hashes)
        gids = {hash: kept.get(hash, hash[:16]) for hash in hashes}
        found: dict[str, Entry] = {}
        while gids:
            entries = await self._tell(list(gids.values()))
            following = {}
            for (hash, _), entry in zip(gids.items(), entries, strict=True):
                if entry is None or entry.get("errorCode") == _REGISTERED_TWICE:
                    continue
                if entry.get("followedBy"):
                    following[hash] = entry["followedBy"][0]
                    # Only of what is ours: to note an id is to say so.
                    if _is_ours(hash, entry, kept):
                        await self._ids.put(hash, following[hash])
                else:
                    found[hash] = entry
            gids = following
        if missing := [hash for hash in hashes if hash not in found]:
            by_hash = await self._torrents()
            found |= {hash: by_hash[hash] for hash in missing if hash in by_hash}
        return found

    async def _tell(self, gids: Sequence[str]) -> list[Entry | None]:
        return await self._rpc.batch([("aria2.tellStatus", gid, _KEYS) for gid in gids])

    async def _torrents(self) -> dict[str, Entry]:
        """Every torrent that aria2 has, by its hash."""
        lists = [
            ("aria2.tellStopped", 0, _MOST, _KEYS),
            ("aria2.tellWaiting", 0, _MOST, _KEYS),
            ("aria2.tellActive", _KEYS),
        ]
        entries = [entry for answer in await self._rpc.batch(lists) for entry in answer or ()]
        return {
            entry["infoHash"]: entry
            for entry in entries
            if entry.get("infoHash") and not entry.get("followedBy") and entry.get("errorCode") != _REGISTERED_TWICE
        }


def _is_ours(hash: str, entry: Entry, noted: Mapping[str, str]) -> bool:
    """Whether we added this: under an id that we noted, or following one. After a restart aria2 begins with the first id."""
    ids = {noted[hash], hash[:16]} if hash in noted else set()
    return entry["gid"] in ids or entry.get("following") in ids


def _owner(hash: str, entry: Entry, noted: Mapping[str, str]) -> Owner:
    return Owner.KURABITO if _is_ours(hash, entry, noted) else Owner.USER


def _is_metadata(entry: Entry) -> bool:
    """Whether this only finds out what is in the torrent."""
    return any(file["path"].startswith("[METADATA]") for file in entry["files"])


def _is_complete(entry: Entry) -> bool:
    return not _is_metadata(entry) and (entry["status"] == "complete" or entry.get("seeder") == "true")


def _files(entry: Entry) -> list[Path]:
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
    # It is asked for of what is complete, which is all that was selected.
    selected = [file["selected"] == "true" for file in listed]
    return tuple(
        TransferFile(file["path"].removeprefix(folder), int(file["length"]), is_wanted, is_complete=is_wanted)
        for file, is_wanted in zip(listed, selected, strict=True)
    )


def _clear(folder: Path, gone: Sequence[Path]) -> None:
    """Remove these, and the torrent file that aria2 laid there: it is named by its own hash, and of no more use."""
    torrents = [path for path in folder.glob("*.torrent") if _OWN_TORRENT.fullmatch(path.name)]
    remove_files(folder, [*gone, *torrents])


def _status(hash: str, entry: Entry, owner: Owner) -> DownloadStatus:
    is_metadata, state = _is_metadata(entry), entry["status"]
    total, done = (0, 0) if is_metadata else (int(entry["totalLength"]), int(entry["completedLength"]))
    # Whatever follows a magnet link is another download. There is none when aria2 does not like what is in it.
    is_refused = is_metadata and state == "complete"
    detail: str | None
    if is_refused or state in _GONE:
        status = TransferStatus.ERROR
        detail = "aria2 does not take what is in the torrent" if is_refused else entry.get("errorMessage") or state
    elif _is_complete(entry):
        status, detail = TransferStatus.COMPLETED, "seeding" if state == "active" else None
    else:
        status = TransferStatus.DOWNLOADING
        detail = {"paused": "paused", "waiting": _QUEUED}.get(state) or ("metadata" if is_metadata else None)
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
