"""The HTTP interface of a downloader service: what the core asks of it, on a port of its own."""

from __future__ import annotations

import hmac
from importlib.metadata import version
from typing import Annotated

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.access import LoginLimit
from kurabito.access.errors import GuessedTooOften, NotAuthenticated
from kurabito.api.bodies import StrictBody
from kurabito.api.downloads.transfers import (
    CancelsAnswer,
    HashesBody,
    ItemsAnswer,
    ItemsBody,
    StatusesAnswer,
    cancel_answer,
    item_answer,
    status_answer,
    wanted_item,
)
from kurabito.clock import SystemClock
from kurabito.downloads.paths import probes
from kurabito.downloads.service import DownloaderService
from kurabito.errors import KurabitoError
from kurabito.site import errors
from kurabito.site.addresses import one_client
from kurabito.site.answers import GuardedAnswer
from kurabito.site.bodies import BodyLimit, IncomingBody
from kurabito.site.errors import WITH_BODY, answer_to, documented
from kurabito.site.routing import Router, add_routers


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
        results = await service.add([wanted_item(item) for item in body.items])
        return ItemsAnswer(results=[item_answer(result) for result in results])

    @routes.get("/downloads", responses=documented(422, 502))
    async def list_downloads(
        hashes: Annotated[str, Query(max_length=100_000, description="hashes with commas between them")] = "",
    ) -> StatusesAnswer:
        """How these are doing; those that are not there are left out."""
        found = await service.status([hash for hash in hashes.split(",") if hash])  # noqa: A001 - their word for it
        return StatusesAnswer(statuses=[status_answer(status) for status in found])

    @routes.post("/downloads/cancel", responses=documented(502, *WITH_BODY))
    async def cancel_downloads(body: HashesBody) -> CancelsAnswer:
        """Give these up. What is complete stays on the disk; what its user added is not found."""
        return CancelsAnswer(results=[cancel_answer(result) for result in await service.cancel(body.hashes)])

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
        """Forget one, and remove its files if asked."""
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
