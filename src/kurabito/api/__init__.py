"""The HTTP interface."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI

from kurabito.api import errors, health

__all__ = ["create_api"]


def create_api(queue: health.Reachable, *, database: str) -> FastAPI:
    """The web application over one open queue; `database` is the kind of database behind it."""
    # The interactive documentation loads its scripts from elsewhere; ours has to work without a network.
    api = FastAPI(title="Kurabito", version=version("kurabito"), docs_url=None, redoc_url=None)
    errors.install(api)
    api.include_router(health.router(queue, database=database))
    return api
