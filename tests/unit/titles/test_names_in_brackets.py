"""Names that stand in brackets: beside the season of another one, behind a year, in dots, and what is no name there."""

from __future__ import annotations

import pytest

from kurabito.titles import parse_title

NAMES = [
    # The first bracket has the season, so it is the name, and the second is the same name.
    ("[夜之蔵人 第三季][YORU The BREWERY][BDRip][01-13]", ("夜之蔵人", "YORU The BREWERY"), None),
    ("[夜之蔵人 第6期][Yorukura 6][09][GB][720P]", ("夜之蔵人", "Yorukura"), None),
    ("[夜之蔵人 第二季][くらびと][Kurabito S02][全6集]", ("夜之蔵人", "くらびと", "Kurabito"), None),
    ("[夜之蔵人 第二季][蔵字幕组][09][GB]", ("夜之蔵人",), "蔵字幕组"),
    ("[夜之蔵人 第二季][KuraSub][09][GB]", ("夜之蔵人",), "KuraSub"),
    ("[夜之蔵人2][Night Brewer 2][TV 01-63][BDRip]", ("夜之蔵人2", "Night Brewer 2"), None),
    ("[夜之蔵人!?][夜之くらびと!?][12][BIG5][動漫酒]", ("夜之蔵人!?", "夜之くらびと!?"), "動漫酒"),
    ("[夜之蔵应援团][夜之蔵_Yo Ru No Ku Ra][08][GB]", ("夜之蔵", "Yo Ru No Ku Ra"), "夜之蔵应援团"),
    ("[夜之蔵人 / 밤의 양조인 / Brew 1988][08][中韩双语]", ("夜之蔵人", "밤의 양조인", "Brew 1988"), None),
    # Behind a name, without a blank.
    ("[酒字幕组]夜之蔵人 宵篇[Yoru Kurabito Yoi][12][720P]", ("夜之蔵人 宵篇", "Yoru Kurabito Yoi"), "酒字幕组"),
    ("[酒字幕组]夜之蔵人[Kura Subs Team][12][720P]", ("夜之蔵人",), "酒字幕组"),
    # In one bracket with it.
    ("[酒组][夜之蔵人_11vats][03][GB]", ("夜之蔵人", "11vats"), "酒组"),
    ("[酒组][夜之棒球 2nd(BREWER 2nd)][12][BIG5]", ("夜之棒球 2nd", "BREWER 2nd"), "酒组"),
    ("[酒组] 夜之蔵人 2023 (Yoru Kurabito 2023) [09][1080p]", ("夜之蔵人 2023", "Yoru Kurabito"), "酒组"),
    ("[酒组][夜之蔵人 (2021) Yoru Kura (2021)][41][GB]", ("夜之蔵人", "Yoru Kura"), "酒组"),
    ("[酒组][よるくら][Yoru Kura 1999][54][BD]", ("よるくら", "Yoru Kura"), "酒组"),
    ("[酒组] よるけ Yoru-ke / 夜家三姐妹 [03]", ("よるけ", "Yoru-ke", "夜家三姐妹"), "酒组"),
    # In dots.
    ("Le.Maitre.du.Sake.(The.Master).S03E09.720p.BluRay.x264-KURA", ("Le Maitre du Sake", "The Master"), "KURA"),
    ("밤의 양조인 1988.Brewer.1988.E18.160109.HDTV.H264.720p-WITH", ("밤의 양조인 1988", "Brewer"), "WITH"),
    # Which of several works it is, and in which part of the story.
    ("[よるのくら][TV版 1981][第001-195話][DVDRip 640x480]", ("よるのくら",), None),
    ("[DHR][夜之蔵人][動畫版][12完][BIG5]", ("夜之蔵人",), "DHR"),
    ("[夜体][电视剧版 张酒一][第22集][1080P]", ("夜体",), None),
    ("[国漫][夜之蔵人][月红篇][第31集][720P]", ("夜之蔵人 月红篇",), None),
    ("[2018]夜之花园.Night.Garden.E21.4K.HEVC", ("夜之花园", "Night Garden"), None),
    # What a colon ends.
    ("[酒组][よるくら： / 夜之蔵：][27][简体]", ("よるくら:", "夜之蔵:"), "酒组"),
    ("[Kura] Yoru no Kurabito TV - 045.mkv", ("Yoru no Kurabito",), "Kura"),
]


@pytest.mark.parametrize(("title", "names", "group"), NAMES)
def test_a_bracket_has_another_name_or_who_released_it(title: str, names: tuple[str, ...], group: str | None) -> None:
    found = parse_title(title)

    assert (found.titles, found.group) == (names, group)


YEARS = [
    ("[よるのくら][TV版 1981][第001-195話]", 1981),
    ("[酒组][夜之蔵人][1996 TV动画][第22话]", 1996),
    ("[2018]夜之花园.Night.Garden.E21.4K.HEVC", 2018),
    ("[酒组] 夜之蔵人 2023 (Yoru Kurabito 2023) [09]", 2023),
    ("[酒组][よるくら][Yoru Kura 1999][54]", 1999),
]


@pytest.mark.parametrize(("title", "year"), YEARS)
def test_a_year_is_read_wherever_it_stands(title: str, year: int) -> None:
    assert parse_title(title).year == year


SEASONS = [
    ("[夜文字K 第四部 / Initial K 4th Stage][01-24][BDRip]", 4),
    ("夜宝贝 第一部 第21集 国语 DVDRip.mkv", 1),
    ("[ANk] LET'S BREW! 露酒少女 (III) - 04 [1080P]", 3),
    ("Kkotboda.Sake.(Brew.Over.Flowers).E05.WITH.S2.English.Subs.avi", None),
]


@pytest.mark.parametrize(("title", "season"), SEASONS)
def test_a_season_in_words_or_roman_numbers(title: str, season: int | None) -> None:
    assert parse_title(title).season == season


def test_a_country_stands_before_the_number_and_a_language_behind_it() -> None:
    found = parse_title("Kura.FR.S03E08.VOF.720p.WEBRip.AAC.x264-TOJI")
    assert (found.titles, found.country) == (("Kura",), "FR")
    assert parse_title("Kura.S03E08.FR.720p.WEBRip.x264-TOJI").country is None
    assert parse_title("un.village.francais.s02e05.FRENCH.DVDRip.XviD-KURA").title == "un village francais"
