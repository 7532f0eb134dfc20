"""Language tags of subtitles and audio: read from names as groups write them, written as media servers read them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
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
        "zh-Hans": "sc chs gb gbk gb2312 zh-hans zhs zh-cn zh-sg chs简 hans 简 simplified simplified-chinese",
        "zh-Hant": "tc cht big5 zh-hant zht zh-tw zh-hk zh-mo hant 繁 traditional traditional-chinese",
        "zh-Hans ja": "scjp jpsc sc-jp jp-sc chsjp jpchs chs-jp jp-chs chs-jpn chsjpn jpnchs jpn-chs gb-jp gbjp jpgb 日简 sc-jpn jpn-sc",
        "zh-Hant ja": "tcjp jptc tc-jp jp-tc chtjp jpcht cht-jp jp-cht cht-jpn chtjpn jpncht jpn-cht big5-jp big5jp jpbig5 日繁 tc-jpn jpn-tc",
        "zh-Hans en": "chseng scen chs-eng sc-en eng-chs en-sc",
        "zh-Hant en": "chteng tcen cht-eng tc-en eng-cht en-tc",
        "zh": "zh chi zho cn chinese mandarin putonghua 国语 國語 普通话 普通話 国配 國配 华语 華語",
        "yue": "yue zh-yue cantonese 粤语 粵語 粤 粵 粤配 粵配",
        "ja": "ja jp jpn jap japanese 日 日语 日文 日本語 日語",
        "en": "en eng english en-us en-gb 英 英文 英语 英語",
        "ko": "ko kor korean 韩语 韓語 韩文 韓文 한국어 한글",
        "fr": "fr fre fra french fr-fr français francais vf vff vfq vostfr truefrench",
        "de": "de ger deu german de-de deutsch",
        "es": "es spa esp spanish es-es castilian castellano español espanol",
        "es-419": "es-419 es-la es-mx es-ar es-co es-cl spa-la esp-la latino latin-american spanish-latin latinoamericano",
        "pt": "pt por portuguese pt-pt português portugues",
        "pt-BR": "pt-br ptbr por-br pob brazilian brasileiro portuguese-brazil",
        "it": "it ita italian it-it italiano",
        "ru": "ru rus russian ru-ru русский русская русские",
        "ar": "ar ara arabic ar-sa العربية عربي",
        "nl": "nl dut nld dutch nederlands",
        "pl": "pl pol polish polski",
        "sv": "sv swe swedish svenska",
        "no": "no nor norwegian nob norsk",
        "da": "da dan danish dansk",
        "fi": "fi fin finnish suomi",
        "cs": "cs cze ces czech čeština česky",
        "hu": "hu hun hungarian magyar",
        "tr": "tr tur turkish türkçe",
        "el": "el gre ell greek ελληνικά",
        "he": "he heb hebrew עברית",
        "ro": "ro rum ron romanian română",
        "uk": "uk ukr ukrainian українська українські укр",
        "th": "th tha thai ไทย",
        "vi": "vi vie vietnamese việt vietsub",
        "id": "id ind indonesian indonesia",
        "ms": "ms may msa malay melayu",
        "hi": "hin hindi हिन्दी",
        "bg": "bg bul bulgarian",
        "hr": "hr hrv croatian hrvatski",
        "sr": "sr srp serbian srpski",
        "sk": "sk slo slk slovak",
        "sl": "sl slv slovenian",
        "et": "et est estonian",
        "lv": "lv lav latvian",
        "lt": "lt lit lithuanian",
        "fa": "fa per fas persian farsi",
        "ca": "ca cat catalan català",
        "is": "is ice isl icelandic íslenska",
        "fil": "fil filipino tagalog",
        "ta": "ta tam tamil",
        "te": "tel telugu",
        "ml": "mal malayalam",
        "kn": "kan kannada",
        "bn": "ben bengali",
    }.items()
    for word in line.split()
}
# `简体中文`, `繁日双语字幕`, `中英`: each letter says its part.
_HAN_TAG: Final = re.compile(
    r"(?:(?P<script>[简簡繁])[体體]?(?:中文|中)?|(?P<chinese>中)(?=[文字日英韩韓]))(?:文|字)?[&+-]?(?:(?P<other>[日英韩韓])[文语語]?)?(?:双语|雙語)?"
)
_HAN_LANGUAGES: Final = {
    "简": "zh-Hans",
    "簡": "zh-Hans",
    "繁": "zh-Hant",
    "日": "ja",
    "英": "en",
    "韩": "ko",
    "韓": "ko",
}
# What a subtitle is, and not which one: `英文字幕`.
_SAYS_SUBTITLE: Final = re.compile(r"^特效|(?:特效|内嵌|内封|內嵌|內封|外挂|外掛)?(?:字幕)?$|자막$")
_FLAGS: Final = {
    "forced": TrackFlag.FORCED,
    "foreign": TrackFlag.FORCED,
    "sdh": TrackFlag.SDH,
    "cc": TrackFlag.SDH,
    "hi": TrackFlag.SDH,
    "default": TrackFlag.DEFAULT,
}
_COMMENTARY: Final = re.compile(
    r"(?<![A-Za-z])(?:commentar(?:y|ies)|commentaires?|kommentar|comentarios?)(?![A-Za-z])|コメンタリー|评论音轨|評論音軌|комментари[ийя]",
    re.I,
)
# `Latin American.spa`, `Portuguese (Brazil)`: the words beside a language say which of it.
_LATIN_AMERICAN: Final = re.compile(r"(?<![A-Za-z])Latin[ ._-]?American?(?![A-Za-z])|Latinoam[eé]rica", re.I)
_BRAZILIAN: Final = re.compile(r"(?<![A-Za-z])Bra[sz]il(?![A-Za-z])", re.I)
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
    # Some systems write `ç` as two characters.
    joined = _JOINTS.sub("-", unicodedata.normalize("NFC", word).casefold()).strip("-")
    return (
        _WORDS.get(joined)
        or _two_languages(joined.split("-"))
        or _two_languages(_JOINTS.split(word.casefold()))
        or ((not word.isascii() and _in_letters(joined)) or ())
    )


def _in_letters(word: str) -> tuple[str, ...]:
    """The languages of a word in Chinese or Korean: `简英双语字幕`, `한국어자막`."""
    plain = _SAYS_SUBTITLE.sub("", word)
    if plain != word and plain in _WORDS:
        return _WORDS[plain]
    if plain in ("简繁", "簡繁", "繁简", "繁簡"):
        return ("zh",)
    found = _HAN_TAG.fullmatch(plain)
    if found is None:
        return ()
    chinese = _HAN_LANGUAGES[found["script"]] if found["script"] else "zh"
    return (chinese, _HAN_LANGUAGES[found["other"]]) if found["other"] else (chinese,)


def _two_languages(words: Sequence[str]) -> tuple[str, ...]:
    """`Chs&Jap`, `chi-eng`: subtitles in Chinese and another language. The Chinese is what they are made for."""
    parts = [_WORDS.get(part, ()) for part in words]
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
    if languages == ("pt",) and _BRAZILIAN.search(text):
        languages = ("pt-BR",)
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
