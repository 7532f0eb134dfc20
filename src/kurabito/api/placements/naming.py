"""How libraries name their files, and what a naming would give."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Self

from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.library.libraries import LibraryId
from kurabito.placements.library_naming import LibraryNaming, NamePreview
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import PRESETS, ExtrasChoice, NamingSettings, Preset
from kurabito.placements.naming.sidecars import SubtitleStyle
from kurabito.placements.naming.template import LONGEST_TEMPLATE
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

TemplateText = Annotated[str, Field(max_length=LONGEST_TEMPLATE, pattern=r"^[^\x00]*$")]


class NamingOrder(StrictBody):
    """A preset, and what is to differ from it."""

    preset: Annotated[Preset, Field(strict=False)] = Preset.JELLYFIN
    series_folder: TemplateText | None = Field(None, examples=["{title}< ({year})>"])
    season_folder: TemplateText | None = Field(None, description="empty: no folder for a season")
    episode_file: TemplateText | None = Field(None, examples=["{title} S{season:02}E{episode:02}"])
    film_folder: TemplateText | None = Field(None, description="empty: films lie in the library itself")
    film_file: TemplateText | None = None
    numbering: Annotated[NumberingScheme, Field(strict=False)] | None = None
    subtitle_style: Annotated[SubtitleStyle, Field(strict=False)] | None = None
    extras: Annotated[ExtrasChoice, Field(strict=False)] | None = None

    def naming(self) -> NamingSettings:
        """The preset with what differs; a template that is wrong is told when it is used."""
        given = {name: value for name, value in self if name != "preset" and value is not None}
        return replace(PRESETS[self.preset], **given)


class NamingAnswer(BaseModel):
    """How a library names its files."""

    series_folder: str
    season_folder: str
    episode_file: str
    film_folder: str
    film_file: str
    numbering: NumberingScheme
    subtitle_style: SubtitleStyle
    extras: ExtrasChoice

    @classmethod
    def of(cls, naming: NamingSettings) -> Self:
        return cls(**asdict(naming))


class NamePreviewAnswer(BaseModel):
    """An example, and what it would be called."""

    title: str | None
    season: int | None
    episodes: list[int]
    special: str | None
    original: str | None = Field(description="the name that it has now, without its extension")
    video: str | None = Field(description="its path below the library; null when a fact is missing")
    subtitle: str | None = Field(description="the path of a Chinese subtitle beside it")
    missing: str | None = Field(description="the token that the template needs and that is not known")

    @classmethod
    def of(cls, preview: NamePreview) -> Self:
        facts = preview.facts
        return cls(
            title=facts.title,
            season=facts.season,
            episodes=list(facts.episode),
            special=facts.special,
            original=facts.original,
            video=preview.video,
            subtitle=preview.subtitle,
            missing=preview.missing,
        )


class NamePreviewsAnswer(BaseModel):
    """What ten examples would be called."""

    items: list[NamePreviewAnswer]


def router(naming: LibraryNaming) -> Router:
    """The routes of naming."""
    routes = Router(prefix="/api/v1", tags=["filing"])

    @routes.post("/naming/preview", responses=documented(*WITH_BODY))
    async def preview_naming(order: NamingOrder) -> NamePreviewsAnswer:
        """What ten examples would be called: your own series first, then some that show what templates have to cope with.

        422 with the code `invalid_template` names the field, and the character at which it is wrong.
        """
        found = await naming.preview(order.naming())
        return NamePreviewsAnswer(items=[NamePreviewAnswer.of(one) for one in found])

    @routes.get("/libraries/{library_id}/naming", responses=documented(404, 422))
    async def get_library_naming(library_id: LibraryId) -> NamingAnswer:
        """How a library names the files that are put into it."""
        return NamingAnswer.of(await naming.get(library_id))

    @routes.put("/libraries/{library_id}/naming", responses=documented(404, *WITH_BODY))
    async def change_library_naming(library_id: LibraryId, order: NamingOrder) -> NamingAnswer:
        """Change how a library names its files. Files that are there keep their names."""
        return NamingAnswer.of(await naming.change(library_id, order.naming()))

    return routes
