"""Language tags of subtitles and audio: read from names as groups write them, written as media servers read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class SubtitleStyle(StrEnum):
    """How a language is written behind a file's name."""

    CURRENT = "current"
    """`.zh-Hans.ass`, for servers that know scripts."""
    PORTABLE = "portable"
    """`.简体.zh.ass`: the script is a title, and the language one that every server knows."""


class TrackFlag(StrEnum):
    """What else a track is; written last, as the servers want it."""

    FORCED = "forced"
    SDH = "sdh"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class TrackTag:
    """What the name of a subtitle or audio file says about its track."""

    languages: tuple[str, ...] = ()
    """Tags of BCP 47; two for subtitles in two languages, the one they are made for first."""
    flags: tuple[TrackFlag, ...] = ()
    title: str | None = None
    """What tells it from another track of the same language: a group, `Commentary`."""


_WORDS: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(tags.split())
    for tags, line in {
        "zh-Hans": "sc chs gb gbk gb2312 zh-hans zhs zh-cn zh-sg chs简 hans 简 简体 简中 简体中文 简体字幕 simplified simplified-chinese",
        "zh-Hant": "tc cht big5 zh-hant zht zh-tw zh-hk zh-mo hant 繁 繁体 繁體 繁中 繁體中文 繁体中文 traditional traditional-chinese",
        "zh-Hans ja": "scjp jpsc sc-jp jp-sc chsjp jpchs chs-jp jp-chs chs-jpn chsjpn jpnchs jpn-chs gb-jp gbjp jpgb 简日 简日双语 简日雙語 日简 sc-jpn jpn-sc",
        "zh-Hant ja": "tcjp jptc tc-jp jp-tc chtjp jpcht cht-jp jp-cht cht-jpn chtjpn jpncht jpn-cht big5-jp big5jp jpbig5 繁日 繁日双语 繁日雙語 日繁 tc-jpn jpn-tc",
        "zh-Hans en": "chseng scen chs-eng sc-en 简英 eng-chs en-sc",
        "zh-Hant en": "chteng tcen cht-eng tc-en 繁英 eng-cht en-tc",
        "zh": "zh chi zho cn chinese 中文 中字 mandarin",
        "ja": "ja jp jpn jap japanese 日 日语 日文 日本語 日語",
        "en": "en eng english en-us en-gb 英 英文 英语",
        "ko": "ko kor korean",
        "fr": "fr fre fra french fr-fr",
        "de": "de ger deu german de-de",
        "es": "es spa esp spanish es-es castilian",
        "es-419": "es-419 es-la latino latin-american spanish-latin",
        "pt": "pt por portuguese pt-pt",
        "pt-BR": "pt-br ptbr pob brazilian portuguese-brazil",
        "it": "it ita italian it-it",
        "ru": "ru rus russian ru-ru",
        "ar": "ar ara arabic ar-sa",
        "nl": "nl dut nld dutch",
        "pl": "pl pol polish",
        "sv": "sv swe swedish",
        "no": "no nor norwegian nob",
        "da": "da dan danish",
        "fi": "fi fin finnish",
        "cs": "cs cze ces czech",
        "hu": "hu hun hungarian",
        "tr": "tr tur turkish",
        "el": "el gre ell greek",
        "he": "he heb hebrew",
        "ro": "ro rum ron romanian",
        "uk": "uk ukr ukrainian",
        "th": "th tha thai",
        "vi": "vi vie vietnamese",
        "id": "id ind indonesian",
        "ms": "ms may msa malay",
        "hi": "hin hindi",
    }.items()
    for word in line.split()
}
_FLAGS: Final = {
    "forced": TrackFlag.FORCED,
    "foreign": TrackFlag.FORCED,
    "sdh": TrackFlag.SDH,
    "cc": TrackFlag.SDH,
    "hi": TrackFlag.SDH,
    "default": TrackFlag.DEFAULT,
}
_COMMENTARY: Final = re.compile(r"(?<![A-Za-z])commentar(?:y|ies)(?![A-Za-z])|コメンタリー|评论音轨|評論音軌", re.I)
# `Latin American.spa`: the words before a language say which of it.
_LATIN_AMERICAN: Final = re.compile(r"(?<![A-Za-z])Latin[ ._-]?American?(?![A-Za-z])", re.I)
_SCRIPTS: Final = {"zh-Hans": "简体", "zh-Hant": "繁體"}
_PAIRS: Final = {"ja": "日", "en": "英"}
_JOINTS: Final = re.compile(r"[_&+]")
_WORD: Final = re.compile(r"[^\s.\[\]()\uff08\uff09【】{}]+")
_INNER: Final = re.compile(r"[^\s.\[\]()\uff08\uff09【】{}_+,、/-]+")
_LONGEST_TITLE: Final = 40


def language_of(word: str) -> tuple[str, ...]:
    """The languages that a word names, such as `chs`, `JPTC` or `简日双语`; none if it names none.

    >>> language_of("JPSC"), language_of("cht"), language_of("x264")
    (('zh-Hans', 'ja'), ('zh-Hant',), ())
    """
    joined = _JOINTS.sub("-", word.casefold()).strip("-")
    return _WORDS.get(joined) or _two_languages(joined)


def _two_languages(word: str) -> tuple[str, ...]:
    """`Chs&Jap`, `chi-eng`: subtitles in Chinese and another language. The Chinese is what they are made for."""
    parts = [_WORDS.get(part, ()) for part in word.split("-")]
    if len(parts) != 2 or any(len(part) != 1 for part in parts):
        return ()
    (first,), (second,) = sorted(parts, key=lambda part: not part[0].startswith("zh"))
    return (first, second) if first.startswith("zh") and not second.startswith("zh") else ()


def read_tag(text: str) -> TrackTag:
    """What stands behind the name of a file's episode: `.chs`, `[JPSC]`, `.eng.forced`, `2_English`.

    >>> read_tag(".zh-TW.forced")
    TrackTag(languages=('zh-Hant',), flags=(<TrackFlag.FORCED: 'forced'>,), title=None)
    """
    languages: tuple[str, ...] = ()
    flags: list[TrackFlag] = []
    for word in _words(text):
        said = language_of(word)
        flag = _FLAGS.get(word.casefold())
        # `.hi` alone may be Hindi; behind a language it is for the hard of hearing.
        if said and (not languages or (languages == ("zh",) and said[0].startswith("zh-"))):
            languages = said
        elif flag and flag not in flags:
            flags.append(flag)
    if languages == ("es",) and _LATIN_AMERICAN.search(text):
        languages = ("es-419",)
    return TrackTag(languages, tuple(flags), "Commentary" if _COMMENTARY.search(text) else None)


def _words(text: str) -> list[str]:
    """The words, first as they are joined (`chs_jp`), then each part alone where the whole says nothing."""
    found: list[str] = []
    for word in _WORD.findall(text):
        found += [word] if language_of(word) or word.casefold() in _FLAGS else _INNER.findall(word)
    return found


def suffix_of(tag: TrackTag, style: SubtitleStyle) -> str:
    """What is written between the name of the episode and the extension.

    >>> suffix_of(TrackTag(("zh-Hans", "ja")), SubtitleStyle.CURRENT)
    '.简日.zh-Hans'
    >>> suffix_of(TrackTag(("zh-Hans",)), SubtitleStyle.PORTABLE)
    '.简体.zh'
    """
    parts = [tag.title[:_LONGEST_TITLE].replace(".", " ").strip()] if tag.title else []
    if tag.languages:
        main, *others = tag.languages
        script = _SCRIPTS.get(main)
        if others:
            first = script[0] if script else main
            parts.append(first + "".join(_PAIRS.get(other, other) for other in others))
        elif script and style is SubtitleStyle.PORTABLE:
            parts.append(script)
        parts.append(main.partition("-")[0] if style is SubtitleStyle.PORTABLE else main)
    parts += [flag.value for flag in tag.flags]
    return "".join(f".{part}" for part in parts if part)
