"""Filters: rules for which links are taken, and what a change would do before it is made."""

from __future__ import annotations

from typing import Annotated, Final, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.paging import PageAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.downloads.filters.model import LONGEST_PATTERN, Action, Fields, FilterRule, RuleScope, Target
from kurabito.downloads.filters.service import Effect, Filters
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

_MOST_SHOWN: Final = 1_000
RuleId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the rule's id")]
Id = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
Size = Annotated[int, Field(ge=0, le=BIGGEST_ID), WHOLE]
Names = Annotated[list[ShortText], Field(max_length=100)]
Pattern = Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN, pattern=r"^[^\x00]*$")]


class FieldsBody(StrictBody):
    """What a link has to be. Everything that is named has to fit; of a list, any."""

    model_config = ConfigDict(from_attributes=True)

    groups: Names = Field(default_factory=list)
    resolutions: Annotated[list[Annotated[int, Field(ge=1, le=100_000), WHOLE]], Field(max_length=100)] = Field(
        default_factory=list, description="heights, like 1080"
    )
    languages: Names = Field(default_factory=list)
    sources: Names = Field(default_factory=list)
    min_size: Size | None = Field(None, description="in bytes")
    max_size: Size | None = Field(None, description="in bytes")
    title: ShortText | None = Field(None, description="words that stand in the title as they are")

    def fields(self) -> Fields:
        return Fields(
            groups=tuple(self.groups),
            resolutions=tuple(self.resolutions),
            languages=tuple(self.languages),
            sources=tuple(self.sources),
            min_size=self.min_size,
            max_size=self.max_size,
            title=self.title,
        )

    @classmethod
    def of(cls, fields: Fields) -> Self:
        return cls(
            groups=list(fields.groups),
            resolutions=list(fields.resolutions),
            languages=list(fields.languages),
            sources=list(fields.sources),
            min_size=fields.min_size,
            max_size=fields.max_size,
            title=fields.title,
        )


class RuleBody(StrictBody):
    """A rule: a pattern, fields, or both; all of them must match."""

    name: ShortText
    action: Annotated[Action, Field(strict=False)]
    target_type: Annotated[Target, Field(strict=False)] = Target.GLOBAL
    target_id: Id | None = Field(
        None, description="of the series, group, fetcher or subscription; none: the built-in fetcher"
    )
    rule_order: Annotated[int, Field(ge=-1_000_000, le=1_000_000), WHOLE] = Field(
        0, description="of several rules that decide the same, the first is named as the reason"
    )
    pattern: Pattern | None = Field(None, description="searched in the title, whatever the case; RE2's syntax")
    fields: FieldsBody = Field(default_factory=FieldsBody)
    is_enabled: bool = True

    def rule(self) -> FilterRule:
        return FilterRule(
            name=self.name,
            action=self.action,
            scope=RuleScope(self.target_type, self.target_id),
            rule_order=self.rule_order,
            pattern=self.pattern,
            fields=self.fields.fields(),
            is_enabled=self.is_enabled,
        )


class FilterRuleAnswer(BaseModel):
    """A filter rule."""

    id: int
    name: str
    action: Action
    target_type: Target
    target_id: int | None
    rule_order: int
    pattern: str | None
    fields: FieldsBody
    is_enabled: bool

    @classmethod
    def of(cls, rule: FilterRule) -> Self:
        assert rule.id is not None
        return cls(
            id=rule.id,
            name=rule.name,
            action=rule.action,
            target_type=rule.scope.target_type,
            target_id=rule.scope.target_id,
            rule_order=rule.rule_order,
            pattern=rule.pattern,
            fields=FieldsBody.of(rule.fields),
            is_enabled=rule.is_enabled,
        )


class FilterDraft(StrictBody):
    """A change that was not made yet: a new rule, one in the place of another, or another taken away."""

    rule_id: Id | None = Field(None, description="the rule that is changed or taken away")
    rule: RuleBody | None = Field(None, description="what it would be; null takes it away")


class ExcludedAnswer(BaseModel):
    """A link that would be taken no longer."""

    link_id: int
    title: str
    reason: str
    why: WhyAnswer | None = Field(description="the reason as a code with facts")
    download_id: int | None = Field(description="the download that would be cancelled")


class FreedAnswer(BaseModel):
    """A link that could be taken then: no rule keeps it away, or what was taken in its place is excluded."""

    link_id: int
    title: str
    is_dispatched: bool = Field(
        description="false where another release of the episode is there, or the series is held"
    )


class ReplacedAnswer(BaseModel):
    """A download that would end because a release that can be taken then is better, such as a second version."""

    model_config = ConfigDict(from_attributes=True)

    download_id: int
    title: str


class FilterPreviewAnswer(BaseModel):
    """What saving would do, no more and no less. The lists show the first of many."""

    excluded_count: int
    cancelled_count: int = Field(description="by the rule, and because something better can be taken")
    freed_count: int
    dispatched_count: int
    asked_count: int = Field(description="episodes that would need you to choose a release")
    waiting_count: int = Field(description="episodes that would wait for a better release first")
    newly_excluded: list[ExcludedAnswer]
    replaced: list[ReplacedAnswer]
    newly_dispatched: list[FreedAnswer]
    asked: list[int] = Field(description="the ids of those episodes")
    waiting: list[int] = Field(description="the ids of those episodes")

    @classmethod
    def of(cls, effect: Effect) -> Self:
        sent = set(effect.choice.dispatch)
        return cls(
            excluded_count=len(effect.excluded),
            cancelled_count=len(effect.cancelled),
            freed_count=len(effect.freed),
            dispatched_count=len(sent),
            asked_count=len(effect.choice.ask),
            waiting_count=len(effect.choice.wait),
            newly_excluded=[
                ExcludedAnswer(
                    link_id=one.link_id,
                    title=one.title,
                    reason=sentence_of(one.reason) or "",
                    why=WhyAnswer.of(one.reason),
                    download_id=one.download_id,
                )
                for one in effect.excluded[:_MOST_SHOWN]
            ],
            replaced=[ReplacedAnswer.model_validate(one) for one in effect.replaced[:_MOST_SHOWN]],
            newly_dispatched=[
                FreedAnswer(link_id=one.id, title=one.title, is_dispatched=one.id in sent)
                for one in (*effect.next_best, *effect.freed)[:_MOST_SHOWN]
            ],
            asked=effect.choice.ask[:_MOST_SHOWN],
            waiting=list(effect.choice.wait)[:_MOST_SHOWN],
        )


def router(filters: Filters) -> Router:
    """The routes of the filters."""
    routes = Router(prefix="/api/v1/filters", tags=["downloads"])

    @routes.get("", responses=documented())
    async def list_filters() -> PageAnswer[FilterRuleAnswer]:
        """Every filter rule."""
        return PageAnswer[FilterRuleAnswer].whole([FilterRuleAnswer.of(rule) for rule in await filters.everything()])

    @routes.post("", status_code=201, responses=documented(*WITH_BODY))
    async def create_filter(body: RuleBody) -> FilterRuleAnswer:
        """Store a rule. Links that it excludes are cancelled at once, unless they are complete."""
        return FilterRuleAnswer.of(await filters.add(body.rule()))

    @routes.post("/preview", responses=documented(404, *WITH_BODY))
    async def preview_filter(draft: FilterDraft) -> FilterPreviewAnswer:
        """What a change would do. Nothing is changed."""
        return FilterPreviewAnswer.of(await filters.preview(draft.rule.rule() if draft.rule else None, draft.rule_id))

    @routes.put("/{rule_id}", responses=documented(404, *WITH_BODY))
    async def change_filter(rule_id: RuleId, body: RuleBody) -> FilterRuleAnswer:
        """Put a rule in the place of another."""
        return FilterRuleAnswer.of(await filters.change(rule_id, body.rule()))

    @routes.delete("/{rule_id}", status_code=204, responses=documented(404, 422))
    async def delete_filter(rule_id: RuleId) -> None:
        """Forget a rule. What it alone kept away is taken."""
        await filters.remove(rule_id)

    return routes
