"""The last lines of the log of this process: by level, part and text; to read or to download."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from fastapi import Request, Response

from kurabito.logs import LogLine
from kurabito.site.routing import Router
from kurabito.web.pages import Pages

_PATH: Final = "/settings/logs"
_LEVELS: Final = ("debug", "info", "warning", "error")
_SHOWN: Final = 300


def router(pages: Pages, recent: Callable[[], Sequence[LogLine]]) -> Router:
    """The log, and the same lines as a file."""
    routes = Router()

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        everything = recent()
        found = chosen(everything, request)
        return pages.show(
            request,
            "logs.html",
            lines=found[-_SHOWN:][::-1],
            found=len(found),
            levels=_LEVELS,
            parts=sorted({part_of(line) for line in everything}),
            level=request.query_params.get("level", ""),
            part=request.query_params.get("part", ""),
            text=request.query_params.get("text", ""),
            tones={"warning": "waiting", "error": "bad", "critical": "bad", "exception": "bad"},
        )

    @routes.get(f"{_PATH}/download")
    async def download(request: Request) -> Response:
        lines = (json.dumps(line._asdict(), ensure_ascii=False) for line in chosen(recent(), request))
        headers = {"Content-Disposition": 'attachment; filename="kurabito-log.jsonl"', "Cache-Control": "no-store"}
        return Response("".join(f"{line}\n" for line in lines), media_type="application/x-ndjson", headers=headers)

    return routes


def chosen(lines: Sequence[LogLine], request: Request) -> list[LogLine]:
    """The lines that the reader asked for."""
    query = request.query_params
    level, part, text = query.get("level", ""), query.get("part", ""), query.get("text", "").casefold()
    least = _LEVELS.index(level) if level in _LEVELS else 0
    return [
        line
        for line in lines
        if _rank(line.level) >= least
        and (not part or part_of(line) == part)
        and (not text or text in f"{line.event} {line.values}".casefold())
    ]


def part_of(line: LogLine) -> str:
    """The part of the program that wrote a line: the package below `kurabito`, or the library."""
    name = line.logger.split(".")
    return name[1] if name[0] == "kurabito" and len(name) > 1 else name[0]


def _rank(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else len(_LEVELS)
