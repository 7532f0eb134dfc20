"""Two names of one series with nothing sure between them."""

from __future__ import annotations

import pytest

from kurabito.titles import parse_title

HEARD = [
    ("Yoru-ke Tadaima よるけ ただいま - 07", ("Yoru-ke Tadaima", "よるけ ただいま")),
    ("YEAST ALBUM イーストアルバム - 20", ("YEAST ALBUM", "イーストアルバム")),
    ("[Kura-Raws] Yoru no Sakaguchi 夜の坂口 - 03 (BS11 1280x720 x264 AAC).mp4", ("Yoru no Sakaguchi", "夜の坂口")),
    (
        "Kurabito Sketch x Hoshimittsu くらびとスケッチ×☆☆☆ - 03",
        ("Kurabito Sketch x Hoshimittsu", "Kurabito Sketch x Hoshimittsu くらびとスケッチ×"),
    ),
    ("Kurabito Sketch x Honey くらびとスケッチ×ハニー - 03", ("Kurabito Sketch x Honey", "くらびとスケッチ×ハニー")),
    ("[蔵] 夜家三姐妹 Yoru-ke よるけ [05][720p]", ("夜家三姐妹", "Yoru-ke", "よるけ")),
    ("[蔵] よるけ Yoru-ke 夜家三姐妹 [05][720p]", ("よるけ", "Yoru-ke", "夜家三姐妹")),
    ("[蔵] Yoru-ke よるけ / 夜家三姐妹 [05][720p]", ("Yoru-ke", "よるけ", "夜家三姐妹")),
    ("Love Brew! 夜蔵学園 - 03", ("Love Brew! 夜蔵学園",)),
    ("[酒组] KOJI KOJI 酒鼠車車 - 11 [1080P]", ("KOJI KOJI 酒鼠車車",)),
    ("[酒组] 16bit 的蔵人 - 11 [1080P]", ("16bit 的蔵人",)),
]


@pytest.mark.parametrize(("title", "names"), HEARD)
def test_a_latin_name_before_the_same_in_japanese_is_heard_in_it(title: str, names: tuple[str, ...]) -> None:
    assert parse_title(title).titles[: len(names)] == names


YEAR_FIRST = [
    ("[動漫老番][1969][夜之酿酒师 よるくら][01-26][DVDRip]", ("夜之酿酒师", "よるくら"), "動漫老番"),
    ("[動漫老番][1969][Yorukura][01-26][DVDRip]", ("Yorukura",), "動漫老番"),
    ("[喵字幕组][1985年][夜之蔵人 / Yoru no Kurabito][01-26][DVDRip]", ("夜之蔵人", "Yoru no Kurabito"), "喵字幕组"),
    ("[喵字幕组][经典老番][1985][夜之蔵人][01-26][DVDRip]", ("夜之蔵人",), "喵字幕组"),
    ("[2004][夜之蔵人][Yoru no Kurabito][01-12全][DVDRip]", ("夜之蔵人", "Yoru no Kurabito"), None),
    ("[2004][喵字幕组][夜之蔵人][01-12全][DVDRip]", ("夜之蔵人",), "喵字幕组"),
    ("[国漫][2019][夜之蔵人][05][1080p]", ("夜之蔵人",), None),
    ("[夜之蔵人][2019][KuraSub][05][1080p]", ("夜之蔵人",), "KuraSub"),
    ("[夜之蔵人][2019][Kura][05][1080p]", ("夜之蔵人",), "Kura"),
    ("[夜之蔵人][2019][喵字幕组][05][1080p]", ("夜之蔵人",), "喵字幕组"),
]


@pytest.mark.parametrize(("title", "names", "group"), YEAR_FIRST)
def test_a_year_may_stand_before_the_names(title: str, names: tuple[str, ...], group: str | None) -> None:
    found = parse_title(title)

    assert (found.titles, found.group) == (names, group)
    assert found.year in (1969, 1985, 2004, 2019)
    assert not any(written.startswith(("1", "2")) for written in found.written)


ENCLOSED = [
    ("[ANk] 夜光代理人 -NIGHT CLERK- - 09 [1080P][Baha]", ("夜光代理人", "NIGHT CLERK")),
    ("[ANk] 夜光代理人 -Yakou Dairi- - 09 [1080P][Baha]", ("夜光代理人", "Yakou Dairi")),
    ("[ANk] よるの旅 -That's Journey- - 09 [1080P]", ("よるの旅", "That's Journey", "よるの旅 -That's Journey-")),
    ("[ANk] 夜行旅-That's Journey- - 09 [1080P]", ("夜行旅-That's Journey-",)),
    ("[ANk] よる旅-That's Journey- - 09 [1080P]", ("よる旅-That's Journey-",)),
    ("[ANk] 夜之蔵人 -ENCORE- - 09 [1080P]", ("夜之蔵人 -ENCORE-",)),
    ("[ANk] 夜之蔵人 -STAMPEDE- - 09 [1080P]", ("夜之蔵人 -STAMPEDE-",)),
    ("[ANk] 夜之蔵人 -Final Season- - 09 [1080P]", ("夜之蔵人 -Final Season-",)),
    ("[Kura] Tsuki no Toji -Second Pressing- - 05 [1080p]", ("Tsuki no Toji -Second Pressing-",)),
    ("[Kura] Tsuki-no-Toji - 05 [1080p]", ("Tsuki-no-Toji",)),
]


@pytest.mark.parametrize(("title", "names"), ENCLOSED)
def test_what_stands_between_dashes_behind_a_blank_is_another_name(title: str, names: tuple[str, ...]) -> None:
    assert parse_title(title).titles == names


UNDERSCORED = [
    ("【华蔵字幕社】[夜酒餐厅_BREWING!!][04][GB_1280x720][x264_AAC]", ("夜酒餐厅", "BREWING!!")),
    ("[酒组][夜狐×蔵SS_Yoru x Kura Secret Service][04][GB_1280x720]", ("夜狐×蔵SS", "Yoru x Kura Secret Service")),
    ("[酒组][Kura SS_夜之蔵人][04][GB_1280x720][x264_AAC]", ("Kura SS", "夜之蔵人")),
    (
        "[酒组][夜之蔵人_Yoru_no_Kurabito][04][GB_1280x720][x264_AAC]",
        ("夜之蔵人", "Yoru no Kurabito", "夜之蔵人 Yoru no Kurabito"),
    ),
    ("[酒组][Yoru_Kurabito 夜之蔵人][04][GB_1280x720]", ("Yoru Kurabito 夜之蔵人",)),
    ("[酒组][夜之蔵人Kura Nikki_Encore][OVA][DVDRIP_AVC_AAC]", ("夜之蔵人Kura Nikki Encore",)),
    ("[酒组][夜之蔵人Finale_Yoru Kurabito Finale][04_END]", ("夜之蔵人Finale", "Yoru Kurabito Finale")),
    ("[酒组][夜之蔵人_OVA][04][GB_1280x720][x264_AAC]", ("夜之蔵人",)),
    ("[酒组][夜之蔵人_第二季][04][GB_1280x720][x264_AAC]", ("夜之蔵人",)),
    ("[酒组]_夜之蔵人_[04][GB_1280x720][HEVC_简体]", ("夜之蔵人",)),
]


@pytest.mark.parametrize(("title", "names"), UNDERSCORED)
def test_the_only_underscore_of_a_bracket_stands_between_two_names(title: str, names: tuple[str, ...]) -> None:
    assert parse_title(title).titles == names


SEASONS = [
    ("カグマン。2 Kaguman - 25 END", ("カグマン。", "Kaguman"), 2),
    ("[酒组][夜之蔵人2 Yoru no Kurabito][07][1080p]", ("夜之蔵人", "Yoru no Kurabito"), 2),
    (
        "[酒组][夜之蔵人2 Yoru no Kurabito 2][07][1080p]",
        ("夜之蔵人2", "Yoru no Kurabito 2", "夜之蔵人2 Yoru no Kurabito 2"),
        None,
    ),
    ("[ANk] 夜星偶像7 Second BREW! - 14 [1080P]", ("夜星偶像7", "Second BREW!", "夜星偶像7 Second BREW!"), None),
    (
        "[酒组] 夜之蔵人2 Brewer Returns 2019 BluRay",
        ("夜之蔵人2", "Brewer Returns", "夜之蔵人2 Brewer Returns"),
        None,
    ),
    ("[Judan] Kura Season 2 - 06 (Kura: Moromi Sou) [1080p]", ("Kura", "Kura: Moromi Sou"), 2),
    ("[Judan] Kura Yoru - S02E06 (Kura Yoru: Moromi) [1080p]", ("Kura Yoru", "Kura Yoru: Moromi"), 2),
    ("[Judan] Kura Yoru Season 2 (Kura Yoru: Moromi) [1080p] (Batch)", ("Kura Yoru", "Kura Yoru: Moromi"), 2),
    (
        "[EMBER] Yoru no Kurabito (2024) (Season 2) [1080p] [HEVC WEBRip] (The Night Brewer) (Batch)",
        ("Yoru no Kurabito", "The Night Brewer"),
        2,
    ),
    (
        "[EMBER] The Night Brewer S02E07 [1080p] [HEVC WEBRip] (Yoru no Kurabito)",
        ("The Night Brewer", "Yoru no Kurabito"),
        2,
    ),
    ("[EMBER] Yoru no Kurabito S02E07 [1080p] [HEVC WEBRip] (Weekly Release)", ("Yoru no Kurabito",), 2),
    ("[Judan] Kura Yoru Season 2 - 06 (Kura TV) [1080p]", ("Kura Yoru",), 2),
]


@pytest.mark.parametrize(("title", "names", "season"), SEASONS)
def test_a_season_stands_beside_both_of_its_names(title: str, names: tuple[str, ...], season: int | None) -> None:
    found = parse_title(title)

    assert (found.titles, found.season) == (names, season)


CAPITALS = [
    ("[酒组][夜里酿酒者 KURA-NIGHT][01-22]", ("夜里酿酒者", "KURA-NIGHT", "夜里酿酒者 KURA-NIGHT"), "KURA-NIGHT"),
    (
        "[酒组][夜里酿酒者 NIGHT×CELLAR][01-22]",
        ("夜里酿酒者", "NIGHT×CELLAR", "夜里酿酒者 NIGHT×CELLAR"),
        "NIGHT×CELLAR",
    ),
    (
        "[酒组][夜里酿酒者 NIGHT A CELLAR][01-22]",
        ("夜里酿酒者", "NIGHT A CELLAR", "夜里酿酒者 NIGHT A CELLAR"),
        "夜里酿酒者 NIGHT A CELLAR",
    ),
    ("[酒组][夜里酿酒者 BREWSING][01-22]", ("夜里酿酒者", "BREWSING", "夜里酿酒者 BREWSING"), "夜里酿酒者 BREWSING"),
    (
        "[酒组][夜里酿酒者 CASK Night Brewer CASK][01]",
        ("夜里酿酒者 CASK", "Night Brewer CASK", "夜里酿酒者 CASK Night Brewer CASK"),
        "Night Brewer CASK",
    ),
    ("[酒组] 夜のくらびと ENCORE - 01", ("夜のくらびと ENCORE",), None),
    ("[酒组] 夜のくらびと NIGHT CELLAR - 01", ("夜のくらびと NIGHT CELLAR",), None),
    ("[酒组] 夜里酿酒者 ENCORE - 01", ("夜里酿酒者 ENCORE",), None),
    ("[酒组] 夜里酿酒者 NEW ～♡ - 01", ("夜里酿酒者 NEW ~♡",), None),
    ("[酒组] 夜里酿酒者 TO THE TOP - 01", ("夜里酿酒者 TO THE TOP",), None),
    ("[酒组] 夜里酿酒者 & BEYOND - 01", ("夜里酿酒者 & BEYOND",), None),
    ("[酒组] 夜里酿酒者 BREWER MEETS THE RICE - 01", ("夜里酿酒者 BREWER MEETS THE RICE",), None),
    ("[酒组] 夜里酿酒者 RED - 01", ("夜里酿酒者 RED",), None),
]


@pytest.mark.parametrize(("title", "names", "best"), CAPITALS)
def test_capitals_behind_a_chinese_name_may_be_another_name(
    title: str, names: tuple[str, ...], best: str | None
) -> None:
    found = parse_title(title)

    assert found.titles == names
    assert found.title == best or (best is None and found.title == names[0])
