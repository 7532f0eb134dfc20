"""Routers, put into an application as they are."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter, FastAPI


def add_routers(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add the routes of each router, which brings its prefix, its tags and its dependencies itself.

    `include_router` copies each route at the first request and reads its signature a second time: the first visitor
    waits for it.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
