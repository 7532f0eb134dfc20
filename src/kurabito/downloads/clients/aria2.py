"""aria2, through its JSON-RPC.

We choose the id of what we add: the beginning of its hash. A magnet link gets a second id from aria2 once it knows what is
in the torrent, so the ids are kept. They also tell what is ours, as aria2 has no labels: an id is noted before anything is
added under it, and what has another id, or none that we noted, is its user's.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.clients.aria2_entries import (
    GONE,
    Entry,
    clear_folder,
    files_of,
    is_complete,
    is_ours,
    owner_of,
    status_of,
)
from kurabito.downloads.clients.aria2_rpc import Aria2Rpc
from kurabito.downloads.clients.native_ids import NativeIds
from kurabito.downloads.clients.sources import SourceReader, SourceRefused, TorrentSource
from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import TransferNotFound, TransferNotOurs
from kurabito.downloads.items import (
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    Owner,
    TransferDetail,
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
_MOST: Final = 100_000
_LOOKS: Final = 50
_BETWEEN_LOOKS: Final = 0.1
# Another download of the same torrent was there first.
_REGISTERED_TWICE: Final = "12"


class Aria2Client:
    """Adds to, and asks, an aria2 that runs somewhere."""

    def __init__(self, calls: Calls, outbound: Outbound, ids: NativeIds) -> None:
        self._rpc = Aria2Rpc(calls)
        self._is_on_this_machine = calls.is_on_this_machine
        self._sources = SourceReader(outbound, ARIA2_TYPES)
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
        # Asked once here: else each item alone would say that aria2 does not answer.
        await self._rpc.do("aria2.getVersion")
        return await self._sources.each(items, self._add)

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        there = await self._find(hashes)
        noted = await self._ids.of(list(there))
        found = {hash: entry for hash, entry in there.items() if is_ours(hash, entry, noted)}
        for hash, entry in found.items():
            await self._remove(hash, entry, delete_files=not is_complete(entry))
        return [
            CancelResult(hash, CancelStatus.CANCELLED if hash in found else CancelStatus.NOT_FOUND) for hash in hashes
        ]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        found = await self._find(hashes)
        if not hashes:
            await self._rpc.do("aria2.getVersion")
        noted = await self._ids.of(list(found))
        statuses = [
            status_of(hash, found[hash], owner_of(hash, found[hash], noted)) for hash in hashes if hash in found
        ]
        if not self._seeds_beside and any(one.detail == TransferDetail.QUEUED for one in statuses):
            (active,) = await self._rpc.batch([("aria2.tellActive", ["seeder"])])
            if any(entry.get("seeder") == "true" for entry in active or ()):
                return [
                    replace(one, detail=TransferDetail.NO_SLOT) if one.detail == TransferDetail.QUEUED else one
                    for one in statuses
                ]
        return statuses

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

    async def _add(self, source: TorrentSource) -> Owner:
        there = (await self._find([source.hash])).get(source.hash)
        if there is not None:
            owner = owner_of(source.hash, there, await self._ids.of([source.hash]))
            if there["status"] not in GONE:
                return owner
            if owner is Owner.KURABITO:
                await self._remove(source.hash, there, delete_files=False)
        gid = source.hash[:16]
        # A magnet link keeps its id when only what followed it was removed.
        await self._rpc.ask("aria2.removeDownloadResult", gid)
        await self._ids.put(source.hash, gid)
        options = {"dir": source.item.save_path, "gid": gid, **_seeding(source.item)}
        if source.torrent is not None:
            await asyncio.to_thread(self._make_folder, Path(source.item.save_path))
            content = base64.b64encode(source.torrent.content).decode("ascii")
            problem = await self._rpc.ask("aria2.addTorrent", content, [], options)
        elif source.kind is DownloadType.MAGNET:
            problem = await self._rpc.ask("aria2.addUri", [source.item.url], options)
        else:
            problem = await self._rpc.ask("aria2.addUri", [source.item.url], {**_PLAIN, **options})
        if problem is None:
            return Owner.KURABITO
        # Another program may have added it in between, such as a service that was killed after it had asked.
        there = (await self._find([source.hash])).get(source.hash)
        if there is None:
            await self._ids.drop(source.hash)
            raise SourceRefused(f"aria2 does not take it: {problem}")
        return owner_of(source.hash, there, await self._ids.of([source.hash]))

    async def _remove(self, hash: str, entry: Entry, *, delete_files: bool) -> None:
        entry = await self._end(hash, entry)
        gids = [gid for gid in (entry["gid"], entry.get("following")) if gid]
        # All at once, and before the files go: nothing is ever said to be complete that has none.
        await self._rpc.batch([("aria2.removeDownloadResult", gid) for gid in gids])
        await self._ids.drop(hash)
        await asyncio.to_thread(clear_folder, Path(entry["dir"]), files_of(entry) if delete_files else [])

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
        if not is_ours(hash, entry, await self._ids.of([hash])):
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
                    if is_ours(hash, entry, kept):
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


def _seeding(item: DownloadItem) -> dict[str, str]:
    wanted = {"seed-ratio": item.seed_ratio, "seed-time": item.seed_minutes}
    return {name: str(value) for name, value in wanted.items() if value is not None}
