"""Transmission, through its RPC.

What we add has a label. Version 3 takes labels only in a second request, so what is about to be added is noted on disk
before: after a crash between the two, a torrent in the folder that was meant for it is ours.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

import httpx2

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.clients.marks import MARK
from kurabito.downloads.clients.native_ids import NativeIds
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

TRANSMISSION_TYPES: Final = (DownloadType.MAGNET, DownloadType.TORRENT)

_SESSION: Final = "X-Transmission-Session-Id"
_FIELDS: Final = (
    "hashString", "status", "percentDone", "sizeWhenDone", "leftUntilDone", "metadataPercentComplete",
    "rateDownload", "peersConnected", "error", "errorString", "labels", "downloadDir",
)  # fmt: skip
_DETAILS: Final = {
    0: TransferDetail.PAUSED,
    **dict.fromkeys((1, 2), TransferDetail.CHECKING),
    3: TransferDetail.QUEUED,
    **dict.fromkeys((5, 6), TransferDetail.SEEDING),
}
_CHECKING: Final = (1, 2)
_LOOKS: Final = 30
# A tracker that does not answer is no reason to give up; a disk that is full is.
_LOCAL_ERROR: Final = 3
_RATIO_OF_ITS_OWN: Final = 1

Torrent = Mapping[str, Any]


class TransmissionClient:
    """Adds to, and asks, a Transmission that runs somewhere."""

    def __init__(self, calls: Calls, outbound: Outbound, adding: NativeIds, mark: str = MARK) -> None:
        self._calls = calls
        self._adding = adding
        self._mark = mark
        self._sources = SourceReader(outbound, TRANSMISSION_TYPES)
        self._auth: tuple[str, str] | None = None
        self._session = ""

    async def login(self, username: str, password: str) -> None:
        self._auth = (username, password)
        await self._call("session-get", fields=["version"])

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        return await self._sources.each(items, self._add)

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        there = await self._ours(hashes)
        for is_complete in (False, True):
            chosen = [hash for hash, torrent in there.items() if _is_complete(torrent) is is_complete]
            if chosen:
                await self._call("torrent-remove", ids=chosen, **{"delete-local-data": not is_complete})
        return [
            CancelResult(hash, CancelStatus.CANCELLED if hash in there else CancelStatus.NOT_FOUND) for hash in hashes
        ]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        there = await self._get(hashes)
        ours = await self._recognise(there)
        files = await self._files([hash for hash, torrent in there.items() if _is_complete(torrent)])
        return [
            replace(_status(hash, there[hash], Owner.KURABITO if hash in ours else Owner.USER), files=files.get(hash))
            for hash in hashes
            if hash in there
        ]

    async def pause_torrent(self, hash: str) -> None:
        await self._check_ours(hash)
        # One that is being checked starts when the check ends, whatever it was told meanwhile.
        for _ in range(_LOOKS):
            there = await self._get([hash])
            if all(torrent["status"] not in _CHECKING for torrent in there.values()):
                break
            await asyncio.sleep(0.1)
        await self._call("torrent-stop", ids=[hash])

    async def resume_torrent(self, hash: str) -> None:
        await self._check_ours(hash)
        await self._call("torrent-start", ids=[hash])

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:
        await self._check_ours(hash)
        await self._call("torrent-remove", ids=[hash], **{"delete-local-data": delete_files})

    async def _check_ours(self, hash: str) -> None:
        there = await self._get([hash])
        if not there:
            raise TransferNotFound(f"Transmission has no torrent {hash}; it may have been removed there")
        if not await self._recognise(there):
            raise TransferNotOurs("Transmission", hash)

    async def _ours(self, hashes: Sequence[str]) -> dict[str, Torrent]:
        return await self._recognise(await self._get(hashes))

    async def _recognise(self, there: Mapping[str, Torrent]) -> dict[str, Torrent]:
        """Those of these torrents that we added. What a crash left without its label gets it now."""
        ours = {hash: torrent for hash, torrent in there.items() if self._mark in torrent.get("labels", ())}
        noted = await self._adding.of([hash for hash in there if hash not in ours])
        for hash, folder in noted.items():
            if PurePath(there[hash]["downloadDir"]) == PurePath(folder):
                await self._label(hash)
                ours[hash] = there[hash]
            else:
                # Another one came first, while ours was on its way.
                await self._adding.drop(hash)
        return ours

    async def _label(self, hash: str) -> None:
        await self._call("torrent-set", ids=[hash], labels=[self._mark])
        await self._adding.drop(hash)

    async def _set_ratio(self, source: TorrentSource) -> None:
        # It knows how long a torrent may be idle, and not how long it is seeded: only the ratio can be said.
        if (ratio := source.item.seed_ratio) is not None:
            await self._call("torrent-set", ids=[source.hash], seedRatioLimit=ratio, seedRatioMode=_RATIO_OF_ITS_OWN)

    async def _add(self, source: TorrentSource) -> Owner:
        if there := await self._get([source.hash]):
            return Owner.KURABITO if await self._recognise(there) else Owner.USER
        wanted: dict[str, Any] = {"download-dir": source.item.save_path, "paused": False, "labels": [self._mark]}
        await self._adding.put(source.hash, source.item.save_path)
        if source.torrent is None:
            wanted["filename"] = source.item.url
        else:
            wanted["metainfo"] = base64.b64encode(source.torrent.content).decode("ascii")
        problem, answer = await self._ask("torrent-add", wanted)
        if problem is not None:
            await self._adding.drop(source.hash)
            raise SourceRefused(f"Transmission does not take it: {problem}")
        if "torrent-added" in answer:
            await self._set_ratio(source)
            await self._label(source.hash)
            return Owner.KURABITO
        # It came in this moment: by its user, or by a life of ours before this one, into the folder that is meant for it.
        return Owner.KURABITO if await self._ours([source.hash]) else Owner.USER

    async def _files(self, hashes: Sequence[str]) -> dict[str, tuple[TransferFile, ...]]:
        """The files of these; they are asked for alone, as there can be many of them."""
        if not hashes:
            return {}
        answer = await self._call("torrent-get", ids=list(hashes), fields=["hashString", "files", "fileStats"])
        return {
            torrent["hashString"].lower(): tuple(
                TransferFile(
                    file["name"], int(file["length"]), bool(stats["wanted"]), file["bytesCompleted"] >= file["length"]
                )
                for file, stats in zip(torrent["files"], torrent["fileStats"], strict=True)
            )
            for torrent in answer["torrents"]
            if len(torrent["files"]) <= MOST_FILES
        }

    async def _get(self, hashes: Sequence[str]) -> dict[str, Torrent]:
        # An empty list would mean all of them.
        answer = await self._call("torrent-get", ids=list(hashes) or ["0" * 40], fields=list(_FIELDS))
        return {torrent["hashString"].lower(): torrent for torrent in answer["torrents"]}

    async def _call(self, method: str, **arguments: Any) -> Any:
        problem, answer = await self._ask(method, arguments)
        if problem is not None:
            raise DownloaderUnavailable(f"Transmission at {self._calls.url} could not do {method}: {problem}")
        return answer

    async def _ask(self, method: str, arguments: Mapping[str, Any]) -> tuple[str | None, Any]:
        """What went wrong, if anything did, and the answer."""
        response = await self._post(method, arguments)
        if response.status_code == 409:
            # It names the session that it wants to see, at the first request and after a restart.
            self._session = response.headers.get(_SESSION, "")
            response = await self._post(method, arguments)
        if response.status_code in (401, 403):
            raise DownloaderLoginRefused(
                f"Transmission at {self._calls.url} does not let us in; check --username, KURABITO_CLIENT_PASSWORD and the "
                "addresses that it allows"
            )
        if not response.is_success:
            raise self._calls.odd(response)
        answer = self._calls.json(response)
        result = answer.get("result")
        return (None if result == "success" else str(result)), answer.get("arguments", {})

    async def _post(self, method: str, arguments: Mapping[str, Any]) -> httpx2.Response:
        return await self._calls.send(
            "POST",
            "/transmission/rpc",
            json={"method": method, "arguments": arguments},
            auth=self._auth,
            headers={_SESSION: self._session},
        )


def _is_complete(torrent: Torrent) -> bool:
    return bool(
        torrent["metadataPercentComplete"] >= 1
        and torrent["sizeWhenDone"] > 0
        and torrent["leftUntilDone"] == 0
        and torrent["status"] not in _CHECKING
    )


def _status(hash: str, torrent: Torrent, owner: Owner) -> DownloadStatus:
    if torrent["error"] == _LOCAL_ERROR:
        status, detail = TransferStatus.ERROR, str(torrent["errorString"])
    else:
        status = TransferStatus.COMPLETED if _is_complete(torrent) else TransferStatus.DOWNLOADING
        is_known = torrent["metadataPercentComplete"] >= 1
        detail = _DETAILS.get(torrent["status"]) or ("" if is_known else TransferDetail.METADATA)
    return DownloadStatus(
        hash=hash,
        status=status,
        progress=min(1.0, max(0.0, float(torrent["percentDone"]))),
        size=int(torrent["sizeWhenDone"]),
        rate=int(torrent["rateDownload"]),
        peers=int(torrent["peersConnected"]),
        detail=detail or None,
        owner=owner,
        content_path=torrent["downloadDir"] or None,
    )
