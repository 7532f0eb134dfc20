"""The words for a special, and what it is called by them."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles import Episode

SPECIAL_WORD: Final = re.compile(
    r"(?<![A-Za-z])((?:Mini|Short|Bonus|Petit|Puchi)[ _-]?(?:OVA|OAD|ONA|Specials?|SP)|OVA|OAD|OAV|ONA|(?:TV[ _]?)?SPs?|Specials?|Omake|Extra(?! Edition)|(?:(?:Radio|Audio|Voice) |(?<=[\[(]))Drama(?= ?\d)|Picture Drama|Mini(?: ?Anime)?|特[别別][篇編编]|番外[篇編编]?|总集篇|總集篇|総集編|スペシャル(?!イベント)|迷你(?:动画|動畫|剧场|劇場)|小剧场|小劇場|[广廣]播[剧劇]|ミニアニメ|ミニドラマ|ピクチャードラマ)(?![a-z])"
    r"[ _.#-]{0,3}(?:Vol\.? ?|Ep?\.? ?)?(\d{1,3}(?![\dA-Za-z]))?",
    re.I,
)
"""The words for a special, and the number behind one."""
# `[Mini Anime 01]`, `[广播剧 02]`: in a bracket of their own, where the number would count episodes.
BRACKETED_SPECIAL: Final = re.compile(
    r"(?<=[\[(])(?:Mini ?(?:Anime|Drama)|Short Anime|(?:Radio|Audio|Voice|Picture) ?Drama|Drama|Omake|迷你(?:动画|動畫|剧场|劇場)|小剧场|小劇場|[广廣]播[剧劇]|ミニアニメ|ミニドラマ|ピクチャードラマ)[ _]?\d{1,2}(?=[\])])",
    re.I,
)
# `[SP07] Mini Anime - 01`: the first number counts all that comes beside the episodes.
_RUNNING_NUMBER: Final = re.compile(r"[\[(]SP\d{1,3}[\])]\s?")
# `[Kura] Koji - S01 [BD]` beside `[Kura] Koji - 01 [BD]`: a special, where no season has such a number.
SHORT_SPECIAL: Final = re.compile(r"^\[.*[ _]-[ _]S(\d{1,2})(?=[ _]?(?:[\[(]|$))")
_HALF: Final = re.compile(r"[上中下前后後](?=[\]\s_)】.-]|[篇編编巻卷]|$)")
_NUMERALS: Final = "I II III IV V VI VII VIII IX X".split()
_ROMAN: Final = re.compile(rf"[ _.]?({'|'.join(_NUMERALS)})(?=[ _.\])(\[-]|$)")
_SPECIAL_ENDING: Final = re.compile(r"(?<!the)[ _.-]+(?:(?:OVA|OAD|OAV|SPs?|Specials?)s?|BD|DVD)$", re.I)
_WORDS_FOR: Final = {"tvsp": "SP", "sps": "SP", "sp": "SP", "specials": "Special", "special": "Special", "oav": "OVA"}


def special_label(stem: str, episodes: tuple[Episode, ...], folder: str = "SP") -> str:
    """What a special is called: `OVA 2`, `SP 1`, as the name says it, else as its folder does."""
    running = _RUNNING_NUMBER.search(stem)
    found = (SPECIAL_WORD.match(stem, running.end()) if running else None) or SPECIAL_WORD.search(stem)
    if found is None:
        word = "OVA" if "ova" in folder.lower() else "OAD" if "oad" in folder.lower() else "SP"
    else:
        word = _WORDS_FOR.get(found[1].lower().replace(" ", "").replace("_", ""), found[1])
    number = found[2] if found and found[2] else f"{episodes[0]:g}" if episodes else ""
    if not number and found and (roman := _ROMAN.match(stem, found.end())):
        number = str(_NUMERALS.index(roman[1]) + 1)
    if not number and found and (half := _HALF.match(stem, found.end())):
        return f"{word} {half[0]}"
    return f"{word} {float(number):g}" if number else word


def special_title(title: str | None, label: str | None) -> str | None:
    """The title without the words that the label begins with: `Koji Mini` of `Koji Mini OVA - 01`."""
    first, blank, _ = (label or "").partition(" ")
    plain = re.sub(rf"(?<!the)[ _.-]+{re.escape(first)}$", "", title or "", flags=re.I) if blank else title or ""
    return _SPECIAL_ENDING.sub("", plain).strip() or title
