"""Copies of the database: make, download, restore."""

from __future__ import annotations

from typing import Final, Protocol
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from kurabito.access import SESSION_COOKIE
from kurabito.errors import KurabitoError
from kurabito.maintenance.backups import BackupFile
from kurabito.site.routing import Router
from kurabito.web.pages import Pages
from kurabito.web.settings.keeper import keeper_only
from kurabito.web.settings.settings import leaving

_PATH: Final = "/settings/backups"


class Backups(Protocol):
    """The copies of one database."""

    has_copies: bool
    """Whether this kind of database is copied here at all."""

    @property
    def last_problem(self) -> str | None:
        """Why the last restore did not come about."""
        ...

    async def everything(self) -> list[BackupFile]:
        """The copies, the youngest first."""
        ...

    async def make(self) -> None:
        """Copy the database as it is now."""
        ...

    async def restore(self, copy: BackupFile, session: str) -> None:
        """Begin again with a copy, in which this session is open too; raises KurabitoError if it cannot be used."""
        ...


def router(pages: Pages, backups: Backups) -> Router:
    """The copies, for the keeper alone: hashes of passwords and secrets of downloaders are in them."""
    routes = Router()

    async def show(request: Request, problem: str | None = None) -> Response:
        copies, restored = await backups.everything(), request.query_params.get("restored")
        return pages.show(
            request,
            "backups.html",
            status=200 if problem is None else 409,
            has_copies=backups.has_copies,
            copies=copies,
            restored=restored if restored in {one.name for one in copies} else None,
            problem=problem or backups.last_problem,
        )

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await show(request)

    @routes.post(_PATH)
    async def make(request: Request) -> Response:
        keeper_only(request)
        try:
            await backups.make()
        except KurabitoError as problem:
            return await show(request, str(problem))
        return pages.go(_PATH)

    @routes.get(f"{_PATH}/{{name}}")
    async def download(request: Request, name: str) -> Response:
        keeper_only(request)
        copy = await _find(backups, name)
        return FileResponse(
            copy.path, media_type="application/vnd.sqlite3", filename=copy.name, headers={"Cache-Control": "no-store"}
        )

    @routes.post(f"{_PATH}/{{name}}/restore")
    async def restore(request: Request, name: str) -> Response:
        keeper_only(request)
        try:
            await backups.restore(await _find(backups, name), request.cookies.get(SESSION_COOKIE, ""))
        except KurabitoError as problem:
            return await show(request, str(problem))
        return leaving(pages.go(f"{_PATH}?restored={quote(name)}"))

    @routes.get(f"{_PATH}/{{name}}/restore")
    async def again() -> Response:
        return pages.go(_PATH)

    return routes


async def _find(backups: Backups, name: str) -> BackupFile:
    # Only what is in the list: a name is never made into a path.
    for copy in await backups.everything():
        if copy.name == name:
            return copy
    raise HTTPException(404)
