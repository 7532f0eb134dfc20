"""The user's rules come first, and cannot stop anything."""

from __future__ import annotations

import pytest

from kurabito.reasons import InputReason
from kurabito.titles import InvalidRule, TitleRule, parse_title

TITLE = "[Kura] Koji no Yoru II - 31 [1080p]"


def rule(**changes: object) -> TitleRule:
    given = {
        "name": "second half",
        "condition": "koji no yoru II",
        "parse": r"II - (?P<episodes>\d+)",
        "fields": {"title": "Koji no Yoru", "season": "2"},
    }
    return TitleRule(**{**given, **changes})  # type: ignore[arg-type]


def test_a_rule_says_what_the_title_is_about_and_leaves_the_rest_to_the_recognisers() -> None:
    found = parse_title(TITLE, rules=[rule()])

    assert (found.title, found.season, found.episodes) == ("Koji no Yoru", 2, (31,))
    assert (found.group, found.resolution) == ("Kura", 1080)
    assert found.rule == "second half"


def test_a_rule_that_does_not_fit_changes_nothing() -> None:
    assert parse_title(TITLE, rules=[rule(condition="^Koji")]) == parse_title(TITLE)
    assert parse_title(TITLE, rules=[rule(parse=r"III - (?P<episodes>\d+)")]) == parse_title(TITLE)


def test_the_larger_priority_goes_first() -> None:
    low = rule(name="low", priority=10, fields={"season": "1"})
    high = rule(name="high", priority=90, fields={"season": "9"})

    assert parse_title(TITLE, rules=[low, high]).season == 9
    assert parse_title(TITLE, rules=[low]).season == 1


def test_of_equal_priorities_the_first_counts() -> None:
    rules = [rule(name="one", fields={"season": "1"}), rule(name="two", fields={"season": "2"})]

    assert parse_title(TITLE, rules=rules).rule == "one"


def test_a_field_is_made_of_captures() -> None:
    made = rule(parse=r"\] (\w+) no (?P<place>\w+)", fields={"title": "{place} of {1}"})

    assert parse_title(TITLE, rules=[made]).title == "Yoru of Koji"


def test_a_rule_can_give_a_range_a_kind_and_languages() -> None:
    made = rule(parse="31", fields={"episodes": "1-3", "kind": "ova", "languages": "ja, zh-Hans", "resolution": "720p"})
    found = parse_title(TITLE, rules=[made])

    assert (found.episodes, found.is_batch, found.kind) == ((1, 2, 3), True, "ova")
    assert (found.languages, found.resolution) == (("ja", "zh-Hans"), 720)


def test_a_capture_that_the_field_cannot_hold_lets_the_next_rule_try() -> None:
    wrong = rule(name="wrong", parse=r"no (?P<season>\w+)", fields={}, priority=99)

    assert parse_title(TITLE, rules=[wrong, rule()]).rule == "second half"


def test_a_capture_that_is_empty_leaves_the_field_alone() -> None:
    made = rule(parse=r"Yoru(?P<title>X)? II", fields={"year": "2020"})
    found = parse_title(TITLE, rules=[made])

    assert (found.title, found.year) == ("Koji no Yoru II", 2020)


def test_patterns_ignore_case_and_see_the_normalised_title() -> None:
    assert parse_title("【KURA】ＫＯＪＩ　NO YORU II - 31", rules=[rule()]).rule == "second half"
    assert parse_title(TITLE, rules=[rule(condition="(?-i)koji")]).rule is None


def test_the_rule_explains_itself_first() -> None:
    first = parse_title(TITLE, rules=[rule()], explain=True).findings[0]

    assert (first.recogniser, first.text) == ("rule", "II - 31")
    assert "second half" in first.why


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"condition": "("}, "condition"),
        ({"parse": r"(?=a)b"}, "parse"),
        ({"parse": r"(a)\1"}, "parse"),
        ({"condition": "a" * 1001}, "condition"),
        ({"parse": "((a{1,100}){1,100}){1,100}"}, "parse"),
        ({"fields": {"colour": "red"}}, "fields.colour"),
        ({"fields": {"season": "two"}}, "fields.season"),
        ({"fields": {"episodes": "all"}}, "fields.episodes"),
        ({"fields": {"kind": "opera"}}, "fields.kind"),
        ({"fields": {"is_batch": "maybe"}}, "fields.is_batch"),
        ({"fields": {"title": "{nobody}"}}, "fields.title"),
        ({"fields": {"title": "{7}"}}, "fields.title"),
        ({"fields": {}, "parse": "31"}, "fields"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_the_part_that_is_wrong(changes: dict[str, object], part: str) -> None:
    with pytest.raises(InvalidRule) as caught:
        rule(**changes)

    assert caught.value.part == part
    assert str(caught.value).startswith(f"{part}: ")
    assert caught.value.reason.code in InputReason


def test_a_pattern_that_would_backtrack_for_ever_elsewhere_is_harmless() -> None:
    greedy = rule(condition="(a+)+$", parse="(?P<title>(a|a)*)b")

    assert parse_title("a" * 900 + "!", rules=[greedy]).rule is None


def test_captures_and_places_count_characters_whatever_their_script() -> None:
    counted = rule(condition="夜之", parse=r"(?P<title>夜之\S+) 第(?P<episodes>\d+)話", fields={"group": "{1}組"})

    found = parse_title("【蔵】夜之蔵人 第31話", rules=[counted], explain=True)

    assert (found.title, found.episodes, found.group) == ("夜之蔵人", (31,), "夜之蔵人組")
    assert (found.findings[0].text, found.findings[0].start) == ("夜之蔵人 第31話", 3)


def test_a_rule_that_cuts_a_character_in_two_stops_nothing() -> None:
    cutting = rule(condition="夜", parse=r"夜\C(?P<title>\C+?人)", fields={})

    assert "蔵人" in str(parse_title("夜之蔵人 - 01", rules=[cutting], explain=True).title)
