"""Titles as the world writes them. All are made up; the styles are real."""

from __future__ import annotations

from typing import Any

import pytest

from kurabito.titles import parse_title

FANSUB: list[tuple[str, dict[str, Any]]] = [
    (
        "[Kura] Yoru no Kurabito - 07v2 [1080p][A1B2C3D4].mkv",
        {
            "title": "Yoru no Kurabito",
            "episodes": (7,),
            "version": 2,
            "group": "Kura",
            "resolution": 1080,
            "checksum": "A1B2C3D4",
            "container": "mkv",
        },
    ),
    (
        "[Kura_Raws]_Sake_and_Stars_-_12_[1280x720_H.264_AAC][0F1E2D3C].mkv",
        {"title": "Sake and Stars", "episodes": (12,), "group": "Kura Raws", "resolution": 720, "video": ("H.264",)},
    ),
    ("[Kura] Barrel Class 5-2 - 04", {"title": "Barrel Class 5-2", "episodes": (4,)}),
    ("[Kura] Koji - 12.5 [720p]", {"title": "Koji", "episodes": (12.5,)}),
    ("[Kura] Koji - 01-12 [BD 1080p]", {"episodes": tuple(range(1, 13)), "is_batch": True, "source": "Blu-ray"}),
    ("[Kura] Koji - 01 ~ 04 [720p]", {"title": "Koji", "episodes": (1, 2, 3, 4)}),
    ("[Kura] Koji - 01+07 [720p]", {"episodes": (1, 7)}),
    ("[Kura] Koji S2 - 03 (WEB 1080p)", {"title": "Koji", "season": 2, "episodes": (3,)}),
    ("[Kura] Koji 2nd Season - 03 [480p]", {"title": "Koji", "season": 2, "episodes": (3,)}),
    ("[Kura] Koji (2019) 04 [720p]", {"title": "Koji", "year": 2019, "episodes": (4,)}),
    ("[Kura] Koji ep 14 (DVD)", {"title": "Koji", "episodes": (14,), "source": "DVD"}),
    ("[Kura] Koji 031 [720p]", {"title": "Koji", "episodes": (31,)}),
    ("[Kura] Koji 1000 - 05 [720p]", {"title": "Koji 1000", "episodes": (5,)}),
    ("[Kura] Koji - 05 - 12 Angry Brewers [720p]", {"title": "Koji", "episodes": (5,)}),
    ("Koji - 17 [720p] [Cellar Subs].mkv", {"title": "Koji", "episodes": (17,), "group": "Cellar Subs"}),
    ("Koji_Ep05_The_Two_Vats_[720p,BluRay,x264]_-_CELLAR.mkv", {"title": "Koji", "episodes": (5,), "group": "CELLAR"}),
    ("[Kura] Vats of [Moromi] Spring - 01 [720p]", {"title": "Vats of [Moromi] Spring", "episodes": (1,)}),
    ("[Kura] Brew (Not) Alone - 02 [720p]", {"title": "Brew (Not) Alone", "episodes": (2,)}),
    ("[Kura] Koji [20 of 25] [720p]", {"title": "Koji", "episodes": (20,)}),
    ("37 [Kura] Koji - 37 [720p].avi", {"title": "Koji", "episodes": (37,), "group": "Kura"}),
    ("koji no yoru 2 [0badcafe]", {"title": "koji no yoru", "episodes": (2,)}),
    ("[Kura] Koji 2 [720p]", {"title": "Koji 2", "episodes": ()}),
    ("[Kura] Koji - 14 Second Pressing", {"title": "Koji", "episodes": (14,)}),
    ("[Kura] Koji - 111C [1080p]", {"title": "Koji", "episodes": (111,)}),
    ("[Kura] Koji 091-123 [1080p]", {"title": "Koji", "episodes": tuple(range(91, 124))}),
    ("[Kura] Koji (17-19) (WEB 1080p)", {"title": "Koji", "episodes": (17, 18, 19)}),
    ("[Kura] Koji 05 First Pressing [720p]", {"title": "Koji", "episodes": (5,)}),
    ("[Kura] 06 Koji no Yoru (720p)", {"title": "Koji no Yoru", "episodes": (6,)}),
    ("[Kura] Koji - 05 - S01E05 - First Pressing [720p]", {"title": "Koji", "season": 1, "episodes": (5,)}),
    ("[Kura] Koji [TV 01-26 Fin][720p]", {"title": "Koji", "episodes": tuple(range(1, 27))}),
    ("[Kura] Koji no Ko [720p]", {"title": "Koji no Ko"}),
    ("[Kura] Koji - Vol.03 [BD 720p]", {"title": "Koji", "episodes": ()}),
]

CHINESE: list[tuple[str, dict[str, Any]]] = [
    (
        "[喵喵字幕组] 夜之蔵人 / Yoru no Kurabito [07][1080p][简繁内封]",
        {
            "title": "Yoru no Kurabito",
            "titles": ("夜之蔵人", "Yoru no Kurabito"),
            "episodes": (7,),
            "group": "喵喵字幕组",
            "languages": ("zh-Hans", "zh-Hant"),
        },
    ),
    (
        "【喵喵字幕组&KuraHouse】★10月新番★[夜之蔵人/夜の蔵人/Yoru no Kurabito][12END][720p][繁日雙語][招募翻譯]",
        {
            "titles": ("夜之蔵人", "夜の蔵人", "Yoru no Kurabito"),
            "episodes": (12,),
            "groups": ("喵喵字幕组", "KuraHouse"),
            "languages": ("zh-Hant", "ja"),
        },
    ),
    (
        "[酒蔵组][4月新番][夜之蔵人 第二季][Yoru no Kurabito S2][03v2][GB][1080P][MP4]",
        {"titles": ("夜之蔵人", "Yoru no Kurabito"), "season": 2, "episodes": (3,), "version": 2, "group": "酒蔵组"},
    ),
    (
        "【极酒字幕社】★4月新番 夜之蔵人 Yoru no Kurabito 第05话 GB 720P MP4（字幕社招人内详）",
        {"titles": ("夜之蔵人", "Yoru no Kurabito", "夜之蔵人 Yoru no Kurabito"), "episodes": (5,), "resolution": 720},
    ),
    (
        "【千酒字幕組】【夜之蔵人_Yoru no Kurabito】[第十二話][1080p_AVC][繁體]",
        {"episodes": (12,), "title": "Yoru no Kurabito"},
    ),
    ("[酒组] 夜之蔵人 第01-11话 BIG5 1080P HEVC MP4", {"title": "夜之蔵人", "episodes": tuple(range(1, 12))}),
    ("[酒组] 夜之蔵人 全24话 [1080p]", {"title": "夜之蔵人", "episodes": tuple(range(1, 25)), "is_batch": True}),
    (
        "[酒组][夜之蔵人][01-12 合集][1080p][简体内嵌]",
        {"title": "夜之蔵人", "episodes": tuple(range(1, 13)), "is_batch": True},
    ),
    ("[酒组] 夜之蔵人合集 [BDRip 1080p]", {"title": "夜之蔵人", "episodes": (), "is_batch": True}),
    ("[酒组][夜之蔵人][13完][1080p]", {"episodes": (13,)}),
    ("[酒组][夜之蔵人][13集][720P][繁日雙語]", {"episodes": (13,)}),
    ("[V2][酒组][夜之蔵人][13][720P]", {"title": "夜之蔵人", "group": "酒组", "version": 2}),
    (
        "[酒组] 16bit 的蔵人 ANOTHER VAT - 01 [1080P][Baha][WEB-DL][CHT]",
        {"title": "16bit 的蔵人 ANOTHER VAT", "platform": "Baha"},
    ),
    ("[酒组]  蔵/麴 夜之战线 / Kura Koji Front - 19 [WebRip 1080p]", {"titles": ("蔵/麴 夜之战线", "Kura Koji Front")}),
    ("[酒组] 夜之蔵人（僅限港澳台地區） - 06 [1080P][Bilibili][WEB-DL]", {"title": "夜之蔵人", "episodes": (6,)}),
    (
        "[GM-Kura][国漫][酒剑 第1季][Sake Sword Season 1][2002][02][AVC][GB][1080P]",
        {"title": "Sake Sword", "year": 2002, "episodes": (2,)},
    ),
    ("[酒组] 夜之蔵人 二期 [03][1080p]", {"title": "夜之蔵人", "season": 2}),
    ("[酒组] KOJI KOJI 酒鼠車車 - 11 [1080P]", {"titles": ("KOJI KOJI 酒鼠車車",), "episodes": (11,)}),
    ("[酒组] 夜之蔵人 第二季 / Yoru no Kurabito 3rd Season [04][1080p]", {"season": 2, "episodes": (4,)}),
    ("西酒世界 12.mkv", {"title": "西酒世界", "episodes": (12,)}),
    ("[酒组] 蔵人 - １２ [１０８０ｐ]", {"title": "蔵人", "episodes": (12,), "resolution": 1080}),
]

SCENE: list[tuple[str, dict[str, Any]]] = [
    (
        "The.Cellar.S01E02.First.Pressing.1080p.AMZN.WEB-DL.DDP5.1.H.264-KURA.mkv",
        {
            "title": "The Cellar",
            "season": 1,
            "episodes": (2,),
            "group": "KURA",
            "source": "WEB-DL",
            "platform": "Amazon",
            "audio": ("E-AC-3",),
        },
    ),
    ("The Cellar - 1x02 - First Pressing", {"title": "The Cellar", "season": 1, "episodes": (2,)}),
    ("The.Cellar.S01E05-06.720p.HDTV.x264-KURA", {"episodes": (5, 6), "source": "HDTV"}),
    ("The.Cellar.S01E01E07.720p.HDTV.x264-KURA", {"episodes": (1, 7)}),
    ("The.Cellar.S01E01-S01E03.SWE-SUB", {"episodes": (1, 2, 3)}),
    ("The Cellar Season 2 Episode 08 720p", {"title": "The Cellar", "season": 2, "episodes": (8,)}),
    ("The.Cellar.S02.1080p.BluRay.x264-KURA", {"title": "The Cellar", "season": 2, "episodes": (), "is_batch": True}),
    ("The.Cellar.S01-S03.1080p.BluRay.x265-KURA", {"seasons": (1, 2, 3)}),
    ("The Cellar Seasons 1 to 4 Complete 720p WEB x264", {"title": "The Cellar", "seasons": (1, 2, 3, 4)}),
    ("The.Cellar.2012.EXTENDED.1080p.BluRay.DTS.x264-KURA", {"title": "The Cellar", "year": 2012, "episodes": ()}),
    ("The Cellar EXTENDED (2012) 2160p UHD BluRay x265-KURA", {"title": "The Cellar", "resolution": 2160}),
    ("The.Cellar.5x44x45x46.avi", {"season": 5, "episodes": (44, 45, 46)}),
    ("The.Cellar.Seizoen.4.1080p.WEB.x264", {"title": "The Cellar", "season": 4}),
    ("Koji 13 1080p BluRay x264-KURA", {"title": "Koji 13", "episodes": ()}),
    ("Koji.14.HDTV.XviD-KURA", {"title": "Koji", "episodes": (14,)}),
    ("003. The Cellar - First Pressing.avi", {"title": "The Cellar", "episodes": (3,)}),
    ("The Cellar (Der Keller) S01 1080p BRRip x264", {"title": "The Cellar", "titles": ("The Cellar", "Der Keller")}),
    ("Brewer.English.2003.1080p.BluRay.x264-KURA", {"title": "Brewer English", "year": 2003}),
    ("Koji+Episode+3.mp4", {"title": "Koji", "episodes": (3,)}),
    ("Koji.15.12.22.720p.WEBRip-KURA", {"title": "Koji", "episodes": ()}),
    ("The Cellar 2x04/0f1e2d3c4b5a69788796a5e4c3d2e1f0.mkv", {"title": "The Cellar", "season": 2}),
    ("Cellar 23/S01E01.First.Pressing.mkv", {"title": "Cellar 23", "season": 1, "episodes": (1,)}),
    ("Koji 1984 (2020) 720p WEBRip", {"title": "Koji 1984", "year": 2020}),
    ("12.Angry.Brewers.1961.mkv", {"title": "12 Angry Brewers", "year": 1961, "episodes": ()}),
    ("Brewer English 2003 1080p BluRay", {"title": "Brewer English"}),
    ("The.Cellar.FRENCH.720p.HDTV.x264-KURA", {"title": "The Cellar", "languages": ("fr",)}),
    (
        "The.Brewing.Show.2020.06.19.720p.WEBRip.x264-KURA",
        {"title": "The Brewing Show", "date": "2020-06-19", "year": 2020},
    ),
    ("Agents.of.S.A.K.E.S02E01.1080p.WEB-DL-KURA", {"title": "Agents of S.A.K.E.", "season": 2}),
    ("the.cellar.217.hdtv-lol", {"title": "the cellar", "season": 2, "episodes": (17,), "group": "lol"}),
    ("the.cellar.300.hdtv-lol", {"title": "the cellar", "season": None, "episodes": (300,), "group": "lol"}),
    ("The.Cellar.3of5.First.Pressing.HDTV.XviD-KURA", {"title": "The Cellar", "episodes": (3,)}),
    ("The Cellar [HDTV][Cap.104](example.com).avi", {"title": "The Cellar", "season": 1, "episodes": (4,)}),
    ("The Cellar - Temporada 2 [HDTV 720p][Cap.201]", {"title": "The Cellar", "season": 2, "episodes": (1,)}),
    ("The.Cellar.S01E02.720p.WEB.x264-KURA[eztv]", {"group": "KURA"}),
    ("The.Cellar.S01E02.1080p.WEB.x264-KURA-Obfuscated", {"group": "KURA"}),
    ("www.example.com - The Cellar (2022) 720p HDRip x264", {"title": "The Cellar", "year": 2022}),
    (
        "Погреб / The Cellar / Сезон: 2 / Серии: 1-5 [2016, WEBRip 1080p]",
        {"title": "The Cellar", "season": 2, "episodes": (1, 2, 3, 4, 5)},
    ),
    ("Погреб (The Cellar) 1992 BDRip 1080p.mkv", {"titles": ("Погреб", "The Cellar"), "title": "The Cellar"}),
    (
        "/media/The Cellar/Season 02/The.Cellar.S02E15.720p.HDTV.X264-KURA.mkv",
        {"title": "The Cellar", "episodes": (15,)},
    ),
    (
        "/media/The Cellar/Season 02/Episode 3 - First Pressing.mkv",
        {"title": "The Cellar", "season": 2, "episodes": (3,)},
    ),
    (
        "The.Cellar.S01E02.1080p.WEB-DL-KURA/0f1e2d3c4b5a69788796a5b4c3d2e1f0.mkv",
        {"title": "The Cellar", "group": "KURA", "container": "mkv"},
    ),
]

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("[Kura] Koji OVA - 02 [720p]", {"title": "Koji", "kind": "ova", "episodes": (2,)}),
    ("[Kura] Koji OAD [720p]", {"title": "Koji OAD", "kind": "ova", "episodes": ()}),
    ("[Kura] Koji SP03 [720p]", {"title": "Koji", "kind": "special", "episodes": (3,)}),
    ("[酒组] 夜之蔵人番外篇 [1080p]", {"title": "夜之蔵人", "kind": "special"}),
    ("[Kura] Koji NCOP [BDRip 1080p]", {"title": "Koji", "kind": "opening", "episodes": ()}),
    ("[Kura] Koji NCED2 [BDRip 1080p]", {"title": "Koji", "kind": "ending"}),
    ("[Kura] Koji PV [1080p]", {"title": "Koji", "kind": "trailer"}),
    ("[酒组] 劇場版 Koji no Yoru [1080p]", {"title": "Koji no Yoru", "kind": "movie", "episodes": ()}),
    ("[Kura] Koji Movie [1080p]", {"title": "Koji", "kind": "movie"}),
    ("[Kura] The Movie Star of the Cellar - 03 [1080p]", {"title": "The Movie Star of the Cellar", "episodes": (3,)}),
    ("[Kura] Koji: The Movie [1080p]", {"title": "Koji: The Movie", "kind": "movie"}),
    ("[Kura] Koji Movie 9 [1080p]", {"title": "Koji Movie 9", "kind": "movie", "episodes": ()}),
    ("[Kura] Koji - 03 [1080p]", {"kind": "tv"}),
    ("[Kura] Koji [1080p]", {"kind": "unknown", "is_batch": False}),
]


@pytest.mark.parametrize(
    ("title", "says"), [*FANSUB, *CHINESE, *SCENE, *KINDS], ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_title_says(title: str, says: dict[str, Any]) -> None:
    found = parse_title(title)

    assert {name: getattr(found, name) for name in says} == says
