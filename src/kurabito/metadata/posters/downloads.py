"""Poster downloads under way: five at once, and never two of the same."""

from __future__ import annotations

import asyncio
from typing import Final

from kurabito.metadata.posters.service import PosterService
from kurabito.metadata.single_flight import SingleFlight

POSTER_DOWNLOAD_CONCURRENCY: Final = 5


class PosterDownloads:
    """The one place that downloads posters, so that the limit holds for all callers together."""

    def __init__(self, posters: PosterService, at_once: int = POSTER_DOWNLOAD_CONCURRENCY) -> None:
        self._posters = posters
        self._slots = asyncio.Semaphore(at_once)
        self._shared: SingleFlight[str] = SingleFlight()

    async def fetch(self, url: str) -> str:
        """The path of the poster; raises PosterError. One that is being fetched already is not fetched again."""

        async def download() -> str:
            async with self._slots:
                return await self._posters.download_from_url(url)

        return await self._shared.do(self._posters.normalised(url), download)
