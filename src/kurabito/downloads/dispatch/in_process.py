"""Downloaders of this process, called without a request: the built-in one, and those that the keeper typed in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from kurabito.downloads.dispatch.remote import Downloaders, OfferReply
from kurabito.downloads.errors import DownloaderError, TransferNotFound
from kurabito.downloads.items import DownloadItem, DownloadStatus
from kurabito.downloads.service import DownloaderService
from kurabito.errors import InvalidInput
from kurabito.http.errors import BadStatus, OutboundError, Unreachable
from kurabito.modules.services import Service

FindOurs = Callable[[str], DownloaderService | None]
"""The downloader of this process with that instance id, None if it is not one; raises Unreachable while it cannot be asked."""


class WithOurs:
    """Calls the downloaders of this process itself, and has every other one called as before."""

    def __init__(self, others: Downloaders, find: FindOurs) -> None:
        self._others = others
        self._find = find

    async def offer(self, service: Service, items: Sequence[DownloadItem]) -> OfferReply:
        try:
            if (ours := self._ours(service)) is None:
                return await self._others.offer(service, items)
            with _as_from_outside():
                return OfferReply({one.url: one for one in await ours.add(items)})
        except OutboundError as problem:
            return OfferReply(problem=problem)

    async def look(self, service: Service, hashes: Collection[str]) -> Mapping[str, DownloadStatus]:
        if (ours := self._ours(service)) is None:
            return await self._others.look(service, hashes)
        with _as_from_outside():
            return {one.hash: one for one in await ours.status(list(hashes))}

    async def cancel(self, service: Service, hashes: Sequence[str]) -> set[str]:
        if (ours := self._ours(service)) is None:
            return await self._others.cancel(service, hashes)
        with _as_from_outside():
            return {one.hash for one in await ours.cancel(hashes)}

    async def delete(self, service: Service, hash: str, *, delete_files: bool) -> None:
        if (ours := self._ours(service)) is None:
            await self._others.delete(service, hash, delete_files=delete_files)
            return
        with _as_from_outside():
            try:
                await ours.delete(hash, delete_files=delete_files)
            except TransferNotFound:
                pass

    async def pause(self, service: Service, hash: str) -> None:
        if (ours := self._ours(service)) is None:
            await self._others.pause(service, hash)
            return
        with _as_from_outside():
            await ours.pause(hash)

    async def resume(self, service: Service, hash: str) -> None:
        if (ours := self._ours(service)) is None:
            await self._others.resume(service, hash)
            return
        with _as_from_outside():
            await ours.resume(hash)

    def _ours(self, service: Service) -> DownloaderService | None:
        return self._find(service.registration.instance_id)


def left_out() -> Unreachable:
    """The error for what the built-in downloader has, where it was left out: that waits for it."""
    return Unreachable("the built-in downloader was left out at this start; start again without --no-downloader")


@contextmanager
def _as_from_outside() -> Iterator[None]:
    """Turn the errors of our own downloaders into those of one that is called over HTTP."""
    try:
        yield
    except TransferNotFound as error:
        raise BadStatus(str(error), HTTPStatus.NOT_FOUND) from error
    except InvalidInput as error:
        raise BadStatus(str(error), HTTPStatus.UNPROCESSABLE_ENTITY) from error
    except DownloaderError as error:
        raise Unreachable(str(error)) from error
