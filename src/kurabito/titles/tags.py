"""Recognises what a release says about its picture, sound, languages and origin."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from kurabito.titles.brackets import read_bracket
from kurabito.titles.draft import SKIPPED, TAKEN, Segment, TitleDraft
from kurabito.titles.text import CJK, CJK_LETTER, LETTER_OR_DIGIT
from kurabito.titles.vocabulary import Meaning
from kurabito.titles.words import Tag, find_tags, read_words

_CHANNELS: Final = re.compile(r"[. ]?\d?[. ]\d(?:ch)?(?![\dA-Za-z])", re.I)
_YEAR_NEXT: Final = re.compile(r"[\s.(\[-]{1,3}(?:19|20)\d\d(?!\d)")
_CHECKSUM: Final = re.compile(r"[\[( ]([0-9A-Fa-f]{8})(?=[\]) ]|$)")
_EXTENSION: Final = re.compile(
    r"(?:\.[a-z]{2,3}(?=\.(?:srt|ass|ssa|sub)$))?\.(mkv|mp4|avi|wmv|m4v|mov|mpe?g|webm|flv|rmvb|ogm|m2ts|ts|ass|srt|ssa|sub|nfo|torrent|nzb|patch|rar|zip|iso|strm)$",
    re.I,
)
CONTAINERS: Final = frozenset("mkv mp4 avi wmv m4v mov mpg mpeg webm flv rmvb ogm m2ts ts".split())
_LONGEST_ENDING: Final = len(".torrent") + len(".xxx")
_WRAPPINGS: Final = frozenset("torrent nzb rar zip strm".split())

_SCRIPTS: Final = (
    "简簡繁正日中英韩韓粤粵国國官方多双雙語语体體文内內外封嵌挂掛字幕无無修版生肉翻译譯音轨軌配港澳台臺單单字"
)
_SUBTITLES: Final = re.compile(rf"[{_SCRIPTS}A-Za-z0-9+&/、·. x\-]+")
_SAYS_SUBTITLES: Final = re.compile(
    "^[国國粤粵日英韩韓中]{2,4}$|[简簡繁]|字幕|双语|雙語|内封|內封|内嵌|內嵌|外挂|外掛|中字|[双雙]字|[国國粤粵英日][语語]|生肉|^生$|[无無]修正?|配音|翻[译譯]"
)
_NOTICE: Final = re.compile(
    "招募|招人|急招|招新|[检檢]索|[僅仅]限|[内內][详詳]|校对|校對|先行|修正版|附[^\\]]{0,6}字幕|重要通[报報]|www[.,]|^[国國日]漫$|^アニメ$|^[新终終字再解デ]$|^(?:[经經]典|[怀懷][旧舊])?老番$|^\\d{0,4}年?[日韩韓美国國]剧$"
)
# `[TV版 1981]`, `[動畫版]`, `[1996 TV动画]`: which of several works of a name it is.
_WHICH_WORK: Final = re.compile(
    r"(?:((?:19|20)\d\d) ?)?(?:TV ?[动動][画畫]?|TV版|[电電][视視][剧劇]|[日韩韓台美英][剧劇]|[动動][画畫]|アニメ|真人|[连連][续續][剧劇]|ドラマ)版?"
    r"(?: ?((?:19|20)\d\d))?(?:(?<=版) .{1,12})?"
)
# `夜之蔵人 美版/Night Brewer US`: whose version of a show it is.
_VERSION: Final = re.compile(rf"(?<=[{CJK}])\s?([美英澳])版(?=[\s/|\]\x00\x01]|$)")
_COUNTRIES: Final = {"美": ("US", "US"), "英": ("GB", "UK"), "澳": ("AU", "AU")}
_BARE_HEIGHT: Final = re.compile(r"(?<=[\[( ])(?:\d{3,4} ?\* ?)?(480|576|720|1080|2160)(?=[\])])")
_SEASON_OF_YEAR: Final = re.compile(
    r"[★☆◆ ]{0,3}(?:\d{2,4}年)?(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:新番|番|新作|放送)[★☆◆]{0,3}|[★☆◆][^★☆◆\[\]/\s]{0,4}番[★☆◆]"
)
_LANGUAGES: Final = (("简簡", "zh-Hans"), ("繁", "zh-Hant"), ("日", "ja"), ("英", "en"), ("粤粵", "yue"))
# `The.Final.Cut.1995`: no name is an article alone, so the words about a release behind it are the name.
_ARTICLE: Final = re.compile(r"[\s.\x00]*(?:the|an?|der|die|das|le|la|les|el|los|las|il|lo)[\s.]+", re.I)
# `The.Cellar.FR.S01E02`: what it is spoken in stands behind the number, and its country before it.
_COUNTRY_NEXT: Final = re.compile(
    r"(?<=[a-z][ .])(FR|DE|ES|IT|NL|PL|RU|TR|JP|KR|TW|HK|CN|MX|BR|SE|DK|NO|FI|BE|IE|ZA|IN|IL)(?=[ .]S\d{1,2}(?:E\d|[ .]))"
)
_REMEMBERED: Final = 2048


class _Note(NamedTuple):
    """What a bracket adds in Chinese."""

    languages: tuple[str, ...] = ()
    is_notice: bool = False
    year: int | None = None


def split_ending(text: str) -> tuple[str, str]:
    """A file's name and the ending that tells what is in it; the ending is empty if there is none."""
    found = _EXTENSION.search(text, max(0, len(text) - _LONGEST_ENDING))
    if found is None:
        return text, ""
    name, ending = text[: found.start()], found[1].lower()
    if ending in _WRAPPINGS and (inner := _EXTENSION.search(name)):
        return name[: inner.start()], inner[1].lower()
    return name, ending


def read_checksum(draft: TitleDraft) -> None:
    """Eight hexadecimal digits. Outside brackets they count only with both letters and digits: words can look so too."""
    for found in _CHECKSUM.finditer(draft.text):
        digits = found[1]
        bracketed = draft.text[found.start()] in "[("
        if digits.isdigit() and (not bracketed or digits.startswith(("19", "20"))):
            continue
        if digits.isalpha() and not bracketed:
            continue
        draft.checksum = digits.upper()
        end = found.end() + (bracketed and found.end() < len(draft.text))
        draft.take(found.start(), end, "checksum", "eight hexadecimal digits")


def read_notes(draft: TitleDraft) -> None:
    """What fansub groups add in Chinese: subtitles, the season of the year, who is wanted."""
    if draft.text.isascii() or not CJK_LETTER.search(draft.text):
        return
    for segment in draft.segments:
        if not segment.bracket:
            continue
        inner = draft.text[segment.start : segment.end].strip()
        if inner.isascii() and "www" not in inner:
            continue
        note = _read_note(inner)
        if note is None:
            continue
        if note.is_notice:
            draft.year = draft.year or note.year
            draft.take(*segment.outer, "note", "a notice to readers", mark=SKIPPED)
            continue
        for code in note.languages:
            draft.note("languages", code)
        draft.take(*segment.outer, "languages", "only words about subtitles")
    for found in _SEASON_OF_YEAR.finditer(draft.text) if "月" in draft.text or "番" in draft.text else ():
        draft.take(found.start(), found.end(), "note", "the month in which the series began")


@lru_cache(maxsize=_REMEMBERED)
def _read_note(inner: str) -> _Note | None:
    """What a bracket says to readers, or about subtitles alone; groups repeat theirs word for word."""
    if (which := _WHICH_WORK.fullmatch(inner)) is not None:
        year = which[1] or which[2]
        return _Note(is_notice=True, year=int(year) if year else None)
    if _NOTICE.search(inner):
        return _Note(is_notice=True)
    if _SAYS_SUBTITLES.search(inner) and _SUBTITLES.fullmatch(inner):
        return _Note(tuple(code for letters, code in _LANGUAGES if any(letter in inner for letter in letters)))
    return None


def read_tags(draft: TitleDraft) -> None:
    """Every word of the vocabulary, in brackets and out of them, and a height without its `p` where no other is."""
    _read_tags(draft)
    if "resolution" not in draft.values and (found := _BARE_HEIGHT.search(draft.text)):
        draft.note("resolution", found[1])
        draft.take(found.start(), found.end(), "resolution", "a height without its p")


def read_version_of_country(draft: TitleDraft) -> None:
    """The country behind a Chinese name, and behind the other name once more; or between a name and the number."""
    if not draft.original.startswith("[") and (code := _COUNTRY_NEXT.search(draft.original)):
        draft.note("country", code[1])
        draft.take(*code.span(), "country", "between the name and the number")
    if "版" in draft.text and (found := _VERSION.search(draft.text)):
        country, short = _COUNTRIES[found[1]]
        draft.note("country", country)
        draft.take(*found.span(), "country", "the version of a country", mark=SKIPPED)
        if again := re.search(rf"(?<=[a-z])\s{short}(?=[\s/\]\x00]|$)", draft.text):
            draft.take(*again.span(), "country", "the same country again", mark=SKIPPED)


def _read_tags(draft: TitleDraft) -> None:
    named = behind = False
    for segment in draft.segments:
        if segment.bracket:
            behind = (_read_bracket(draft, segment) and named) or behind
        else:
            tags = find_tags(draft.text, read_words(draft.text, segment.start, segment.end))
            behind = _read_bare(draft, segment, tags, behind=behind)
            named = named or LETTER_OR_DIGIT.search(draft.text, segment.start, segment.end) is not None


def _read_bracket(draft: TitleDraft, segment: Segment) -> bool:
    """Take a bracket of tags; tells whether it surely was one."""
    found = read_bracket(draft.text[segment.start : segment.end])
    if found is None:
        return False
    for meaning in found.meanings:
        # `(US)` tells the show; `[US]` and `(US BD)` tell the disc.
        if meaning.attribute != "country" or (len(found.meanings) == 1 and segment.bracket == "("):
            _note(draft, meaning)
    draft.year = draft.year or found.year
    draft.signature = found.signature or draft.signature
    start, end = segment.outer
    if found.number_end:
        # The episode stays, as if it stood before the bracket.
        draft.take(start, segment.start, "tags", "a bracket of tags")
        start = segment.start + found.number_end
    # Without its subtitle `Koji (TV) - Second Pressing - 03` would be another season.
    is_inside = segment.bracket == "(" and len(found.meanings) == 1 and draft.goes_on_behind(end)
    why = _explained(found.meanings) if draft.explain else ""
    draft.take(start, min(end, len(draft.text)), "tags", why, mark=" " if is_inside else TAKEN)
    return found.sure


def _read_bare(draft: TitleDraft, segment: Segment, tags: list[Tag], *, behind: bool) -> bool:
    """Take the words that are tags for sure, and all that follow one; tells whether one was there."""
    tail = _tail_behind_number(draft.text, segment, tags)
    for tag in tags:
        start, end, meaning, _ = tag
        if not meaning.sure and behind and draft.text[start - 1] == "-" and draft.text[end : end + 1] in ("", "["):
            # `H.264-NL`: who released it, not a language.
            continue
        if meaning.attribute == "release" and not behind and _is_name_with_article(draft.text, start, end):
            continue
        behind = behind or start >= tail
        if meaning.sure or behind:
            behind = True
            if meaning.attribute == "audio" and (channels := _CHANNELS.match(draft.text, end)):
                end = channels.end()
            if meaning.attribute != "country":
                _note(draft, meaning)
            draft.take(start, end, meaning.attribute, f"says {meaning.value or meaning.attribute}")
        else:
            draft.doubtful.append((start, end, meaning.attribute, meaning.value))
    return behind


def _is_name_with_article(text: str, start: int, end: int) -> bool:
    """Whether an article is all that stands before a word; `The Complete Series` names no show."""
    return _ARTICLE.fullmatch(text, 0, start) is not None and not text[start:end].lower().startswith("complete")


def _tail_behind_number(text: str, segment: Segment, tags: list[Tag]) -> int:
    """Where the words begin that end a bare segment, are all tags, and follow a number: `12.DVD(…)`."""
    tail = end = segment.end
    for tag in reversed(tags):
        if text[tag.end : end].strip(" .-\x00"):
            break
        tail = end = tag.start
    return tail if text[:tail].rstrip(" .")[-1:].isdigit() else segment.end


def read_doubtful(draft: TitleDraft, name_end: int) -> None:
    """The words that are tags because they stand behind the name, or are the last of it."""
    for start, end, attribute, value in reversed(draft.doubtful):
        if TAKEN in draft.text[start:end]:
            continue
        if attribute == "languages" and end - start == len("Ko") and draft.text[start:end].istitle():
            # A word of the name: `Koji no Ko`.
            continue
        named = start <= name_end
        if not named:
            why = "stands behind the name"
        elif _ends_name(draft, start, end, attribute, name_end):
            why, name_end = "the last word of the name", start
        else:
            continue
        # `The Cellar (2019) US S01E02`: before the episode it tells the show, behind it the disc.
        if attribute != "country" or named or end < draft.number_end:
            _note(draft, Meaning(attribute, value, sure=False))
        draft.take(start, end, attribute, why)


def _ends_name(draft: TitleDraft, start: int, end: int, attribute: str, name_end: int) -> bool:
    """Whether a tag hangs on the name: `The Cellar FRENCH 1080p`. Before a year it may be part of it: `Brewer English 2003`."""
    if draft.text[end:name_end].strip(" .-(\x01") or not draft.text[:start].strip(" .-\x00\x01"):
        return False
    if draft.episodes and (draft.original.startswith("[") or not draft.seasons):
        # A bare number ended the name, and no style puts tags before that.
        return False
    word = draft.text[start:end]
    if attribute == "release":
        return True
    if attribute != "country" and _YEAR_NEXT.match(draft.original, end):
        return False
    if attribute == "batch":
        return word.lower().startswith(("complete", "the complete", "batch"))
    if attribute in ("languages", "subtitles", "audio"):
        # A series can be called `The Italian`: what it is spoken in stands behind the season and episode.
        is_said_behind = draft.text[:end].islower() and "languages" in draft.values
        spoken = len(word) > 2 and not (draft.number_end and (word.istitle() or is_said_behind))
        return word.isupper() or spoken
    # Platforms are called Max, Red and It, and a country Us: capitals tell nothing where all the name is written in them.
    telling = attribute not in ("platform", "country") or not draft.text[:start].isupper()
    return telling and word.isupper() and len(word) > 1 and not draft.original.startswith("[")


def _note(draft: TitleDraft, meaning: Meaning) -> None:
    if meaning.attribute == "version":
        draft.version = int(meaning.value)
    else:
        draft.note(meaning.attribute, meaning.value)


def _explained(meanings: tuple[Meaning, ...]) -> str:
    said = dict.fromkeys(meaning.attribute for meaning in meanings)
    return f"a bracket that says {', '.join(said)}"
