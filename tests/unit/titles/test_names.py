"""A name tells its script and, where it can, its language; some names tell nothing at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.titles import parse_title
from kurabito.titles.junk_names import is_junk_name
from kurabito.titles.scripts import Script, SeriesName

NAMES = [
    ("Yoru no Kurabito", Script.LATIN, "ja-Latn"),
    ("The Night Brewer", Script.LATIN, "en"),
    ("Kuranacht", Script.LATIN, None),
    ("夜の蔵人", Script.KANA, "ja"),
    ("くらびとガール", Script.KANA, "ja"),
    ("谁の酒坊", Script.KANA, "zh-Hans"),
    ("夜之酿酒师", Script.HAN, "zh-Hans"),
    ("夜之釀酒師們", Script.HAN, "zh-Hant"),
    ("剣戟桜蔵", Script.HAN, "ja"),
    ("國王", Script.HAN, "zh-Hant"),
    ("東山", Script.HAN, None),
    ("밤의 양조장", Script.HANGUL, "ko"),
    ("Ночной погреб", Script.OTHER, None),
    ("86", Script.OTHER, None),
    ("Émile à la cave", Script.LATIN, None),
]


@pytest.mark.parametrize(("text", "script", "language"), NAMES)
def test_a_name_tells_its_script_and_language(text: str, script: Script, language: str | None) -> None:
    assert SeriesName.of(text) == (text, script, language)


def test_a_release_tells_the_scripts_of_its_names() -> None:
    found = parse_title("[喵喵字幕组] 夜之酿酒师 / 夜の蔵人 / Yoru no Kurabito [07][1080p][简繁内封]")

    assert [(name.text, name.language) for name in found.names] == [
        ("夜之酿酒师", "zh-Hans"),
        ("夜の蔵人", "ja"),
        ("Yoru no Kurabito", "ja-Latn"),
    ]


JUNK = """Part 2|Final Season|The Final Season|Season 2|2nd Season|S2|S01|II|Part II|Part A|Second Season Part 2|Cour 2|Movie|The Movie|Movie 3|
01-24TV|01-24|1-12 Fin|TV|TV 01-12|OVA|OAD 2|SP|Specials|Special 3|BD|BDRip 1080p|1080p|WEB-DL|x265 10bit|HEVC|Batch|Complete|Complete Batch|
Vol.1|Volume 3|Episode 12|E01-E12|v2|K|X||86|...|第二季|第2期|第一部分|最终季|最終章|完结篇|剧场版|劇場版|特别篇|番外篇|全集|合集|01-12TV全集|总集篇|
上篇|后篇|前編|電影版|简体|简繁内封字幕|日语|4月新番|テレビアニメ|第2クール|English Subs|Dual Audio|Extended Edition|Chinese""".replace(
    "\n", ""
).split("|")
TELLING = """Koji no Uta|The Last Kurabito|91 Days of Rice|Special A|Final Approach|Movie Star|Season of Rice|K-ON-JI|Kura 2|Partner|夜之蔵人|
新世界蔵人|三月的杜氏|中二杜氏|最终幻酒|Another|Banana|We|밤의 양조장|Ночной погреб|蔵人|No. 6|The Ova Farm|Complete Kurabito|Web of Koji""".replace(
    "\n", ""
).split("|")


@pytest.mark.parametrize("name", JUNK)
def test_a_junk_name_may_become_no_alias(name: str) -> None:
    assert is_junk_name(name)


@pytest.mark.parametrize("name", TELLING)
def test_a_telling_name_may(name: str) -> None:
    assert not is_junk_name(name)


@given(
    st.lists(
        st.sampled_from("Part Season Final The Movie TV OVA 2 02 01-12 II BD 1080p 第二季 全集 END Vol.3 v2".split()),
        min_size=1,
        max_size=6,
    )
)
def test_junk_stays_junk_in_any_order(words: list[str]) -> None:
    assert is_junk_name(" ".join(words))
    assert not is_junk_name(" ".join([*words, "Kurabito"]))


@given(st.text(max_size=80))
def test_every_text_is_a_name_of_some_script(text: str) -> None:
    assert SeriesName.of(text).script in Script
    assert is_junk_name(text) in (True, False)


WRITTEN = [
    ("[蔵] 夜の蔵人(2018) [05][1080p]", "夜の蔵人(2018)"),
    ("[蔵][夜之蔵人 2期][05][1080P]", "夜之蔵人 2期"),
    ("[蔵] 夜之蔵人特别篇 归来 - 05 [1080p]", "夜之蔵人特别篇 归来"),
    ("[蔵] 夜之蔵人 Alembic [05]", "夜之蔵人 Alembic"),
    ("[Kura] The Cellar Should Be Special - 05 [1080p]", "The Cellar Should Be Special"),
    ("[Kura] 七蔵6/17 [05]", "七蔵6/17"),
]


@pytest.mark.parametrize(("title", "whole"), WRITTEN)
def test_a_name_is_kept_as_it_is_written(title: str, whole: str) -> None:
    assert parse_title(title).written[0] == whole


def test_names_between_separators_are_kept_as_they_are_written_one_by_one() -> None:
    found = parse_title("[蔵] 夜之蔵人 第二季 / Yoru no Kurabito S2 [07][1080p]")

    assert found.written == ("夜之蔵人 第二季 / Yoru no Kurabito S2", "夜之蔵人 第二季", "Yoru no Kurabito S2")
