"""Corrections: merge, split, move and release, each with a preview; what made a series what it is; and the way back."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.following.catalog import AliasAnswer, SeriesId
from kurabito.catalog.corrections.model import Correction, CorrectionEffect, CorrectionKind, MadeBy
from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.identity.relink import Relinker
from kurabito.catalog.identity.report import FranchisePart, SeriesEvidence
from kurabito.errors import InvalidInput
from kurabito.metadata.records import RecordKind
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind

LinkId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the link's id")]
RowId = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
_PREVIEW = "say what it would do, and do nothing"


class EffectAnswer(BaseModel):
    """What a correction did, or would do."""

    is_preview: bool
    series_id: int = Field(description="the series that it is about afterwards")
    links: int = Field(description="how many links change")
    names: list[str] = Field(description="the names that go with them")
    freed: int = Field(
        description="links that nothing holds back any longer: they are downloaded as filters and wishes say"
    )
    held: int = Field(description="links that are held back from now on; downloads that are under way go on")

    @classmethod
    def of(cls, effect: CorrectionEffect, *, is_preview: bool) -> Self:
        return cls(
            is_preview=is_preview,
            series_id=effect.series_id,
            links=effect.links,
            names=list(effect.names),
            freed=len(effect.freed),
            held=len(effect.held),
        )


class CorrectionAnswer(BaseModel):
    """Something that was corrected. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: CorrectionKind
    series_id: int
    other_id: int | None = Field(description="the other series that it touched")
    made_by: MadeBy
    facts: dict[str, Any]
    created_at: datetime
    undone_at: datetime | None

    @classmethod
    def of(cls, correction: Correction) -> Self:
        return cls.model_validate(correction)


class CluesAnswer(BaseModel):
    """What spoke for some releases of a series."""

    model_config = ConfigDict(from_attributes=True)

    clues: list[Clue]
    links: int


class RulingAnswer(BaseModel):
    """A name that a person gave to this series."""

    model_config = ConfigDict(from_attributes=True)

    folded: str = Field(description="the name, letters and digits only")
    season: int
    year: int | None
    country: str | None
    group: str | None = Field(description="only of this group's releases; folded")


class FranchisePartAnswer(BaseModel):
    """An entry of the franchise of a series, as the offline index knows it."""

    title: str
    kind: RecordKind
    season: int | None = Field(description="null where no source says it; 0 holds specials")
    part: int = Field(description="which cour of its season it is, from 1")
    begin: date | None
    episode_count: int | None
    first_absolute: int | None = Field(
        description="the number of its first episode when all seasons are counted through; null where sources disagree"
    )
    is_this: bool = Field(description="the series is this entry")

    @classmethod
    def of(cls, part: FranchisePart) -> Self:
        entry = part.entry
        return cls(
            title=entry.title,
            kind=entry.kind,
            season=entry.season,
            part=entry.part,
            begin=entry.begin,
            episode_count=entry.episode_count,
            first_absolute=entry.first_absolute,
            is_this=part.is_this,
        )


class EvidenceAnswer(BaseModel):
    """What made a series what it is."""

    series_id: int
    names: list[AliasAnswer]
    clues: list[CluesAnswer]
    rulings: list[RulingAnswer]
    corrections: list[CorrectionAnswer] = Field(description="the newest first")
    question_ids: list[int] = Field(description="open questions whose links are kept here")
    franchise: list[FranchisePartAnswer] = Field(
        description="in the order in which they began; empty for a single show"
    )

    @classmethod
    def of(cls, evidence: SeriesEvidence) -> Self:
        return cls(
            series_id=evidence.series.id,
            names=[AliasAnswer.model_validate(alias) for alias in evidence.series.aliases],
            clues=[CluesAnswer.model_validate(one) for one in evidence.clues],
            rulings=[RulingAnswer.model_validate(one) for one in evidence.rulings],
            corrections=[CorrectionAnswer.of(one) for one in evidence.corrections],
            question_ids=list(evidence.question_ids),
            franchise=[FranchisePartAnswer.of(one) for one in evidence.franchise],
        )


class MergeBody(StrictBody):
    """The series to merge into."""

    into: RowId
    preview: bool = Field(False, description=_PREVIEW)


class SplitBody(StrictBody):
    """What becomes a series of its own: names with the links whose titles have them, and single links."""

    names: Annotated[list[ShortText], Field(max_length=200)] = Field(default_factory=list)
    links: Annotated[list[RowId], Field(max_length=5_000)] = Field(default_factory=list)
    title: ShortText | None = None
    preview: bool = Field(False, description=_PREVIEW)


class LinkChange(StrictBody):
    """What a link is: of another series, another episode, or not of its series."""

    series_id: RowId | None = Field(None, description="the series that it is of")
    episode: Annotated[float, Field(ge=0, le=100_000)] | None = Field(None, description="the number of its episode")
    kind: Annotated[ReleaseKind, Field(strict=False)] = Field(
        ReleaseKind.TV, description="the kind of its episode; with `episode`"
    )
    is_other_show: bool = Field(
        False, description="it is not of its series: its release becomes a series of its own, which is asked about"
    )
    preview: bool = Field(False, description=_PREVIEW)


class ConfirmedAnswer(BaseModel):
    """What goes on to be downloaded."""

    links: int


def _check(body: LinkChange) -> None:
    """Refuse a change that says nothing, or two things."""
    is_placed = body.series_id is not None or body.episode is not None
    if body.is_other_show and is_placed:
        raise InvalidInput("is_other_show", "say either that it is another show, or its series and episode")
    if not body.is_other_show and not is_placed:
        raise InvalidInput("series_id", "say a series, an episode, or that it is another show")


def router(corrections: Corrections, relinker: Relinker) -> Router:
    """The routes of corrections."""
    routes = Router(prefix="/api/v1", tags=["following"])

    @routes.post("/series/{series_id}/merge", responses=documented(404, 409, *WITH_BODY))
    async def merge_series(series_id: SeriesId, body: MergeBody) -> EffectAnswer:
        """Merge a series into another: its names, links, episodes, feeds and folders go over. Nothing on a disk changes."""
        effect = await corrections.merge(series_id, body.into, is_preview=body.preview)
        return EffectAnswer.of(effect, is_preview=body.preview)

    @routes.post("/series/{series_id}/split", responses=documented(404, 409, *WITH_BODY))
    async def split_series(series_id: SeriesId, body: SplitBody) -> EffectAnswer:
        """Make a series of some names and links of another; it is wanted as that is."""
        effect = await corrections.split(
            series_id, names=body.names, link_ids=body.links, title=body.title, is_preview=body.preview
        )
        return EffectAnswer.of(effect, is_preview=body.preview)

    @routes.post("/series/{series_id}/undo", responses=documented(404, 409, 422))
    async def undo_correction(series_id: SeriesId) -> CorrectionAnswer:
        """Undo the last correction that touched a series. Downloads that it started go on."""
        return CorrectionAnswer.of(await corrections.undo(series_id))

    @routes.get("/series/{series_id}/evidence", responses=documented(404, 422))
    async def get_evidence(series_id: SeriesId) -> EvidenceAnswer:
        """Why a series is what it is: its names and their sources, what spoke for its releases, and what was corrected."""
        return EvidenceAnswer.of(await corrections.evidence(series_id))

    @routes.patch("/links/{link_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_link(link_id: LinkId, body: LinkChange) -> EffectAnswer:
        """Say what a link is. What its group releases later under the same names follows it to another series."""
        _check(body)
        if body.is_other_show:
            effect = await corrections.reject(link_id, is_preview=body.preview)
        else:
            place = None if body.episode is None else EpisodePlace(body.kind, body.episode)
            effect = await corrections.move(link_id, series_id=body.series_id, place=place, is_preview=body.preview)
        return EffectAnswer.of(effect, is_preview=body.preview)

    @routes.post("/links/confirm", responses=documented())
    async def confirm_links() -> ConfirmedAnswer:
        """Download what was read again and belongs elsewhere now: the links whose `held_reason` is `read_again`."""
        return ConfirmedAnswer(links=await relinker.confirm())

    @routes.post("/links/{link_id}/release", responses=documented(404, 409, 422))
    async def release_link(link_id: LinkId) -> EffectAnswer:
        """Download a link that is held back."""
        return EffectAnswer.of(await corrections.release(link_id), is_preview=False)

    return routes
