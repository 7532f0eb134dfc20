"""Imports: files that a person gives to a series. Without `apply` the answer is the plan, and nothing is changed."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.following.catalog import GivenId
from kurabito.api.reasons import WhyAnswer
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.imports.model import (
    LAST_EPISODE,
    MOST_EPISODES,
    ImportedFile,
    ImportOrder,
    ImportPlace,
    ImportPlan,
)
from kurabito.placements.imports.service import Imports
from kurabito.placements.plans.model import FileAction
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind

EpisodeNumber = Annotated[float, Field(ge=0, le=LAST_EPISODE)]


class ImportBody(StrictBody):
    """Which files are given to which series."""

    path: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="a file or folder of a library or of the folder for downloads, whole, as the core sees it"
    )
    series_id: GivenId
    episodes: Annotated[list[EpisodeNumber], Field(max_length=MOST_EPISODES)] = Field(
        default_factory=list, description="what a single file is, whatever its name says; empty: the names say it"
    )
    kind: Annotated[ReleaseKind, Field(strict=False)] = Field(ReleaseKind.TV, description="the kind of those episodes")
    apply: bool = Field(False, description="false: only the plan; true: do it")

    def order(self) -> ImportOrder:
        return ImportOrder(
            path=self.path, series_id=self.series_id, episodes=tuple(self.episodes), kind=ReleaseKind(self.kind)
        )


class ImportEpisode(BaseModel):
    """An episode that a file has."""

    kind: str
    number: float

    @classmethod
    def of(cls, episode: HadEpisode) -> Self:
        return cls(kind=episode.kind, number=episode.number)


class ImportFileAnswer(BaseModel):
    """What becomes of one file."""

    path: str
    size_bytes: int
    action: FileAction
    target_path: str | None = Field(description="where it is put, below the library's folder; null: it stays")
    episodes: list[ImportEpisode]
    why: WhyAnswer | None

    @classmethod
    def of(cls, file: ImportedFile) -> Self:
        return cls(
            path=file.path,
            size_bytes=file.size,
            action=file.action,
            target_path=file.target,
            episodes=[ImportEpisode.of(one) for one in file.episodes],
            why=WhyAnswer.of(file.reason),
        )


class ImportAnswer(BaseModel):
    """What would be done, or was."""

    place: ImportPlace
    folder: str
    library_id: int | None
    applied: bool
    problem: WhyAnswer | None = Field(description="why nothing can be done: no library was chosen")
    files: list[ImportFileAnswer]

    @classmethod
    def of(cls, plan: ImportPlan, *, applied: bool) -> Self:
        return cls(
            place=plan.place,
            folder=plan.folder,
            library_id=plan.library_id,
            applied=applied and plan.problem is None,
            problem=WhyAnswer.of(plan.problem),
            files=[ImportFileAnswer.of(file) for file in plan.files],
        )


def router(imports: Imports) -> Router:
    """The route of the imports."""
    routes = Router(prefix="/api/v1/imports", tags=["downloads"])

    @routes.post("", responses=documented(404, 409, *WITH_BODY))
    async def import_files(body: ImportBody) -> ImportAnswer:
        """Plan an import, and with `apply` do it."""
        order = body.order()
        plan = await (imports.apply(order) if body.apply else imports.plan(order))
        return ImportAnswer.of(plan, applied=body.apply)

    return routes
