"""Speaking to downloaders: the port, and the one that goes over HTTP."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import quote

from kurabito.downloads.dispatch.answers import read_cancelled, read_results, read_statuses
from kurabito.downloads.items import DownloadItem, DownloadItemResult, DownloadStatus
from kurabito.http.errors import BadStatus, OutboundError, TooLarge
from kurabito.modules.service_client import ServiceCalls
from kurabito.modules.services import Service

LONGEST_URL: Final = 8_000
"""Of what asks for hashes: many servers take no more than 8 KiB."""
_MOST_ITEMS: Final = 2_000
_MOST_HASHES: Final = 2_000
_PATH: Final = "/downloads"


@dataclass(slots=True)
class OfferReply:
    """What a downloader answered to an offer."""

    results: dict[str, DownloadItemResult] = field(default_factory=dict)
    """By URL."""
    problem: OutboundError | None = None
    """Why there is no result for the rest."""


class Downloaders(Protocol):
    """Reaches downloaders, wherever they run. What goes wrong on the way is an OutboundError."""

    async def offer(self, service: Service, items: Sequence[DownloadItem]) -> OfferReply:
        """Ask a downloader to take these."""
        ...

    async def look(self, service: Service, hashes: Collection[str]) -> Mapping[str, DownloadStatus]:
        """How these are doing; with none, only whether the downloader answers."""
        ...

    async def cancel(self, service: Service, hashes: Sequence[str]) -> set[str]:
        """Have these given up; those that are there no longer."""
        ...

    async def delete(self, service: Service, hash: str, *, delete_files: bool) -> None:
        """Have one forgotten, and its files removed if asked; one that is not there is forgotten already."""
        ...

    async def pause(self, service: Service, hash: str) -> None:
        """Let it rest."""
        ...

    async def resume(self, service: Service, hash: str) -> None:
        """Let it go on."""
        ...


class RemoteDownloaders:
    """Downloaders that registered themselves, spoken to over HTTP."""

    def __init__(self, calls: ServiceCalls) -> None:
        self._calls = calls

    async def offer(self, service: Service, items: Sequence[DownloadItem]) -> OfferReply:
        reply = OfferReply()
        plain = [item for item in items if item.torrent is None]
        waiting = [plain[begin : begin + _MOST_ITEMS] for begin in range(0, len(plain), _MOST_ITEMS)]
        # A torrent file may be large, and a downloader of an earlier version refuses the request that has one.
        waiting += [[item] for item in items if item.torrent is not None]
        while waiting:
            part = waiting.pop(0)
            body = {"items": [_body(item) for item in part]}
            try:
                answer = await self._calls.request(service, "POST", _base(service), body)
                reply.results |= read_results(answer, {item.url for item in part})
            except BadStatus as refused:
                if refused.answered == 413 and len(part) > 1:
                    waiting[:0] = [part[: len(part) // 2], part[len(part) // 2 :]]
                    continue
                reply.problem = refused
                return reply
            except OutboundError as problem:
                reply.problem = problem
                return reply
        return reply

    async def look(self, service: Service, hashes: Collection[str]) -> Mapping[str, DownloadStatus]:
        found: dict[str, DownloadStatus] = {}
        base = f"{_base(service)}?hashes="
        waiting = list(_parts(sorted(hashes), LONGEST_URL - len(service.url(base)))) if hashes else [[]]
        while waiting:
            part = waiting.pop(0)
            asked = ",".join(quote(one, safe="") for one in part)
            try:
                found |= read_statuses(await self._calls.request(service, "GET", base + asked), set(part))
            except TooLarge:
                # Lists of files can be long.
                if len(part) < 2:
                    raise
                waiting[:0] = [part[: len(part) // 2], part[len(part) // 2 :]]
        return found

    async def cancel(self, service: Service, hashes: Sequence[str]) -> set[str]:
        gone: set[str] = set()
        for begin in range(0, len(hashes), _MOST_HASHES):
            part = list(hashes[begin : begin + _MOST_HASHES])
            answer = await self._calls.request(service, "POST", f"{_base(service)}/cancel", {"hashes": part})
            gone |= read_cancelled(answer, set(part))
        return gone

    async def delete(self, service: Service, hash: str, *, delete_files: bool) -> None:
        query = f"?delete_files={'true' if delete_files else 'false'}"
        try:
            await self._calls.send(service, "DELETE", f"{_one(service, hash)}{query}")
        except BadStatus as refused:
            if refused.answered != 404:
                raise

    async def pause(self, service: Service, hash: str) -> None:
        await self._calls.send(service, "POST", f"{_one(service, hash)}/pause")

    async def resume(self, service: Service, hash: str) -> None:
        await self._calls.send(service, "POST", f"{_one(service, hash)}/resume")


def _body(item: DownloadItem) -> dict[str, Any]:
    # Downloaders of earlier versions refuse what they do not know, so it is left out where it says nothing.
    body = {name: value for name, value in asdict(item).items() if value is not None}
    return body if item.torrent is None else {**body, "torrent": base64.b64encode(item.torrent).decode("ascii")}


def _base(service: Service) -> str:
    return service.registration.capabilities.download_endpoint or _PATH


def _one(service: Service, hash_: str) -> str:
    return f"{_base(service)}/{quote(hash_, safe='')}"


def _parts(hashes: Sequence[str], room: int) -> Iterator[list[str]]:
    """The hashes in parts that fit into so many characters, with commas between them."""
    part: list[str] = []
    left = room
    for one in hashes:
        needed = len(quote(one, safe="")) + 1
        if part and needed > left:
            yield part
            part, left = [], room
        part.append(one)
        left -= needed
    if part:
        yield part
