"""Addresses inside the site, which may stand under a base path."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Addresses:
    """Builds the page's links from the base path."""

    base_path: str = ""

    @property
    def cookie_path(self) -> str:
        return self.base_path or "/"

    def to(self, path: str, /, **query: object) -> str:
        """The address of a path of ours; a query value that is None is left out, a list is there with each of its values."""
        given = {name: value for name, value in query.items() if value is not None}
        return f"{self.base_path}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")

    def here(self, request: Request, /, **changes: str | None) -> str:
        """The address that was asked for, with some of its query changed; None takes a value out."""
        kept = {name: value for name, value in request.query_params.items() if name not in changes}
        return self.to(quote(self.path_of(request)), **kept, **changes)

    def path_of(self, request: Request) -> str:
        """The path that was asked for, below the base path."""
        return self.within(request.scope["path"])

    def within(self, wanted: str | None) -> str:
        """A path that a request asks to go on to, if it leads to a page of ours; else the first page."""
        path = wanted or "/"
        if self.base_path and (path == self.base_path or path.startswith((f"{self.base_path}/", f"{self.base_path}?"))):
            path = path.removeprefix(self.base_path)
            path = path if path.startswith("/") else f"/{path}"
        # Browsers take `//host` and `/\host` for other sites.
        local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
        return path if local else "/"
