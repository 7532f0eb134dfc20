"""qBittorrent, through its web API: version 4, and version 5 where its words differ.

What we add has a tag, given in the same request. A torrent without it is its user's, also one from which the user took it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import httpx2

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.clients.marks import MARK
from kurabito.downloads.clients.sources import SourceReader, SourceRefused, TorrentSource
from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import DownloaderLoginRefused, DownloaderUnavailable, TransferNotFound, TransferNotOurs
from kurabito.downloads.items import (
    MOST_FILES,
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    Owner,
    TransferDetail,
    TransferFile,
    TransferStatus,
)
from kurabito.http import Outbound

QBITTORRENT_TYPES: Final = (DownloadType.MAGNET, DownloadType.TORRENT)

# From this version of the web API on, what was paused is called stopped.
_STOPPED_SINCE: Final = (2, 11)
_BROKEN: Final = frozenset({"error", "missingFiles"})
# Version 5 says stopped where version 4 said paused.
_DETAILS: Final = {
    **dict.fromkeys(("uploading", "stalledUP", "forcedUP", "queuedUP"), TransferDetail.SEEDING),
    **dict.fromkeys(("pausedDL", "stoppedDL"), TransferDetail.PAUSED),
    **dict.fromkeys(("metaDL", "forcedMetaDL"), TransferDetail.METADATA),
    **dict.fromkeys(("checkingDL", "checkingUP", "checkingResumeData"), TransferDetail.CHECKING),
    "queuedDL": TransferDetail.QUEUED, "stalledDL": TransferDetail.STALLED,
    "allocating": TransferDetail.ALLOCATING, "moving": TransferDetail.MOVING,
    "error": TransferDetail.CLIENT_ERROR, "missingFiles": TransferDetail.FILES_MISSING,
}  # fmt: skip
# What is being moved is not where it says yet.
_NOT_YET: Final = frozenset({"checkingDL", "checkingResumeData", "metaDL", "forcedMetaDL", "moving"})
_AT_ONCE: Final = 8
_LOOKS: Final = 20
_BETWEEN_LOOKS: Final = 0.1

Torrent = Mapping[str, Any]


class QBittorrentClient:
    """Adds to, and asks, a qBittorrent that runs somewhere."""

    def __init__(self, calls: Calls, outbound: Outbound, mark: str = MARK) -> None:
        self._calls = calls
        self._mark = mark
        self._sources = SourceReader(outbound, QBITTORRENT_TYPES)
        self._credentials: tuple[str, str] | None = None
        self._logging_in = asyncio.Lock()
        self._logins = 0
        self._rest, self._go_on = "pause", "resume"

    async def login(self, username: str, password: str) -> None:
        response = await self._calls.send(
            "POST",
            "/api/v2/auth/login",
            data={"username": username, "password": password},
            headers={"Referer": self._calls.url},
        )
        # Version 4 says "Fails." with status 200, version 5 answers 401; 403 is for an address that tried too often.
        if response.status_code in (401, 403) or response.text.strip() == "Fails.":
            raise DownloaderLoginRefused(
                f"qBittorrent at {self._calls.url} does not know this name and password; check --username and "
                "KURABITO_CLIENT_PASSWORD"
            )
        if not response.is_success:
            raise self._calls.odd(response)
        self._credentials = (username, password)
        version = (await self._calls.send("GET", "/api/v2/app/webapiVersion")).text
        try:
            is_new = tuple(int(part) for part in version.strip().split(".")[:2]) >= _STOPPED_SINCE
        except ValueError:
            raise DownloaderUnavailable(
                f"{self._calls.url} does not say the version of its web API; check that the URL is that of qBittorrent"
            ) from None
        self._rest, self._go_on = ("stop", "start") if is_new else ("pause", "resume")
        self._logins += 1

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        known = await self._all()

        async def take(source: TorrentSource) -> Owner:
            there = known.get(source.hash)
            return await self._add(source) if there is None else self._owner(there)

        return await self._sources.each(items, take)

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        known = await self._all()
        there = {hash: known[hash] for hash in hashes if hash in known and self._is_ours(known[hash])}
        for is_complete in (False, True):
            chosen = [torrent["hash"] for torrent in there.values() if _is_complete(torrent) is is_complete]
            if chosen:
                await self._delete(chosen, delete_files=not is_complete)
        return [
            CancelResult(hash, CancelStatus.CANCELLED if hash in there else CancelStatus.NOT_FOUND) for hash in hashes
        ]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        known = await self._all()
        found = {hash: known[hash] for hash in hashes if hash in known}
        slots = asyncio.Semaphore(_AT_ONCE)

        async def files_of(torrent: Torrent) -> tuple[TransferFile, ...] | None:
            async with slots:
                return await self._files(torrent) if _is_complete(torrent) else None

        files = await asyncio.gather(*(files_of(torrent) for torrent in found.values()))
        return [
            replace(_status(hash, torrent, self._owner(torrent)), files=of_torrent)
            for (hash, torrent), of_torrent in zip(found.items(), files, strict=True)
        ]

    async def pause_torrent(self, hash: str) -> None:
        await self._done(f"torrents/{self._rest}", {"hashes": await self._native(hash)})

    async def resume_torrent(self, hash: str) -> None:
        await self._done(f"torrents/{self._go_on}", {"hashes": await self._native(hash)})

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:
        await self._delete([await self._native(hash)], delete_files=delete_files)

    async def _delete(self, native: Iterable[str], *, delete_files: bool) -> None:
        await self._done(
            "torrents/delete", {"hashes": "|".join(native), "deleteFiles": "true" if delete_files else "false"}
        )

    async def _native(self, hash: str) -> str:
        """What qBittorrent itself calls the torrent: of a hybrid one, the beginning of its v2 hash."""
        torrent = (await self._all()).get(hash)
        if torrent is None:
            raise TransferNotFound(f"qBittorrent has no torrent {hash}; it may have been removed there")
        if not self._is_ours(torrent):
            raise TransferNotOurs("qBittorrent", hash)
        return str(torrent["hash"])

    async def _files(self, torrent: Torrent) -> tuple[TransferFile, ...] | None:
        """Its files; None when it was removed in this moment."""
        response = await self._call("GET", "torrents/files", params={"hash": torrent["hash"]})
        if response.status_code == 404:
            return None
        listed = self._calls.json(response)
        if len(listed) > MOST_FILES:
            return None
        return tuple(
            TransferFile(file["name"], int(file["size"]), int(file["priority"]) > 0, float(file["progress"]) >= 1)
            for file in listed
        )

    def _is_ours(self, torrent: Torrent) -> bool:
        return self._mark in (tag.strip() for tag in torrent.get("tags", "").split(","))

    def _owner(self, torrent: Torrent) -> Owner:
        return Owner.KURABITO if self._is_ours(torrent) else Owner.USER

    async def _all(self) -> dict[str, Torrent]:
        """Every torrent, by each of the hashes that it may be asked for."""
        response = await self._call("GET", "torrents/info")
        torrents = self._calls.json(response)
        by_hash: dict[str, Torrent] = {}
        for torrent in torrents:
            for name in (torrent.get("infohash_v2", "")[:40], torrent.get("infohash_v1", ""), torrent["hash"]):
                if name:
                    by_hash[name.lower()] = torrent
        return by_hash

    async def _add(self, source: TorrentSource) -> Owner:
        # The tag comes with the torrent: no crash can leave one of ours without it.
        options = {
            "savepath": source.item.save_path,
            "autoTMM": "false",
            "contentLayout": "Original",
            "tags": self._mark,
        }
        if source.item.seed_ratio is not None:
            options["ratioLimit"] = str(source.item.seed_ratio)
        if source.item.seed_minutes is not None:
            options["seedingTimeLimit"] = str(source.item.seed_minutes)
        if source.torrent is None:
            sent: dict[str, Any] = {"data": {**options, "urls": source.item.url}}
        else:
            file = (f"{source.hash}.torrent", source.torrent.content, "application/x-bittorrent")
            sent = {"data": options, "files": {"torrents": file}}
        response = await self._call("POST", "torrents/add", **sent)
        if _was_added(response):
            return Owner.KURABITO
        # qBittorrent answers the same for a torrent that it has already and for one that it cannot use. A torrent that its user, or
        # this program before it was restarted, has only just added is not listed until qBittorrent has read it.
        for _ in range(_LOOKS):
            if (there := (await self._all()).get(source.hash)) is not None:
                return self._owner(there)
            await asyncio.sleep(_BETWEEN_LOOKS)
        raise SourceRefused("qBittorrent does not take it")

    async def _done(self, path: str, data: Mapping[str, str]) -> None:
        response = await self._call("POST", path, data=data)
        if not response.is_success:
            raise self._calls.odd(response)

    async def _call(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        logins = self._logins
        response = await self._calls.send(method, f"/api/v2/{path}", **rest)
        if response.status_code not in (401, 403):
            return response
        async with self._logging_in:
            # A session ends after a while. A request that waited here finds that another one has logged in.
            if self._credentials is None:
                raise DownloaderLoginRefused(f"qBittorrent at {self._calls.url} wants a login first")
            if logins == self._logins:
                await self.login(*self._credentials)
        response = await self._calls.send(method, f"/api/v2/{path}", **rest)
        if response.status_code in (401, 403):
            raise DownloaderLoginRefused(f"qBittorrent at {self._calls.url} does not let us do this")
        return response


def _was_added(response: httpx2.Response) -> bool:
    if response.headers.get("content-type", "").startswith("application/json"):
        counts = response.json()
        return bool(counts.get("success_count") or counts.get("pending_count"))
    return response.is_success and response.text.strip() != "Fails."


def _is_complete(torrent: Torrent) -> bool:
    return bool(torrent["progress"] >= 1 and torrent["state"] not in _NOT_YET)


def _status(hash: str, torrent: Torrent, owner: Owner) -> DownloadStatus:
    state = torrent["state"]
    if state in _BROKEN:
        status = TransferStatus.ERROR
    else:
        status = TransferStatus.COMPLETED if _is_complete(torrent) else TransferStatus.DOWNLOADING
    return DownloadStatus(
        hash=hash,
        status=status,
        progress=min(1.0, max(0.0, float(torrent["progress"]))),
        size=max(0, int(torrent["size"])),
        rate=int(torrent.get("dlspeed", 0)),
        peers=int(torrent.get("num_seeds", 0)) + int(torrent.get("num_leechs", 0)),
        detail=_DETAILS.get(state),
        owner=owner,
        content_path=torrent.get("save_path") or None,
    )
