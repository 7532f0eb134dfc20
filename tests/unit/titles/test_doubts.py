"""A number that may be wrong is said to be doubtful; one that a sign marks is not."""

from __future__ import annotations

import pytest

from kurabito.titles import TitleDoubt, TitleRule, parse_title

DOUBTFUL = [
    ("The.Cellar.S2013E14.720p.HDTV.x264-KURA", "season_implausible"),
    ("The Cellar Season 61 1080p", "season_implausible"),
    ("[Kura] Koji no Uta - 001-366 [720p]", "range_too_long"),
    ("[Kura] Koji no Uta Episode 2012 [720p]", "episode_is_year"),
    ("[Kura] Mob Brewer 100 [1080p]", "bare_number"),
    ("Cellar Bar 360", "bare_number"),
    ("The Cellar - 103 - First Pressing", "bare_number"),
    ("The Cellar [401] First Pressing", "bare_number"),
    ("Погреб 03-20", "bare_number"),
    ("09 Koji - The Great Vat.mkv", "bare_number"),
    ("[酒组][名杜氏酒南 1105][1080p]", "bare_number"),
    ("koji-07-first-pressing", "bare_number"),
    ("the.cellar.217.hdtv-kura", "split_number"),
]
SURE = [
    "[Kura] Koji no Uta - 07 [1080p]",
    "[Kura] Koji no Uta - 1089 [1080p]",
    "[Kura] Koji no Uta [103][1080p]",
    "[Kura] Koji no Uta 031 [720p]",
    "[Kura] Koji no Uta 07 [720p]",
    "[Kura] Koji no Uta [01-12 Fin][1080p]",
    "The.Cellar.S01E07.1080p.WEB.H264-KURA",
    "The Cellar 1x07",
    "The Cellar Episode 107",
    "夜之杜氏 第107话",
    "The Cellar 2019 1080p",
]


@pytest.mark.parametrize(("title", "doubt"), DOUBTFUL)
def test_a_number_of_several_readings_is_doubtful(title: str, doubt: str) -> None:
    assert parse_title(title).doubts == (TitleDoubt(doubt),)


@pytest.mark.parametrize("title", SURE)
def test_a_number_with_a_sign_is_not(title: str) -> None:
    assert parse_title(title).doubts == ()


def test_a_rule_that_says_the_numbers_ends_the_doubt() -> None:
    rule = TitleRule(name="counts on", condition="Mob Brewer", parse=r"(?P<episodes>\d+) \[")

    assert parse_title("[Kura] Mob Brewer 100 [1080p]", rules=[rule]).doubts == ()
