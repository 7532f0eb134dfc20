"""The form by which a download client is connected: kind, address, user, password, test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.connections.model import ConnectionSettings, DownloaderConnection
from kurabito.downloads.connections.service import ClientConnections
from kurabito.errors import InvalidInput
from kurabito.modules.registration import Services
from kurabito.site.routing import Router
from kurabito.web.forms import Form, id_of, one_of
from kurabito.web.pages import Pages

_PATH: Final = "/downloads/downloaders"
NEW: Final = "new"
"""What is tested when the form for another client is."""


@dataclass(frozen=True, slots=True)
class ConnectionForm(Form):
    """A download client as it is reached now, or as it was filled in. The password is taken and never shown."""

    FIELDS = ("name", "client", "url", "username", "password")

    @classmethod
    def of(cls, known: DownloaderConnection) -> ConnectionForm:
        settings = known.settings
        return cls({"client": settings.client.value, "url": settings.url, "username": settings.username})

    def settings(self) -> ConnectionSettings:
        """What was typed; raises InvalidInput."""
        client = one_of(ClientName, "client", self.value("client"))
        return ConnectionSettings(
            self.value("name").strip() or client.value,
            client,
            self.value("url").strip(),
            self.value("username").strip(),
            self.value("password"),
        )


class ConnectionDesk:
    """What the form does."""

    def __init__(self, connections: ClientConnections, registered: Services) -> None:
        self._connections = connections
        self._registered = registered

    async def add(self, form: ConnectionForm) -> None:
        """Connect another client."""
        await self._connections.add(form.settings(), self._registered, untested=form.is_checked("untested"))

    async def change(self, known: DownloaderConnection, form: ConnectionForm) -> None:
        """Reach a client in another way."""
        await self._connections.change(known, form.settings(), self._registered, untested=form.is_checked("untested"))

    async def test(self, form: ConnectionForm, known: DownloaderConnection | None = None) -> ConnectionForm | None:
        """Try what was typed; the form with what is wrong, None when it works."""
        try:
            settings = form.settings()
            await self._connections.test(settings if known is None else known.changed(settings))
        except InvalidInput as problem:
            return form.refused(problem)
        return None

    async def everything(self) -> list[DownloaderConnection]:
        """Every client that is connected."""
        return await self._connections.everything()

    async def of(self, module_id: int) -> DownloaderConnection:
        """The connection behind a service of the page."""
        known = await self._connections.of(await self._registered.get(module_id))
        if known is None:
            raise HTTPException(404)
        return known


def add_connections(
    routes: Router, pages: Pages, desk: ConnectionDesk, show: Callable[..., Awaitable[Response]]
) -> None:
    """Add what the form sends to the routes of the downloaders."""

    @routes.post(_PATH)
    async def connect(request: Request) -> Response:
        refused = await (await ConnectionForm.sent(request)).submit(desk.add)
        return await show(request, new=refused, status=refused.status) if refused else pages.go(_PATH)

    @routes.post(f"{_PATH}-test")
    async def test_new(request: Request) -> Response:
        form = await ConnectionForm.sent(request)
        refused = await desk.test(form)
        status = refused.status if refused else 200
        return await show(request, new=refused or form, tested=None if refused else NEW, status=status)

    @routes.get(f"{_PATH}-test")
    @routes.get(f"{_PATH}/{{module_id}}/connection")
    @routes.get(f"{_PATH}/{{module_id}}/connection/test")
    async def back() -> Response:
        # A reader who changes the language of what was refused comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/{{module_id}}/connection")
    async def reconnect(request: Request, module_id: str) -> Response:
        known = await desk.of(id_of(module_id))
        refused = await (await ConnectionForm.sent(request)).submit(lambda form: desk.change(known, form))
        if refused is None:
            return pages.go(_PATH)
        return await show(request, reached={known.instance_id: refused}, status=refused.status)

    @routes.post(f"{_PATH}/{{module_id}}/connection/test")
    async def test_known(request: Request, module_id: str) -> Response:
        known, form = await desk.of(id_of(module_id)), await ConnectionForm.sent(request)
        refused = await desk.test(form, known)
        shown, tested = refused or form, None if refused else known.instance_id
        return await show(request, reached={known.instance_id: shown}, tested=tested, status=shown.status)
