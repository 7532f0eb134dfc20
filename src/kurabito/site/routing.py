"""Routers whose routes are read at their first request, and put into an application as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send


class LazyRoute(APIRoute):
    """A route whose signature is read when it is first asked.

    FastAPI reads signatures when routes are declared: of 400 routes, most of which are not asked before the next start,
    that is a fifth of the time that a start takes.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **declared: Any) -> None:
        self._declared = declared
        self._handler: ASGIApp | None = None
        # What it takes to find a route, and to name it.
        self.path, self.endpoint = path, endpoint
        self.name = declared.get("name") or endpoint.__name__
        self.methods = {method.upper() for method in declared.get("methods") or ("GET",)}
        self.include_in_schema = declared.get("include_in_schema", True)
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.app = self._answer

    def __getattr__(self, name: str) -> Any:
        """Everything else, as the description of the interface asks for it, is known once the route is read."""
        if name.startswith("__") or self.__dict__.get("_handler") is not None:
            raise AttributeError(name)
        self._read()
        return getattr(self, name)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._handler or self._read())(scope, receive, send)

    def _read(self) -> ASGIApp:
        # What a page has put around its route stays there.
        around = self.app
        super().__init__(self.path, self.endpoint, **self._declared)
        self._handler, self.app = self.app, around
        return self._handler


class Router(APIRouter):
    """A router of lazy routes. An operation is called like its function."""

    def __init__(
        self,
        prefix: str = "",
        tags: Iterable[str] = (),
        *,
        route_class: type[LazyRoute] = LazyRoute,
        dependencies: Sequence[Depends] = (),
    ) -> None:
        super().__init__(
            prefix=prefix,
            tags=list(tags),
            route_class=route_class,
            dependencies=dependencies,
            generate_unique_id_function=lambda route: route.name,
        )


def add_routers(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add the routes of each router, which brings its prefix, its tags and its dependencies itself.

    `include_router` copies each route at the first request and reads its signature a second time: the first visitor
    waits for it.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
