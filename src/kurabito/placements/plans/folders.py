"""What the folders above a file say: a show, a season, that there are only extras in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from kurabito.placements.plans.paths import is_digest
from kurabito.titles import ReleaseKind, parse_title
from kurabito.titles.numbers import han_number


class FolderKind(StrEnum):
    """What a folder is for."""

    EXTRAS = "extras"
    SPECIALS = "specials"
    FILMS = "films"
    TRACKS = "tracks"
    MUSIC = "music"
    SAMPLE = "sample"
    DISC = "disc"
    SEASON = "season"
    NEUTRAL = "neutral"
    """`Disc 1`, `1080p`, `CHS`: how it is sorted, and nothing about the show."""
    NAMED = "named"


_KINDS: Final[dict[FolderKind, str]] = {
    FolderKind.EXTRAS: (
        r"extras?|bonus(?:es)?|menus?|nc|nc ?(?:op|ed)s?|op|ed|oped|ops|eds|creditless(?: ?(?:op|ed|openings?|endings?)s?)?|pvs?|cms?"
        r"|trailers?|teasers?|featurettes?|behind the scenes|interviews?|deleted scenes|scenes|clips|previews?|promos?"
        r"|(?:bonus|special) features|映像特典|特典映像|特典|tokuten|others?|misc|mvs?|making|events?|iv|webpreviews?"
        r"|openings?|endings?|花絮|预告|logo|shorts|interview|mini-?clips?|outtakes|bloopers|gag reels?|メイキング|予告[編集]?|(?:pv|cm)集|座談会|インタビュー"
        r"|sigl[ae]|g[ée]n[ée]riques?|vorspann|abspann|aberturas?|e[kx]stra ?materi[ae]+le?t?|ekstra|extra'?s|lisämateriaalit?|dodatki|dodatky|bonusy|extr[áa]k|ekstralar|kamera arkas\u0131"
        r"|预告片|預告片?|幕[后後](?:花絮)?|[访訪][谈談]|菜[单單]|彩蛋|(?:bonus|zusatz)material|contenuti (?:speciali|extra)|contenidos? (?:extras?|adicional(?:es)?)"
        r"|material adicional|suppl[ée]ments|бонусы?|дополнительн(?:ые материалы|\u043e)|доп(?:ы|\.? ?материалы)?|특전|부가영상|보너스|메이킹|예고편"
    ),
    FolderKind.SPECIALS: r"sps?|(?:tv ?)?specials?|ovas?|oads?|onas?|omake|番外[篇編编]?|特[别別][篇編编]|スペシャル|season ?0{1,2}|s0{1,2}|sp ?& ?ova|ova ?& ?sp",
    FolderKind.FILMS: r"movies?|films?|剧场版|劇場版|the movies?|电影|電影",
    FolderKind.TRACKS: r"subs?|subtitles?|sub ?packs?|字幕|外挂字幕|外掛字幕|audios?|audio tracks?|ass|srt|mka|音轨|commentary",
    FolderKind.MUSIC: (
        r"cds?|osts?|(?:original )?soundtracks?(?: ?[\[(].*)?|music|bgm|albums?|audio cds?|drama cds?|singles?|songs?|(?:特典|ドラマ|ボーナス|音乐|音樂) ?cds?|サントラ|サウンドトラック"
        r"|原[声聲](?:音[乐樂]|集|[带帶]|大碟)?|音[乐樂楽]|歌曲|主[题題][曲歌]|角色歌|キャラソン|bandes? originales?|colonna sonora|banda sonora|саундтрек|музыка|음악"
    ),
    FolderKind.SAMPLE: r"samples?|proof",
    FolderKind.DISC: r"bdmv|(?:video|audio) ts|certificate",
    FolderKind.NEUTRAL: (
        r"(?:0\d{1,3}|\d{0,3}1|\d{3,4}) ?(?:[-~\N{FULLWIDTH TILDE}\N{EN DASH}]|至|到) ?\d{2,4} ?[集话話回]?|(?:disc|disk|disque|dvd|bd|cd|vol|volume|box|part|pt)[ ._-]?\d{1,2}|\d{3,4}[pi]|4k|uhd|hevc|x26[45]|h\.?26[45]|av1|mkv|mp4"
        r"|videos?|tv|main|episodes?|complete|batch|web-?dl|bluray|blu-ray|bdrip|bd|dvd|正片|本篇|main disc|fonts?|scans?|bk|booklets?"
        r"|images?|pics?|covers?|artworks?|posters?|anime|shows|series|tv shows|downloads?|completed?|media|10bit|8bit|hi10p|dual audio"
        r"|unknown|unsorted|unbekannt|inconnue?|desconocidos?|sconosciut[oi]|onbekend|nieznane|misc videos?"
        r"|(?:new|untitled) folder(?: ?\(?\d+\)?)?|neuer ordner|nouveau dossier|nueva carpeta|新しいフォルダー?|新建文件夹|新資料夾|새 폴더"
    ),
}
# `Season 1 Extras`, `Bonus Disc`, `Deleted and Extended Scenes`: words for extras, and words that go with them.
_EXTRA_WORD: Final = re.compile(
    r"extras?|bonus(?:es)?|features?|featurettes?|supplements?|outtakes|bloopers|interviews?|trailers?|teasers?|promos?|commercials?|menus?|creditless"
    r"|textless|nc(?:op|ed)?s?|openings?|endings?|previews?|pvs?|cms?|deleted|making|behind|oped|特典|映像特典|花絮|预告片?|予告",
    re.I,
)
_BESIDE_EXTRA: Final = re.compile(
    r"(?:season|series|s|dis[ck]|vol|volume|part)?\d{1,2}|season|series|dis[ck]|vol|volume|part|dvd|bd|blu|ray|bluray|of|and|scenes|special|extended"
    r"|files?|contents?|materials?|clips?|videos?|ops?|eds?",
    re.I,
)
# `蔵人 映像特典`, `Koji - Extras`
_ENDS_IN_EXTRAS: Final = re.compile(r"\S[ _](?:映像特典|特典映像|特典)$|\S - (?:Extras?|Bonus|Featurettes)$", re.I)
# Such a folder has many works.
OF_FILMS: Final = re.compile(r"movies?|films?|cinema|kino|collection|电影|電影|映画|영화|剧场版|劇場版|合集", re.I)
_BETWEEN_WORDS: Final = re.compile(r"[\s._()\[\]&+,-]+")
_PATTERNS: Final = {kind: re.compile(pattern, re.I) for kind, pattern in _KINDS.items()}
_SEASON_WORD: Final = "season|saison|staffel|temporada|stagione|series|seizoen|sezon|s[äa]song|s[æa]son|sesong|kausi|[ée]vad|sez[óo]na|сезон|シーズン|시즌"
# As they are counted in the languages of these words.
_COUNTING: Final = tuple(
    rf"(?:{words})"
    for words in (
        "one|first|première|premiere|erste|primera|primeira|prima|первый",
        "two|second|deuxième|deuxieme|seconde|zweite|segunda|seconda|второй",
        "three|third|troisième|troisieme|dritte|tercera|terceira|terza|третий",
        "four|fourth|quatrième|quatrieme|vierte|cuarta|quarta|четвертый|четвёртый",
        "five|fifth|cinquième|cinquieme|fünfte|quinta|пятый",
        "six|sixth|sixième|sixieme|sechste|sexta|sesta|шестой",
    )
)
_NUMBER_WORD: Final = "|".join(f"(?:{words})" for words in _COUNTING)
_SEASON: Final = re.compile(
    rf"(?:{_SEASON_WORD}|s)[ ._-]{{0,3}}(\d{{1,2}})(?:[ ._-]*[\[(].*)?|book[ ._-]?(\d{{1,2}})(?:[ ._-].*)?|第\s?(\d{{1,2}})\s?[季期]"
    rf"|(\d{{1,2}})(?:st|nd|rd|th|[aª.]|[èe]?me|re)?[ ._]?(?:{_SEASON_WORD})"
    r"|tv[ -]?([1-9])"
    rf"|(?:{_SEASON_WORD}|book)[ ._-]({_NUMBER_WORD})(?:[ ._-]{{1,3}}.*)?|({_NUMBER_WORD})[ ._-](?:{_SEASON_WORD})",
    re.I,
)
# `Koji - Prima Stagione`, `Koji TV-2 [BDRip]`: behind the name of the show.
_ENDS_IN_SEASON: Final = re.compile(
    rf"(.*\w.*?)[ ._-]+[\[(]?(?:(?:{_SEASON_WORD})[ ._-]({_NUMBER_WORD})|({_NUMBER_WORD})[ ._-](?:{_SEASON_WORD})|TV-?([1-9]))[\])]?(?:[ ._]*[\[(].*)?",
    re.I,
)
# `Koji Series 1 - 3`, `Koji Staffeln 1 bis 3`: a folder is no episode, so it holds all of these.
_HELD: Final = re.compile(
    rf"(?<![^\W_])(?:{_SEASON_WORD}|stagioni|sezony|сезоны)(?:s|n|en)?[ ._]([1-9]|{_NUMBER_WORD})"
    rf"[ ._]?(?:[-~+&\N{{EN DASH}}]|to|through|and|bis|und|à|et|a|y|e|по|и)[ ._]?([2-9]|{_NUMBER_WORD})"
    r"(?=[ ._]*(?:$|[\])\[(+,&]|-\s|complete|box|and\s|\d{3,4}p))",
    re.I,
)
# `蔵人 1-4季+剧场版`, `蔵人 第一至四季`, `蔵人 全4季`
_HELD_HAN: Final = re.compile(
    r"(?<=\S)[ ._]?第?([1-9一二三四五六七八九])(?:[-~+]|[季期]?[至到])第?([2-9二三四五六七八九十])[季期]|(?<=\S)[ ._]?全([2-9二三四五六七八九十])[季期]"
)
# `Koji All Seasons`, but not `A Brewer for All Seasons`; `The Complete Series 1-4` has no name at all.
_ALL_HELD: Final = re.compile(
    r"(?<=\w)(?<![ ._]for)(?<![ ._]of)(?<![ ._]in)[ ._]+(?:-[ ._])?All[ ._](?:Seasons|Series)(?=[ ._]*(?:$|[\[(+,&]|-\s|complete))",
    re.I,
)
_COMPLETE: Final = re.compile(r"(?:the[ ._])?complete", re.I)
# `Season 1 - The Brewers`: what a season is called, below the folder of its show.
_NAMED_SEASON: Final = re.compile(rf"(?:{_SEASON_WORD}|s) ?\d{{1,2}} ?[-:\N{{EN DASH}}] ?\S", re.I)
_WRAPPED: Final = re.compile(r"^[\[(【]\s*([^\[\]()【】]+?)\s*[\])】]$")
_PARTS: Final = re.compile(r"\s*(?:[&+,、/]|\band\b)\s*", re.I)
_TELEVISION: Final = re.compile(r"[ _]*TV版$", re.I)
_ID: Final = re.compile(r"\s*[\[{](?:tmdb|tvdb|imdb|anidb|bgm)(?:id)?[-=][\w-]+[\]}]", re.I)


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What the name of one folder says; what it does not say is None."""

    name: str
    kind: FolderKind
    title: str | None = None
    season: int | None = None
    year: int | None = None
    group: str | None = None
    resolution: int | None = None
    source: str | None = None
    episodes: tuple[int | float, ...] = ()
    work: ReleaseKind = ReleaseKind.UNKNOWN


@lru_cache(maxsize=4096)
def folder_kind(name: str) -> FolderKind:
    """What a folder is for, by its name alone."""
    plain = _plain(name)
    if _SEASON.fullmatch(plain) and not _PATTERNS[FolderKind.SPECIALS].fullmatch(plain):
        return FolderKind.SEASON
    for kind, pattern in _PATTERNS.items():
        if pattern.fullmatch(plain):
            return kind
    if is_digest(plain):
        return FolderKind.NEUTRAL
    if _ENDS_IN_EXTRAS.search(plain) or _is_of_extras(plain):
        return FolderKind.EXTRAS
    parts = [part for part in _PARTS.split(plain) if part]
    if len(parts) > 1 and all(folder_kind(part) in (FolderKind.EXTRAS, FolderKind.SPECIALS) for part in parts):
        return FolderKind.SPECIALS if FolderKind.SPECIALS in map(folder_kind, parts) else FolderKind.EXTRAS
    return FolderKind.NAMED


def _is_of_extras(name: str) -> bool:
    """Whether its words are those for extras, and such as go with them."""
    words = [word for word in _BETWEEN_WORDS.split(name) if word]
    lowered = {word.lower() for word in words}
    may_be_the = "behind" in lowered
    is_extra = any(map(_EXTRA_WORD.fullmatch, words)) or {"op", "ed"} <= lowered or {"ops", "eds"} <= lowered
    return is_extra and all(
        _EXTRA_WORD.fullmatch(word) or _BESIDE_EXTRA.fullmatch(word) or (may_be_the and word.lower() == "the")
        for word in words
    )


@lru_cache(maxsize=4096)
def read_folder(name: str) -> FolderFacts:
    """What a folder says. A number in its name belongs to the name, unless it is a release of its own."""
    kind = folder_kind(name)
    if kind is FolderKind.SEASON:
        found = _SEASON.fullmatch(_plain(name))
        digits = next((group for group in found.groups() if group), "1") if found else "1"
        return FolderFacts(name, kind, season=_counted(digits))
    if kind is not FolderKind.NAMED:
        return FolderFacts(name, kind)
    told = parse_title(_ALL_HELD.sub("", _HELD_HAN.sub(_as_held_han, _HELD.sub(_as_held, _ID.sub("", name)))))
    bare = not (told.seasons or told.source or told.resolution or told.group)
    title = _ID.sub("", name).strip() if told.episodes and bare and len(told.episodes) == 1 else told.title
    title = _TELEVISION.sub("", title) or title if title and not _COMPLETE.fullmatch(title) else None
    episodes = () if bare else told.episodes
    season = told.season if len(told.seasons) == 1 else None
    if not told.seasons and (behind := _ENDS_IN_SEASON.fullmatch(name)):
        title = parse_title(behind[1]).title
        season = _counted(next(filter(None, behind.groups()[1:])))
    return FolderFacts(
        name,
        kind,
        title,
        season,
        told.year,
        told.group,
        told.resolution,
        told.source,
        episodes,
        told.kind,
    )


def _as_held(found: re.Match[str]) -> str:
    """Several seasons as releases write them, which is what is read best."""
    first, last = _counted(found[1]), _counted(found[2])
    return f"S{first:02}-S{last:02}" if first < last else found[0]


def _as_held_han(found: re.Match[str]) -> str:
    """The same of seasons that are counted in Chinese; what comes behind them is no part of the name."""
    last = han_number(found[2] or found[3]) or 1
    return f" S{han_number(found[1] or '1') or 1:02}-S{last:02} "


def _counted(word: str) -> int:
    """The number that digits or a word say."""
    if word.isdecimal():
        return int(word)
    return next((place for place, words in enumerate(_COUNTING, 1) if re.fullmatch(words, word, re.I)), 1)


def show_title(above: Iterable[FolderFacts]) -> str | None:
    """The title of a show by the folders above a file, the nearest first."""
    titled = [folder for folder in above if folder.title]
    of_show = [folder for folder in titled if not _NAMED_SEASON.match(folder.name)]
    return next((folder.title for folder in of_show or titled), None)


def _plain(name: str) -> str:
    wrapped = _WRAPPED.match(name.strip())
    return (wrapped[1] if wrapped else name.strip()).replace("_", " ").strip()
