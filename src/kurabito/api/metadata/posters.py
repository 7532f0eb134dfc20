"""`GET /posters/{name}`: the posters that are kept here, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import Header, Path, Response
from fastapi.responses import FileResponse

from kurabito.metadata import PosterService
from kurabito.site.errors import documented
from kurabito.site.routing import Router

# A name stands for one picture for ever, so a browser never asks twice. Not for shared caches.
_FOR_EVER: Final = "private, max-age=31536000, immutable"


def router(posters: PosterService) -> Router:
    """The route of the posters."""
    routes = Router(tags=["metadata"])
    described: dict[int | str, dict[str, Any]] = {
        200: {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}, "description": "The picture"},
        304: {"description": "You have it already"},
    }

    @routes.get("/posters/{name:path}", response_class=FileResponse, responses={**described, **documented(404, 422)})
    async def get_poster(
        name: Annotated[str, Path(description="as `poster_url` has it behind `/posters/`")],
        if_none_match: Annotated[str | None, Header(description="the `ETag` of what you have")] = None,
    ) -> Response:
        """A poster. Only names that Kurabito gave lead anywhere."""
        found = await asyncio.to_thread(posters.find, name)
        headers = {"ETag": f'"{found.tag}"', "Cache-Control": _FOR_EVER}
        if if_none_match is not None and headers["ETag"] in if_none_match:
            return Response(status_code=304, headers=headers)
        return FileResponse(found.path, media_type=found.media_type, headers=headers)

    return routes
