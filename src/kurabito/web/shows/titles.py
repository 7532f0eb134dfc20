"""What a series is called in the reader's language, and the poster that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import Request

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import Series
from kurabito.metadata import MetadataService
from kurabito.metadata.lookup import read_sequel
from kurabito.metadata.records import Metadata
from kurabito.web.pages import Pages

# The titles that readers of a language can read, the best first.
_READ: Final = {
    "en": ("title_english",),
    "ja": ("title_japanese",),
    "zh-Hans": ("title_chinese", "title_japanese"),
    "zh-Hant": ("title_chinese", "title_japanese"),
}


@dataclass(frozen=True, slots=True)
class ShownSeries:
    """A series as a reader sees it."""

    series: Series
    title: str
    record: Metadata | None = None

    @property
    def id(self) -> int:
        return self.series.id

    @property
    def season(self) -> int:
        """The season to show beside the title; 1 where the title says it."""
        return 1 if self.record is not None and read_sequel(self.title) else self.series.season

    @property
    def poster_url(self) -> str | None:
        return self.record.details.poster_url if self.record else None

    @property
    def year(self) -> int | None:
        return self.series.year or (self.record.details.year if self.record else None)


async def shown_shows(metadata: MetadataService, some: Sequence[Series], lang: str) -> list[ShownSeries]:
    """These series, each with its record and its title for readers of a language."""
    records = await metadata.several({one.metadata_id for one in some if one.metadata_id is not None})
    return [show_of(one, records.get(one.metadata_id or 0), lang) for one in some]


class ShowTitles:
    """What shows are called in the language of the reader who asks."""

    def __init__(self, pages: Pages, catalog: Catalog, metadata: MetadataService) -> None:
        self._pages = pages
        self._catalog = catalog
        self._metadata = metadata

    async def one(self, request: Request, series_id: int) -> ShownSeries:
        """A show; raises SeriesNotFound."""
        (shown,) = await self._shown(request, [await self._catalog.get(series_id)])
        return shown

    async def several(self, request: Request, series_ids: Iterable[int]) -> dict[int, ShownSeries]:
        """Those of these shows that exist, by their ids."""
        known = await self._catalog.several(series_ids)
        return {show.id: show for show in await self._shown(request, list(known.values()))}

    async def _shown(self, request: Request, some: Sequence[Series]) -> list[ShownSeries]:
        return await shown_shows(self._metadata, some, self._pages.words(request).catalogue.tag)


def show_of(series: Series, record: Metadata | None, lang: str) -> ShownSeries:
    """A series with its record. Where that has no title for these readers, the title is what releases call it."""
    known = record and [getattr(record.details, name) for name in _READ[lang]]
    return ShownSeries(series, next(filter(None, known or ()), series.title), record)
