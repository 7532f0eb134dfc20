"""Templates: tokens, formats, optional parts, braces; and errors that say where."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kurabito.placements.errors import InvalidTemplate, ValueUnknown
from kurabito.placements.naming.presets import PRESETS, NamingSettings, Preset
from kurabito.placements.naming.template import read_template
from kurabito.placements.naming.tokens import TOKENS, NameFacts
from kurabito.web.forms import Problem
from kurabito.web.languages import catalogues
from kurabito.web.words import Words

FACTS = NameFacts(
    title="夜の蔵人",
    title_en="Night Brewer",
    year=2024,
    season=2,
    episode=(7,),
    absolute=(19,),
    group="Kura",
    resolution=1080,
    tmdb_id=77,
)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{title}", "夜の蔵人"),
        ("{title_en}", "Night Brewer"),
        ("{title_ja}", "夜の蔵人"),
        ("{title_en} S{season:02}E{episode:02}", "Night Brewer S02E07"),
        ("{title_en} - {season}x{episode:3}", "Night Brewer - 2x007"),
        ("{title_en} - {absolute:03}", "Night Brewer - 019"),
        ("{title_en}< ({year})>", "Night Brewer (2024)"),
        ("{title_en}< - {episode_title}>", "Night Brewer"),
        ("{title_en}< {{tmdb-{tmdb_id}}}>", "Night Brewer {tmdb-77}"),
        ("{title_en}< [{group}<1>", None),
        ("{title_en} {episodes}< [{resolution}p {source}]>", "Night Brewer E07"),
        ("{{{title_en}}}", "{Night Brewer}"),
    ],
)
def test_a_template_gives_a_name(template: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(InvalidTemplate):
            read_template(template)
    else:
        assert read_template(template).render(FACTS) == name


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("S{season:02}E{episode:02}", "S01E01-E03"),
        ("{season}x{episode:02}", "1x01-x03"),
        ("Ep{episode:02}", "Ep01-Ep03"),
        ("- {episode:02}", "- 01-03"),
        ("{episodes}", "E01-E03"),
    ],
)
def test_several_episodes_are_a_range_in_the_style_of_the_template(template: str, name: str) -> None:
    assert read_template(template).render(NameFacts(season=1, episode=(1, 2, 3))) == name


@pytest.mark.parametrize(
    ("template", "position", "problem"),
    [
        ("{title", 1, "never closed"),
        ("{title} }", 9, "closes nothing"),
        ("{title} {sesaon:02}", 9, "no token {sesaon}"),
        ("{title} {season:2x}", 9, "not understood"),
        ("{title:02}", 7, "is a text"),
        ("{title} <({year})", 9, "never closed"),
        ("{title} <<{year}>>", 10, "another one"),
        ("{title}>", 8, "no optional part"),
        ("{title}< - >", 8, "no token"),
        ("{title}/{year}", 8, "slash"),
        ("{title}: {year}", 8, "':'"),
        ("x" * 101, 101, "more than 100 bytes"),
        ("x" * 501, 501, "at most 500"),
    ],
)
def test_a_template_that_is_wrong_says_at_which_character(template: str, position: int, problem: str) -> None:
    with pytest.raises(InvalidTemplate, match="at character") as refused:
        read_template(template, "episode_file")
    assert refused.value.position == position
    assert problem in str(refused.value)
    assert refused.value.field == "episode_file"
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    for catalogue in catalogues().values():
        assert str(position) in Words(catalogue, datetime.now(UTC)).problem(Problem.of(refused.value, ()))


def test_a_fact_that_is_needed_and_not_known_gives_no_name() -> None:
    template = read_template("{title} ({year})")
    assert template.needed == {"year"}
    with pytest.raises(ValueUnknown, match=r"<\{year\}>") as missing:
        template.render(NameFacts(title="Koji"))
    assert missing.value.token == "year"


def test_a_long_name_gives_up_words_and_never_numbers() -> None:
    facts = NameFacts(title="長" * 100, episode_title="題" * 100, season=1, episode=(1, 2), group="g" * 80)
    template = read_template("{title} S{season:02}E{episode:02}< - {episode_title}>< [{group}]>")
    name = template.render(facts, 200)
    assert len(name.encode()) <= 200
    assert " S01E01-E02 - " in name
    assert name.endswith("]")
    assert name.startswith("長長長")


def test_every_preset_can_be_read_and_every_token_has_a_place_in_a_template() -> None:
    for preset in Preset:
        PRESETS[preset].check()
    for token in TOKENS:
        read_template(f"{{{token}}}")


@pytest.mark.parametrize(
    "naming",
    [
        replace(PRESETS[Preset.PLEX], episode_file="{title}"),
        replace(PRESETS[Preset.PLEX], film_file="{year}"),
        replace(PRESETS[Preset.PLEX], film_file=""),
    ],
)
def test_a_name_that_all_files_would_share_is_refused(naming: NamingSettings) -> None:
    with pytest.raises(InvalidTemplate, match="share one name"):
        naming.check()
