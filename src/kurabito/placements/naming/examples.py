"""Examples that a naming is tried on: shows and films as they are known, with the shapes that names have to cope with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.placements.naming.tokens import NameFacts


@dataclass(frozen=True, slots=True)
class NamingExample:
    """A file that could be named."""

    facts: NameFacts
    is_film: bool = False


EXAMPLES: Final = (
    NamingExample(
        NameFacts(
            title="Sousou no Frieren",
            title_en="Frieren: Beyond Journey's End",
            title_ja="葬送のフリーレン",
            title_zh="葬送的芙莉莲",
            year=2023,
            season=1,
            episode=(8,),
            absolute=(8,),
            episode_title="Frieren the Slayer",
            group="SubsPlease",
            resolution=1080,
            source="WEB-DL",
            original="[SubsPlease] Sousou no Frieren - 08 (1080p)",
            tmdb_id=209867,
            bgm_id=400602,
        )
    ),
    NamingExample(
        NameFacts(
            title="Spy x Family",
            title_ja="スパイファミリー",
            title_zh="间谍过家家",
            year=2022,
            season=1,
            episode=(13,),
            absolute=(13,),
            group="Lilith-Raws",
            resolution=1080,
            version=2,
            original="[Lilith-Raws] Spy x Family - 13v2 [1080p]",
            tmdb_id=120089,
        )
    ),
    NamingExample(
        NameFacts(
            title="Pokemon",
            title_ja="ポケットモンスター",
            year=2016,
            season=20,
            episode=(1, 2),
            absolute=(938, 939),
            group="Kura",
            resolution=720,
            original="[Kura] Pokemon - 938-939 [720p]",
        )
    ),
    NamingExample(
        NameFacts(
            title="Sword Art Online",
            title_ja="ソードアート・オンライン",
            title_zh="刀剑神域",
            year=2012,
            season=0,
            special="14.5",
            resolution=1080,
            original="[HorribleSubs] Sword Art Online II - 14.5 [1080p]",
            tmdb_id=45782,
        )
    ),
    NamingExample(
        NameFacts(
            title="Kimi no Na wa.",
            title_en="Your Name.",
            title_ja="君の名は。",
            title_zh="你的名字。",
            year=2016,
            group="VCB-Studio",
            resolution=1080,
            source="Blu-ray",
            original="[VCB-Studio] Kimi no Na wa. [Ma10p_1080p]",
            tmdb_id=372058,
            bgm_id=160209,
        ),
        is_film=True,
    ),
    NamingExample(
        NameFacts(
            title="Re:Zero kara Hajimeru Isekai Seikatsu",
            title_ja="Re:ゼロから始める異世界生活",
            year=2016,
            season=1,
            episode=(51,),
            absolute=(51,),
            original="[Erai-raws] Re Zero - 51 [1080p]",
            tmdb_id=65942,
        )
    ),
    NamingExample(
        NameFacts(
            title="Fate/Zero",
            year=2011,
            season=1,
            episode=(5,),
            absolute=(5,),
            original="Fate.Zero.S01E05.1080p",
            tmdb_id=45845,
        )
    ),
    NamingExample(
        NameFacts(title="One Piece", season=1, episode=(1071,), absolute=(1071,), original="One Piece - 1071")
    ),
    NamingExample(
        NameFacts(
            title="Genjitsu no Yohane",
            year=2023,
            season=1,
            episode=(3,),
            absolute=(3,),
            episode_title="What Is That?",
            original="Genjitsu no Yohane - 03",
        )
    ),
    NamingExample(
        NameFacts(title="Ikiru", title_ja="生きる", year=1952, original="Ikiru.1952.1080p", tmdb_id=3782), is_film=True
    ),
)
