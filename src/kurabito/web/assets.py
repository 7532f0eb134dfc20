"""The page's own files: a style sheet, a module, an icon, a font. They are few and small, so they are kept in memory."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from kurabito.site.routing import Router

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_STYLE: Final = "kurabito.css"
_URL: Final = re.compile(r'url\("([\w.-]+)"\)')
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_A_WHILE: Final = "public, max-age=3600"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, and a version that changes with its content."""

    content: bytes
    media_type: str
    version: str


class Assets:
    """Every file of `static/` by its name."""

    def __init__(self) -> None:
        self._files = {
            path.name: _load(path.name, path.read_bytes()) for path in _FOLDER.iterdir() if path.suffix in _TYPES
        }
        self._files[_STYLE] = _load(_STYLE, self._with_versions(self._files[_STYLE].content))

    def path(self, name: str) -> str:
        """Where the file is found; the address changes with its content, so that browsers may keep it for ever."""
        return f"/static/{name}?v={self._files[name].version}"

    def answer(self, name: str, version: str | None = None) -> Response:
        file = self._files.get(name)
        if file is None:
            raise HTTPException(404)
        keep = _FOR_EVER if version == file.version else _A_WHILE
        return Response(file.content, media_type=file.media_type, headers={"Cache-Control": keep})

    def _with_versions(self, style: bytes) -> bytes:
        """The style sheet with the versions of the files that it names: a font that changed never comes from a cache."""

        def versioned(name: re.Match[str]) -> str:
            return f'url("{name[1]}?v={self._files[name[1]].version}")'

        return _URL.sub(versioned, style.decode()).encode()


def router(assets: Assets) -> Router:
    """The files, and the icon that browsers look for unasked."""
    routes = Router()

    @routes.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        return assets.answer(name, request.query_params.get("v"))

    @routes.get("/favicon.ico")
    async def icon() -> Response:
        return assets.answer("kurabito.svg")

    return routes


def _load(name: str, content: bytes) -> Asset:
    return Asset(content, _TYPES[Path(name).suffix], hashlib.sha256(content).hexdigest()[:12])
