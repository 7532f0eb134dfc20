"""Whatever the text, the parser gives back well-formed values and says where they came from."""

from __future__ import annotations

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from kurabito.titles import ReleaseKind, ReleaseTitle, parse_title
from kurabito.titles.text import normalise

PIECES = (
    "[ ] ( ) 【 】 - _ . / | ~ & + , : # ★ 第 话 季 期 全 集 完 合集 新番 简体 繁日雙語 劇場版 夜之蔵人 S01 E02 S01E02 1x02 01 12 12.5 "
    "v2 01-12 2019 (2019) 2020.06.19 1080p 1920x1080 x264 HEVC AAC WEB-DL BDRip OVA SP NCOP Movie END Vol.1 A1B2C3D4 Kura "
    "Koji no Yoru The Cellar -GRP .mkv Season Episode French Complete www.example.com \u202e \x00"
).split(" ")
TEXTS = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map(" ".join)
GLUED = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def check(found: ReleaseTitle) -> None:
    assert (found.title is None) == (not found.titles)
    assert found.title is None or found.title in found.titles
    assert all(name.strip() == name and any(char.isalnum() for char in name) for name in found.titles)
    assert len(set(found.titles)) == len(found.titles)
    assert all(number >= 0 for number in found.episodes)
    assert list(found.episodes) == sorted(set(found.episodes))
    assert list(found.seasons) == sorted(set(found.seasons))
    assert found.season == (found.seasons[0] if found.seasons else None)
    assert (found.group is None) == (not found.groups)
    assert found.resolution is None or 100 <= found.resolution <= 9999
    assert found.year is None or 1900 <= found.year <= 2099
    assert found.checksum is None or len(found.checksum) == 8
    assert isinstance(found.kind, ReleaseKind)
    assert found.is_batch or len(found.episodes) <= 1


@given(TEXTS | GLUED)
def test_every_text_gives_well_formed_values(text: str) -> None:
    found = parse_title(text)

    check(found)
    json.dumps(asdict(found), ensure_ascii=False).encode()


@given(TEXTS | GLUED)
def test_an_explanation_changes_nothing_and_quotes_the_title(text: str) -> None:
    explained = parse_title(text, explain=True)

    assert {**asdict(explained), "findings": ()} == asdict(parse_title(text))
    assert all(finding.text in normalise(text) for finding in explained.findings)


@given(st.integers(1, 9999), st.integers(1, 9))
def test_the_number_behind_the_dash_is_the_episode(number: int, version: int) -> None:
    if 1900 <= number <= 2099:
        return
    found = parse_title(f"[Kura] Koji no Yoru - {number:02}v{version} [1080p]")

    assert (found.title, found.episodes, found.version) == ("Koji no Yoru", (number,), version)


@given(st.integers(0, 99), st.integers(0, 999))
def test_season_and_episode_of_a_scene_name(season: int, episode: int) -> None:
    found = parse_title(f"The.Cellar.S{season:02}E{episode:02}.720p.HDTV.x264-KURA")

    assert (found.title, found.season, found.episodes, found.group) == ("The Cellar", season, (episode,), "KURA")
