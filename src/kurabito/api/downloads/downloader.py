"""The HTTP interface of a downloader service: what the core asks of it, on a port of its own."""

from __future__ import annotations

import hmac
from importlib.metadata import version
from typing import Annotated, Final

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.access import LoginLimit
from kurabito.access.errors import GuessedTooOften, NotAuthenticated
from kurabito.api.bodies import StrictBody
from kurabito.clock import SystemClock
from kurabito.downloads.items import (
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    ItemStatus,
    Owner,
    TransferDetail,
    TransferFile,
    TransferStatus,
)
from kurabito.downloads.paths import probes
from kurabito.downloads.service import DownloaderService
from kurabito.errors import KurabitoError
from kurabito.site import errors
from kurabito.site.addresses import one_client
from kurabito.site.answers import GuardedAnswer
from kurabito.site.bodies import BodyLimit, IncomingBody
from kurabito.site.errors import WITH_BODY, answer_to, documented
from kurabito.site.routing import Router, add_routers

MOST_ITEMS: Final = 2000
_DETAIL: Final = (
    f"what it does, or what went wrong: {', '.join(one for one in TransferDetail if one != TransferDetail.OTHER)}; behind "
    "one of these words and a colon, or alone, what the program itself says"
)
"""How many items one request may bring."""

Hash = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{40}$")]


class ItemBody(StrictBody):
    """Something to download."""

    url: Annotated[str, Field(min_length=1, max_length=20_000)]
    save_path: Annotated[str, Field(min_length=1, max_length=4_000)] = Field(description="as this downloader sees it")
    seed_ratio: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="seed until so much was given back; null is as the program does it"
    )
    seed_minutes: Annotated[int, Field(ge=0, le=10_000_000)] | None = Field(
        None, description="or for so long, whichever is first"
    )


class ItemsBody(StrictBody):
    """The items to download."""

    items: Annotated[list[ItemBody], Field(max_length=MOST_ITEMS)]


class ItemAnswer(BaseModel):
    """Whether one item was taken."""

    url: str
    hash: str | None
    status: ItemStatus
    reason: str | None = None
    owner: Owner | None = Field(None, description="who added it to the program; null if unknown")
    may_pass: bool = Field(False, description="it was rejected, and may be taken later")


class ItemsAnswer(BaseModel):
    """One result for each item, in their order."""

    results: list[ItemAnswer]


class HashesBody(StrictBody):
    """The downloads to cancel."""

    hashes: Annotated[list[Hash], Field(max_length=MOST_ITEMS)]


class CancelAnswer(BaseModel):
    """What became of one download."""

    hash: str
    status: CancelStatus


class CancelsAnswer(BaseModel):
    """One result for each hash."""

    results: list[CancelAnswer]


class TransferFileAnswer(BaseModel):
    """One file of a download."""

    path: str = Field(description="below content_path, with slashes")
    size: int = Field(ge=0, description="bytes")
    wanted: bool = Field(True, description="whether it is downloaded at all")
    complete: bool = False


class StatusAnswer(BaseModel):
    """How one download is doing."""

    hash: str
    status: TransferStatus
    progress: float = Field(ge=0, le=1)
    size: int = Field(ge=0, description="bytes; 0 while unknown")
    rate: int | None = Field(None, description="bytes a second that arrive")
    peers: int | None = None
    detail: str | None = Field(None, description=_DETAIL)
    owner: Owner | None = Field(None, description="who added it to the program; null if unknown")
    content_path: str | None = Field(None, description="the folder in which its files really lie")
    files: list[TransferFileAnswer] | None = Field(None, description="once it is complete, if the program tells them")


class StatusesAnswer(BaseModel):
    """Those of the hashes that are there."""

    statuses: list[StatusAnswer]


class PathsBody(StrictBody):
    """What to test about a folder."""

    folder: Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"^[^\x00]*$")]
    sees: str | None = Field(None, description="a file that the core wrote: is it here?")
    writes: str | None = Field(None, description="a file to be written, for the core to see")
    removes: str | None = Field(None, description="a file that was written and has served")


class PathsAnswer(BaseModel):
    """What was found out. Null is what was not asked."""

    is_seen: bool | None = None
    is_written: bool | None = None
    problem: str | None = Field(None, description="why nothing could be written")


def create_downloader_api(service: DownloaderService, token: str) -> ASGIApp:
    """The web application of one downloader. Every route but its health needs the token as Bearer."""
    api = FastAPI(
        title="A downloader of Kurabito",
        version=version("kurabito"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(api)
    add_routers(api, (_routes(service), _path_routes(service)))
    return _Door(api, token)


def _routes(service: DownloaderService) -> Router:
    routes = Router()

    @routes.get("/health")
    async def health() -> dict[str, str]:
        """That the service runs. The other routes tell whether the program behind it responds."""
        return {"status": "ok", "version": version("kurabito")}

    @routes.post("/downloads", responses=documented(502, *WITH_BODY))
    async def add_downloads(body: ItemsBody) -> ItemsAnswer:
        """Add downloads. One that the program already has is accepted and stays as it is; one that its user added is only watched."""
        results = await service.add([DownloadItem(**item.model_dump()) for item in body.items])
        return ItemsAnswer(results=[_item(result) for result in results])

    @routes.get("/downloads", responses=documented(422, 502))
    async def list_downloads(
        hashes: Annotated[str, Query(max_length=100_000, description="hashes with commas between them")] = "",
    ) -> StatusesAnswer:
        """How these are doing; those that are not there are left out."""
        found = await service.status([hash for hash in hashes.split(",") if hash])  # noqa: A001 - their word for it
        return StatusesAnswer(statuses=[_status(status) for status in found])

    @routes.post("/downloads/cancel", responses=documented(502, *WITH_BODY))
    async def cancel_downloads(body: HashesBody) -> CancelsAnswer:
        """Give these up. What is complete stays on the disk; what its user added is not found."""
        return CancelsAnswer(results=[_cancel(result) for result in await service.cancel(body.hashes)])

    @routes.post("/downloads/{hash}/pause", status_code=204, responses=documented(404, 422, 502))
    async def pause_download(hash: str) -> None:  # noqa: A002
        """Let one rest."""
        await service.pause(hash)

    @routes.post("/downloads/{hash}/resume", status_code=204, responses=documented(404, 422, 502))
    async def resume_download(hash: str) -> None:  # noqa: A002
        """Let one go on."""
        await service.resume(hash)

    @routes.delete("/downloads/{hash}", status_code=204, responses=documented(404, 422, 502))
    async def delete_download(hash: str, delete_files: bool = False) -> None:  # noqa: A002
        """Forget one, and its files if so wished."""
        await service.delete(hash, delete_files=delete_files)

    return routes


def _path_routes(service: DownloaderService) -> Router:
    routes = Router()

    @routes.post("/paths/test", responses=documented(*WITH_BODY))
    def test_paths(body: PathsBody) -> PathsAnswer:
        """Look for a file of the core, and leave one for it: so both know whether they see the same folder."""
        folder = service.folder(body.folder)
        if body.removes is not None:
            probes.take_away(folder, body.removes)
        is_seen = None if body.sees is None else probes.is_there(folder, body.sees)
        if body.writes is None:
            return PathsAnswer(is_seen=is_seen)
        problem = probes.leave(folder, body.writes)
        return PathsAnswer(is_seen=is_seen, is_written=problem is None, problem=problem)

    return routes


class _Door:
    """Checks the token before anything else of a request is read."""

    def __init__(self, site: ASGIApp, token: str) -> None:
        self._site = site
        self._shown = f"Bearer {token}".encode()
        self._limit = LoginLimit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._site(scope, receive, send)
            return
        body = IncomingBody(scope, receive, BodyLimit(largest=16 << 20), SystemClock())
        answer = GuardedAnswer(send, body, private=True)
        try:
            self._check(scope)
            body.check()
            await self._site(scope, body.receive, answer.send)
        except KurabitoError as error:
            await answer.refuse(answer_to(error))
        else:
            if body.refusal is not None and not answer.started:
                await answer.refuse(answer_to(body.refusal))

    def _check(self, scope: Scope) -> None:
        shown = Headers(scope=scope).get("authorization", "").encode()
        if scope["path"] == "/health" or hmac.compare_digest(shown, self._shown):
            return
        guesser = one_client(scope["client"][0] if scope.get("client") else "")
        if wait := self._limit.wait(guesser):
            raise GuessedTooOften(wait)
        self._limit.failed(guesser)
        raise NotAuthenticated("show the token of this downloader as Bearer; the core got it when it registered")


def _item(result: DownloadItemResult) -> ItemAnswer:
    return ItemAnswer(
        url=result.url,
        hash=result.hash,
        status=result.status,
        reason=result.reason,
        owner=result.owner,
        may_pass=result.may_pass,
    )


def _cancel(result: CancelResult) -> CancelAnswer:
    return CancelAnswer(hash=result.hash, status=result.status)


def _status(status: DownloadStatus) -> StatusAnswer:
    return StatusAnswer(
        hash=status.hash,
        status=status.status,
        progress=status.progress,
        size=status.size or 0,
        rate=status.rate,
        peers=status.peers,
        detail=status.detail,
        owner=status.owner,
        content_path=status.content_path,
        files=None if status.files is None else [_file(file) for file in status.files],
    )


def _file(file: TransferFile) -> TransferFileAnswer:
    return TransferFileAnswer(path=file.path, size=file.size, wanted=file.is_wanted, complete=file.is_complete)
