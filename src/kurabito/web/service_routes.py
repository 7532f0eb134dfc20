"""What pages of services have in common: media servers, destinations of notifications. Add, change, test, remove."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from fastapi import Request, Response

from kurabito.site.routing import Router
from kurabito.web.forms import Form, id_of
from kurabito.web.pages import Pages


class ServiceForm(Form, ABC):
    """A form that means the settings of a service; both raise InvalidInput."""

    @abstractmethod
    def settings(self) -> Any:
        """Those of a new one."""

    @abstractmethod
    def changes(self) -> dict[str, Any]:
        """What its keeper decides about one that is there."""


class ServiceList(Protocol):
    """What keeps services."""

    def add(self, settings: Any, /) -> Awaitable[object]: ...

    def change(self, service_id: int, changes: Mapping[str, Any], /) -> Awaitable[object]: ...

    def test(self, service_id: int, /) -> Awaitable[object]: ...

    def remove(self, service_id: int, /) -> Awaitable[None]: ...


class ShowServices(Protocol):
    """Shows the page, with a form that was refused, or what a test found."""

    def __call__(
        self,
        request: Request,
        *,
        new: Any = None,
        forms: Mapping[int, Any] | None = None,
        tested: Any = None,
    ) -> Awaitable[Response]: ...


def service_routes(
    pages: Pages, path: str, form: type[ServiceForm], services: ServiceList, show: ShowServices
) -> Router:
    """The page at a path, and what is decided on it."""
    routes = Router()

    @routes.get(path)
    async def overview(request: Request) -> Response:
        return await show(request)

    @routes.post(path)
    async def add(request: Request) -> Response:
        refused = await (await form.sent(request)).submit(lambda sent: services.add(sent.settings()))
        return await show(request, new=refused) if refused else pages.go(path)

    @routes.post(f"{path}/{{service_id}}")
    async def change(request: Request, service_id: str) -> Response:
        sent, known = await form.sent(request), id_of(service_id)
        refused = await sent.submit(lambda one: services.change(known, one.changes()))
        return await show(request, forms={known: refused}) if refused else pages.go(path)

    @routes.get(f"{path}/{{service_id}}/test")
    async def again() -> Response:
        # A reader who changes the language of what was tested comes by here.
        return pages.go(path)

    @routes.post(f"{path}/{{service_id}}/test")
    async def test(request: Request, service_id: str) -> Response:
        return await show(request, tested=await services.test(id_of(service_id)))

    @routes.post(f"{path}/{{service_id}}/remove")
    async def remove(service_id: str) -> Response:
        await services.remove(id_of(service_id))
        return pages.go(path)

    return routes
