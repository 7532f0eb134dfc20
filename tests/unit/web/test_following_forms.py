"""The forms of feeds, series and rules: what is typed means what it says, or is refused where it stands."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.catalog.errors import SeriesConflict
from kurabito.catalog.series import Alias, Series
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.errors import InvalidInput
from kurabito.titles import parse_title
from kurabito.web.following.rule_form import RuleForm
from kurabito.web.following.subscription_form import SubscriptionForm
from kurabito.web.shows.series_form import SeriesForm

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=40)
THEN = datetime(2026, 1, 1, tzinfo=UTC)


def _series(*aliases: Alias) -> Series:
    return Series(1, "The Storehouse", 1, SeriesKind.TV, None, 0, SeriesState.FOLLOWED, THEN, THEN, aliases)


@pytest.mark.parametrize(
    ("title", "others"),
    [
        ("第05話 [1080p][字幕]", ["第06話 [1080p][字幕]", "第112話 [1080p][字幕]"]),
        ("【1080P】【05】", ["【1080P】【06】"]),
        ("(1080p) 05 [ABCD1234].mkv", ["(1080p) 12 [ABCD1234].mkv"]),
        # The number may stand where another one like it stands.
        ("#05 (05.05.2026) $^.*+?|\\", ["#06 (05.05.2026) $^.*+?|\\"]),
    ],
)
def test_the_draft_for_a_title_needs_only_the_name_of_the_series(title: str, others: list[str]) -> None:
    draft = RuleForm.about(title)
    rule = RuleForm({**draft.typed, "fields.title": "The Storehouse"}).rule()
    for one in (title, *others):
        found = parse_title(one, rules=[rule])
        assert (found.rule, found.title) == (rule.name, "The Storehouse")
        assert len(found.episodes) == 1
    assert parse_title(others[0], rules=[rule]).episodes != parse_title(title, rules=[rule]).episodes
    assert parse_title("[Kura] Something else - 05", rules=[rule]).rule is None


@given(st.text(max_size=200))
def test_there_is_a_draft_for_any_title(title: str) -> None:
    form = RuleForm.about(title)
    if form.value("condition").isprintable() and len(form.value("condition")) <= 1000:
        assert RuleForm({**form.typed, "fields.title": "The Storehouse"}).draft().fields == {"title": "The Storehouse"}


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"condition": "(", "parse": "(?P<episodes>1)"}, "condition"),
        ({"condition": "a", "parse": "(?=a)"}, "parse"),
        ({"condition": "a", "parse": "a"}, "fields"),
        ({"condition": "a", "parse": "a", "fields.season": "two"}, "fields.season"),
        ({"condition": "a", "parse": "a", "fields.title": "x\x00"}, "fields.title"),
        ({"condition": "a\x00", "parse": "(?P<title>a)"}, "condition"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_where_it_stands(typed: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        RuleForm({"name": "rule", **typed}).rule()
    assert refused.value.field == field


@given(st.lists(st.builds(Alias, NAMES, st.integers(0, 100)), unique=True, max_size=5))
def test_aliases_are_read_as_they_are_shown(aliases: list[Alias]) -> None:
    assert SeriesForm.of(_series(*aliases)).changes()["aliases"] == tuple(aliases)


@pytest.mark.parametrize("alias", [Alias("Gate | 2", 1), Alias("Gate | 2", 3), Alias("2", 1), Alias("| 2", 1)])
def test_a_name_that_looks_like_a_season_stays_a_name(alias: Alias) -> None:
    assert SeriesForm.of(_series(alias)).changes()["aliases"] == (alias,)


def test_what_is_wrong_stands_beside_its_field() -> None:
    form = SeriesForm({"title": "a", "season": "x", "episode_offset": "0"})
    with pytest.raises(InvalidInput) as refused:
        form.changes()
    shown = form.refused(refused.value)
    assert shown.problem is not None
    assert (shown.problem.field, shown.value("season")) == ("season", "x")
    taken = form.refused(SeriesConflict("'a' is a name of another", field="aliases"))
    assert taken.problem is not None
    assert (taken.problem.field, taken.problem.detail) == ("aliases", "'a' is a name of another")
    with pytest.raises(SeriesConflict):
        form.refused(SeriesConflict("else", field="somebody"))


def test_a_feed_is_named_after_itself_or_its_site_without_secrets() -> None:
    form = SubscriptionForm({"url": ["https://me:secret@feeds.example/rss"]})
    assert form.named(None).value("name") == "feeds.example"
    assert form.named("\x00The Storehouse\n").value("name") == "The Storehouse"
    assert SubscriptionForm({"name": ["Mine"]}).named("The Storehouse").value("name") == "Mine"
    assert SubscriptionForm({"url": ["http://[oops"]}).host == ""


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"series_id": ["1x"]}, "series_id"),
        ({"series_id": ["9" * 30]}, "series_id"),
        ({"new_series": ["perhaps"]}, "new_series"),
        ({"fetch_interval": ["often"]}, "fetch_interval"),
        ({"fetch_interval": ["1e99"]}, "fetch_interval"),
    ],
)
def test_a_choice_that_is_not_offered_is_refused(typed: dict[str, list[str]], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        SubscriptionForm(typed).changes()
    assert refused.value.field == field
