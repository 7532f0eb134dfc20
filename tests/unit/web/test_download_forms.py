"""Filter rules as a form has them."""

from __future__ import annotations

import pytest

from kurabito.downloads.filters.model import Action, Fields, FilterRule, RuleScope, Target
from kurabito.errors import InvalidInput
from kurabito.web.downloads.filter_form import FilterForm, key_of, scope_of

RULE = FilterRule(
    name="no small ones",
    action=Action.INCLUDE,
    scope=RuleScope(Target.SERIES, 7),
    rule_order=-3,
    pattern=r"1080p\b",
    fields=Fields(
        groups=("Kura", "Lantern"),
        resolutions=(1080, 2160),
        languages=("ja",),
        sources=("WEB-DL",),
        min_size=1_234_567,
        max_size=5 << 30,
        title="Dawn",
    ),
    is_enabled=False,
)


def test_a_rule_comes_back_from_its_form_as_it_was() -> None:
    assert FilterForm.of(RULE).rule() == RULE


def test_lists_are_read_however_they_are_separated() -> None:
    form = FilterForm(
        {"name": "x", "groups": " Kura ,Kura;Lantern、蔵字幕組\N{FULLWIDTH COMMA}", "resolutions": "1080P, 720"}
    )
    assert form.rule().fields == Fields(groups=("Kura", "Lantern", "蔵字幕組"), resolutions=(1080, 720))


@pytest.mark.parametrize("scope", [RuleScope(Target.GLOBAL), RuleScope(Target.FETCHER), RuleScope(Target.GROUP, 12)])
def test_a_scope_is_a_choice_of_the_form(scope: RuleScope) -> None:
    assert scope_of(key_of(scope)) == scope


@pytest.mark.parametrize("key", ["planet", "series:x", "series:-1", "series:99999999999999999999"])
def test_what_is_no_scope_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        scope_of(key)


@pytest.mark.parametrize("size", ["-1", "nan", "inf", "1e300", "much"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(InvalidInput, match="MiB"):
        FilterForm({"name": "x", "max_size": size}).rule()
