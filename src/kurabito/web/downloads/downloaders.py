"""The downloaders: how each is, which is asked first, where it sees our folders, and whether it is asked at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response

from kurabito.downloads.connections.model import CLIENTS
from kurabito.downloads.connections.service import ClientConnections
from kurabito.downloads.health.downloaders import DownloaderHealths
from kurabito.downloads.paths.tests import PathReport, PathTests
from kurabito.errors import InvalidInput
from kurabito.modules.path_maps import PathMap
from kurabito.modules.registration import PRIORITIES
from kurabito.modules.services import Service
from kurabito.reasons import InputReason, refused
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.downloads.connections import ConnectionDesk, ConnectionForm, add_connections
from kurabito.web.forms import CHECKED, Form, id_of
from kurabito.web.pages import Pages
from kurabito.web.path_map_lines import lines_of, read_lines

_PATH: Final = "/downloads/downloaders"


@dataclass(frozen=True, slots=True)
class DownloaderForm(Form):
    """What its keeper decides about a downloader: as it is now, or as it was filled in."""

    FIELDS = ("priority", "path_maps")

    @classmethod
    def of(cls, service: Service) -> DownloaderForm:
        enabled = CHECKED if service.is_enabled else ""
        maps = lines_of(service.path_maps)
        tidies = CHECKED if service.tidies else ""
        return cls({"priority": str(service.priority), "is_enabled": enabled, "tidies": tidies, "path_maps": maps})

    def priority(self) -> int:
        """Raises InvalidInput."""
        text = self.value("priority")
        try:
            return int(text)
        except ValueError:
            message = f"must be a number from {PRIORITIES[0]} to {PRIORITIES[1]}, got {text[:20]!r}"
            least, most = PRIORITIES
            raise InvalidInput("priority", message, refused(InputReason.NUMBER, least=least, most=most)) from None

    def path_maps(self) -> list[PathMap] | None:
        """One per line; None when the form did not ask for them; raises InvalidInput."""
        if "path_maps" not in self.typed:
            return None
        return read_lines(self.value("path_maps"))


class DownloaderDesk:
    """Shows the downloaders."""

    def __init__(self, pages: Pages, downloaders: DownloaderHealths, connections: ClientConnections) -> None:
        self._pages = pages
        self._downloaders = downloaders
        self._connections = connections

    async def show(
        self,
        request: Request,
        *,
        forms: Mapping[int, DownloaderForm] | None = None,
        reports: Mapping[int, PathReport] | None = None,
        status: int = 200,
        new: ConnectionForm | None = None,
        reached: Mapping[str, ConnectionForm] | None = None,
        tested: str | None = None,
    ) -> Response:
        """The page, with what was typed or tested."""
        everyone = await self._downloaders.everyone()
        connected = {one.instance_id: ConnectionForm.of(one) for one in await self._connections.everything()}
        return self._pages.show(
            request,
            "downloaders.html",
            status=status,
            downloaders=everyone,
            forms={one.service.id: DownloaderForm.of(one.service) for one in everyone} | dict(forms or {}),
            reports=reports or {},
            policy=self._downloaders.policy,
            priorities=PRIORITIES,
            clients=CLIENTS,
            connected=connected | dict(reached or {}),
            new=new or ConnectionForm(),
            tested=tested,
        )

    async def remove(self, module_id: int) -> None:
        """Forget a downloader, and how it was reached."""
        service = await self._downloaders.services.get(module_id)
        if (known := await self._connections.of(service)) is not None:
            await self._connections.remove(known)
        await self._downloaders.services.remove(service.id)


def router(pages: Pages, downloaders: DownloaderHealths, paths: PathTests, connections: ClientConnections) -> Router:
    """The downloaders, and what is decided about them."""
    routes = Router()
    desk = DownloaderDesk(pages, downloaders, connections)
    show = desk.show

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await show(request)

    @routes.post(f"{_PATH}/{{module_id}}")
    async def change(request: Request, module_id: str) -> Response:
        form, known = await DownloaderForm.sent(request), id_of(module_id)
        try:
            await downloaders.services.change(
                known,
                priority=form.priority(),
                is_enabled=form.is_checked("is_enabled"),
                tidies=form.is_checked("tidies"),
                path_maps=form.path_maps(),
            )
        except InvalidInput as problem:
            return await show(request, forms={known: form.refused(problem)}, status=status_of(problem))
        return pages.go(_PATH)

    @routes.get(f"{_PATH}/{{module_id}}/test")
    async def again() -> Response:
        # A reader who changes the language of what was tested comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/{{module_id}}/test")
    async def test(request: Request, module_id: str) -> Response:
        known = id_of(module_id)
        return await show(request, reports={known: await paths.run(known)})

    @routes.post(f"{_PATH}/{{module_id}}/remove")
    async def remove(module_id: str) -> Response:
        await desk.remove(id_of(module_id))
        return pages.go(_PATH)

    add_connections(routes, pages, ConnectionDesk(connections, downloaders.services), show)

    return routes
