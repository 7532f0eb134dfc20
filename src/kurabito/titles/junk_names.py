"""Names that say nothing about which show it is: seasons, parts, ranges and formats alone."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from kurabito.titles.numbers import HAN
from kurabito.titles.vocabulary import KNOWN, numeric

# What a name may be made of without telling one show from another.
_COUNTERS: Final = frozenset(
    "season seasons series part parts cour cours chapter episode episodes ep eps vol volume volumes disc disk box set arc hen "
    "saison staffel stagione temporada сезон final last first second third fourth fifth sixth one two three four five six "
    "new next special specials sp sps movie movies film films the of and or to ova ovas oad ona oav tv extra extras bonus "
    "op ed ncop nced pv cm menu trailer teaser preview ex recap summary side version ver edition cut batch complete full whole "
    "all animation anime end fin finale raw raws sub subs dub rev fix st nd rd th ii iii iv v vi vii viii ix".split()
)
_ATTRIBUTES: Final = frozenset(
    "resolution source video audio container subtitles languages batch size version release".split()
)
_WORD: Final = re.compile(r"[^\W_]+")
_PIECE: Final = re.compile(r"\d+|[^\W\d_]+")
_COUNTED: Final = re.compile(
    r"(?:s|e|ep|sp|v|t|tv|ova|vol|ed|op|part|season|no)?\d+(?:st|nd|rd|th|v\d|end|fin|tv|p|sp)?"
)
_SIDE: Final = re.compile(r"\b(?:part|side|disc|disk|cour)\s+[a-d]\b")
_HAN_JUNK: Final = re.compile(
    rf"第?[{HAN}\d]+(?:[-~至到][{HAN}\d]+)?\s?(?:季|期|部分?|章|卷|巻|话|話|集|回|篇|年|月|クール|シーズン|시즌|기|화)(?:新番)?"
    "|(?:最[终終后後]|完[结結]?|[终終]|[总總全合]|[剧劇][场場]|特[别別典]|番外|[前后後上下中本正]|[电電][视視影]|映[画像]|[连連][载載]"
    "|[无無]?修正?|先行|[预預予]告|[导導]演剪[辑輯]|[国國粤粵日中英][语語]|[简簡繁][体體]?|[双雙][语語]|字幕|[内內][封嵌]|外[挂掛]|新作?"
    "|[动動][画畫]|アニメ|テレビ|シーズン|シリーズ|クール|パート)(?:季|篇|编|編|版|集|章|部|番|组|組|社){0,2}"
)
_FEWEST_LETTERS: Final = 2


@lru_cache(maxsize=2048)
def is_junk_name(name: str) -> bool:
    """Whether a name may never become an alias, because many shows could be called so.

    >>> [is_junk_name(name) for name in ("Part 2", "Final Season", "01-24TV", "最终季", "The Last Kurabito")]
    [True, True, True, True, False]
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    if sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return True
    left = _SIDE.sub(" ", text)
    words = _WORD.findall(left if left.isascii() else _HAN_JUNK.sub(" ", left))
    phrase = KNOWN.get(" ".join(words))
    return (phrase is not None and phrase.attribute in _ATTRIBUTES) or all(map(_is_junk_word, words))


def _is_junk_word(word: str) -> bool:
    if word in _COUNTERS:
        return True
    meaning = KNOWN.get(word)
    if word.isalpha():
        # Most words are plain and end here.
        return meaning is not None and meaning.attribute in _ATTRIBUTES
    if _COUNTED.fullmatch(word):
        return True
    meaning = meaning or numeric(word)
    if meaning is not None and meaning.attribute in _ATTRIBUTES:
        return True
    pieces = _PIECE.findall(word)
    return len(pieces) > 1 and all(piece.isdigit() or piece in _COUNTERS for piece in pieces)
