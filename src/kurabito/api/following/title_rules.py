"""Rules for titles that are read wrongly."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.paging import PageAnswer
from kurabito.catalog.rules import StoredRule, checked
from kurabito.catalog.title_rules import PREVIEWED, TitlePreview, TitleRules
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind, TitleRule

_LARGEST_PRIORITY: Final = 2**31 - 1
RuleId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the rule's id")]
Pattern = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
Value = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]


class RuleDraft(StrictBody):
    """A rule that may not be stored yet."""

    name: ShortText
    condition: Pattern = Field(
        description="a regular expression (RE2) that a title must match for the rule to be tried"
    )
    parse: Pattern = Field(description="a regular expression (RE2) whose captures are fields")
    fields: Annotated[dict[str, Value], Field(max_length=20)] = Field(
        default_factory=dict, description="fixed values, or `{1}` and `{name}` for what `parse` captured"
    )
    priority: Annotated[int, Field(ge=-_LARGEST_PRIORITY, le=_LARGEST_PRIORITY), WHOLE] = Field(
        50, description="the larger goes first"
    )

    def rule(self) -> TitleRule:
        """The rule; raises InvalidInput naming what is wrong in it."""
        return checked(
            name=self.name, condition=self.condition, parse=self.parse, fields=self.fields, priority=self.priority
        )


class RuleOrder(RuleDraft):
    """A rule to follow."""

    is_enabled: bool = True


class RulePreview(RuleDraft):
    """A rule to try."""

    titles: Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=PREVIEWED)] | None = Field(
        None, description="what to try it on; without any, the titles that could not be read last"
    )


class TitleRuleAnswer(BaseModel):
    """A rule. Times are UTC."""

    id: int
    name: str
    condition: str
    parse: str
    fields: dict[str, str]
    priority: int
    is_enabled: bool
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, stored: StoredRule) -> Self:
        rule = stored.rule
        return cls(
            id=stored.id,
            name=rule.name,
            condition=rule.condition,
            parse=rule.parse,
            fields=dict(rule.fields),
            priority=rule.priority,
            is_enabled=stored.is_enabled,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
        )


class TitleAnswer(BaseModel):
    """What a title says."""

    model_config = ConfigDict(from_attributes=True)

    title: str | None
    season: int | None
    episodes: tuple[int | float, ...]
    version: int | None
    group: str | None
    resolution: int | None
    source: str | None
    languages: tuple[str, ...]
    year: int | None
    kind: ReleaseKind
    is_batch: bool
    rule: str | None = Field(description="the rule that was followed")


class PreviewedAnswer(BaseModel):
    """A title, as it is read now and as it would be."""

    title: str
    before: TitleAnswer
    after: TitleAnswer

    @classmethod
    def of(cls, previewed: TitlePreview) -> Self:
        return cls(
            title=previewed.title,
            before=TitleAnswer.model_validate(previewed.before),
            after=TitleAnswer.model_validate(previewed.after),
        )


class TitleRulePreviewAnswer(BaseModel):
    """What a rule would do."""

    items: list[PreviewedAnswer]


def router(rules: TitleRules) -> Router:
    """The routes of the rules for titles."""
    routes = Router(prefix="/api/v1/title-rules", tags=["following"])

    @routes.get("", responses=documented())
    async def list_title_rules() -> PageAnswer[TitleRuleAnswer]:
        """Every rule in the order in which they are tried."""
        return PageAnswer[TitleRuleAnswer].whole([TitleRuleAnswer.of(stored) for stored in await rules.everything()])

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def create_title_rule(order: RuleOrder) -> TitleRuleAnswer:
        """Store a rule. Items that could not be read, and now can, become links at once."""
        return TitleRuleAnswer.of(await rules.add(order.rule(), is_enabled=order.is_enabled))

    @routes.put("/{rule_id}", responses=documented(404, 409, *WITH_BODY))
    async def replace_title_rule(rule_id: RuleId, order: RuleOrder) -> TitleRuleAnswer:
        """Put a rule in the place of another. Items that could not be read, and now can, become links at once."""
        return TitleRuleAnswer.of(await rules.change(rule_id, order.rule(), is_enabled=order.is_enabled))

    @routes.delete("/{rule_id}", status_code=204, responses=documented(404, 422))
    async def delete_title_rule(rule_id: RuleId) -> None:
        """Forget a rule. What was read by it stays."""
        await rules.remove(rule_id)

    @routes.post("/preview", responses=documented(*WITH_BODY))
    async def preview_title_rule(preview: RulePreview) -> TitleRulePreviewAnswer:
        """What a rule would make of titles. Nothing is stored."""
        found = await rules.preview(preview.rule(), preview.titles)
        return TitleRulePreviewAnswer(items=[PreviewedAnswer.of(one) for one in found])

    return routes
