"""What answers HTTP: the one place where interface, pages and doors are joined."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from kurabito.access import Keys, LoginLimit, Passwords, Sessions
from kurabito.api import create_api
from kurabito.db import Database
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, over one database."""

    keys: Keys
    passwords: Passwords
    sessions: Sessions
    login_limit: LoginLimit


def open_access(settings: Settings, database: Database) -> Access:
    """The keys, password and sessions in the product's database."""
    fixed = settings.api_key.get_secret_value() if settings.api_key else None
    return Access(
        Keys(database, fixed=fixed),
        Passwords(database, file=settings.password_file),
        Sessions(database),
        LoginLimit(),
    )


def build_site(settings: Settings, queue: SqlQueue, access: Access) -> ASGIApp:
    """The whole site over one open queue; `access` is for its doors and its pages."""
    api = create_api(queue, database=settings.database.partition("://")[0])
    return BasePath(api, settings.base_path) if settings.base_path else api


class BasePath:
    """Serves a site under a base path, whether or not a proxy has taken that away already."""

    def __init__(self, site: ASGIApp, base_path: str) -> None:
        self._site = site
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "root_path": self._base_path, "path": self._whole(scope["path"])}
        await self._site(scope, receive, send)

    def _whole(self, path: str) -> str:
        """The path with the base path in front, as ASGI wants it: a framework takes it off again for its routes."""
        if path == self._base_path:
            return f"{path}/"
        return path if path.startswith(f"{self._base_path}/") else self._base_path + path
