"""`GET /api/v1/metadata/sources`: how the services and the index are that metadata comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from kurabito.metadata.health import MetadataSource, SourceFailure, SourceHealth, SourceHealths, SourceState
from kurabito.metadata.sources.index import IndexImport, IndexOrigin, IndexUpdates
from kurabito.site.errors import documented
from kurabito.site.routing import Router


class SourceAnswer(BaseModel):
    """How one source is. Times are UTC."""

    source: MetadataSource
    state: SourceState = Field(description="off: it is not used; unused: nothing was asked there yet")
    last_success_at: datetime | None
    last_failure_at: datetime | None
    failure: SourceFailure | None = Field(description="why it failed last; it may work again by now")
    message: str | None = Field(description="the same in English, with what the source said")
    held_back: int = Field(description="how many records wait for it")

    @classmethod
    def of(cls, health: SourceHealth) -> Self:
        return cls(
            source=health.source,
            state=health.state,
            last_success_at=health.last_success_at,
            last_failure_at=health.last_failure_at,
            failure=health.failure,
            message=health.message,
            held_back=health.held_back,
        )


class IndexAnswer(BaseModel):
    """The import that the offline index is from."""

    imported_at: datetime
    entries: int
    unknown_kinds: int = Field(description="rows that were left out: of a type that this version does not know")
    bad_rows: int = Field(description="rows that were left out: they make no sense")
    origin: IndexOrigin

    @classmethod
    def of(cls, imported: IndexImport) -> Self:
        return cls(
            imported_at=imported.imported_at,
            entries=imported.entries,
            unknown_kinds=imported.unknown_kinds,
            bad_rows=imported.bad_rows,
            origin=imported.origin,
        )


class SourcesAnswer(BaseModel):
    """Every source."""

    sources: list[SourceAnswer]
    index: IndexAnswer | None = Field(description="null while no index was imported")


class IndexUpdateAccepted(BaseModel):
    """An update that was asked for; one that waits or runs already is the answer to a second request."""

    task_id: UUID


def router(sources: SourceHealths, index: IndexUpdates) -> Router:
    """The routes of the sources."""
    routes = Router(prefix="/api/v1/metadata", tags=["metadata"])

    @routes.get("/sources", responses=documented())
    async def list_metadata_sources() -> SourcesAnswer:
        """How TMDB, bgm.tv and the offline index are: the last success, the last failure, and what that holds back."""
        found, imported = await sources.all(), await index.last_import()
        return SourcesAnswer(
            sources=[SourceAnswer.of(health) for health in found.values()],
            index=None if imported is None else IndexAnswer.of(imported),
        )

    @routes.post("/index/update", status_code=202, responses=documented())
    async def update_index() -> IndexUpdateAccepted:
        """Have the offline index fetched from the address in the settings, and imported."""
        return IndexUpdateAccepted(task_id=await index.begin_update())

    return routes
