"""The downloader of this process, called without a request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from kurabito.downloads.dispatch.remote import Downloaders, OfferReply
from kurabito.downloads.errors import DownloaderError, TransferNotFound
from kurabito.downloads.items import DownloadItem, DownloadStatus
from kurabito.downloads.service import DownloaderService
from kurabito.errors import InvalidInput
from kurabito.http.errors import BadStatus, OutboundError, Unreachable
from kurabito.modules.services import Service


class WithBuiltIn:
    """Calls the built-in downloader itself, known by its instance, and has every other one called as before.

    `built_in` is None where it was left out: what it has waits for it.
    """

    def __init__(self, others: Downloaders, instance_id: str, built_in: DownloaderService | None) -> None:
        self._others = others
        self._instance_id = instance_id
        self._built_in = built_in

    async def offer(self, service: Service, items: Sequence[DownloadItem]) -> OfferReply:
        if not self._is_ours(service):
            return await self._others.offer(service, items)
        try:
            with _as_from_outside():
                return OfferReply({one.url: one for one in await self._ours().add(items)})
        except OutboundError as problem:
            return OfferReply(problem=problem)

    async def look(self, service: Service, hashes: Collection[str]) -> Mapping[str, DownloadStatus]:
        if not self._is_ours(service):
            return await self._others.look(service, hashes)
        with _as_from_outside():
            return {one.hash: one for one in await self._ours().status(list(hashes))}

    async def cancel(self, service: Service, hashes: Sequence[str]) -> set[str]:
        if not self._is_ours(service):
            return await self._others.cancel(service, hashes)
        with _as_from_outside():
            return {one.hash for one in await self._ours().cancel(hashes)}

    async def delete(self, service: Service, hash: str, *, delete_files: bool) -> None:
        if not self._is_ours(service):
            await self._others.delete(service, hash, delete_files=delete_files)
            return
        with _as_from_outside():
            try:
                await self._ours().delete(hash, delete_files=delete_files)
            except TransferNotFound:
                pass

    async def pause(self, service: Service, hash: str) -> None:
        if not self._is_ours(service):
            await self._others.pause(service, hash)
            return
        with _as_from_outside():
            await self._ours().pause(hash)

    async def resume(self, service: Service, hash: str) -> None:
        if not self._is_ours(service):
            await self._others.resume(service, hash)
            return
        with _as_from_outside():
            await self._ours().resume(hash)

    def _is_ours(self, service: Service) -> bool:
        return service.registration.instance_id == self._instance_id

    def _ours(self) -> DownloaderService:
        if self._built_in is None:
            raise Unreachable("the built-in downloader was left out at this start; start again without --no-downloader")
        return self._built_in


@contextmanager
def _as_from_outside() -> Iterator[None]:
    """Turn the errors of the built-in downloader into those of one that is called over HTTP."""
    try:
        yield
    except TransferNotFound as error:
        raise BadStatus(str(error), HTTPStatus.NOT_FOUND) from error
    except InvalidInput as error:
        raise BadStatus(str(error), HTTPStatus.UNPROCESSABLE_ENTITY) from error
    except DownloaderError as error:
        raise Unreachable(str(error)) from error
