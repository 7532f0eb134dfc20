"""What is left is the name, or several: told apart by separators, brackets and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kurabito.titles.draft import SKIPPED, TAKEN, Segment, TitleDraft, segments
from kurabito.titles.junk_names import is_junk_name
from kurabito.titles.pairs import (
    are_translations,
    bracketed_behind,
    cut_at_language,
    cut_at_script,
    cut_by_sound,
    is_coined,
    is_end_of_another,
    is_same_name,
    names_of_bracket,
)
from kurabito.titles.romaji import romaji_key
from kurabito.titles.scripts import Script, script_of
from kurabito.titles.text import CJK, LATIN_LETTER, LETTER_OR_DIGIT, is_foreign

# `夜之蔵人[第01-15集].Night.Brewer.S01`, `Погреб (S1E1-4) / The Cellar (S1E1-4)`: the same name in Latin letters.
_GOES_ON: Final = re.compile(r"(?:\s?/\s?|\.)[A-Za-z]{3}")
_SPACED_SEPARATOR: Final = re.compile(r"[\s/|](?:(?<=\s)\s*(?:[/|]\s*|-\s{2,})|(?<=[/|])\s+)")
# Not in `1/2`.
_SEPARATOR: Final = re.compile(r"(?<!\d)[/|]|[/|](?!\d)")
# `Le.Maitre.du.Sake.AKA.The.Sake.Master`, as trackers of films write it.
_ALSO_KNOWN: Final = re.compile(r"(?<=\w)[ .]AKA[ .](?=\w)")
# `Kura/Zero Hour -酒藏之零-`: the first word of the name goes on behind the slash.
_SLASH_IN_NAME: Final = re.compile(r"^\W*[A-Za-z]+(/)[A-Za-z]+ ")
_SLASH_FOLLOWS: Final = re.compile(rf"[\s{SKIPPED}]*/\s")
_ENDS_IN_SLASH: Final = re.compile(r"\s/\s$")
_EDGES: Final = " -–—,:/|+&\x01・★☆"
# `夜之蔵人-Night Brewer-`, `Kura -Moromi-`: the last sign is of the name as much as the first.
_ENCLOSING: Final = re.compile(rf"[\s{CJK}!?]-(?=[^\s-])[^-]{{1,100}}$")
_WRITTEN_EDGES: Final = _EDGES + "[]"
_ACRONYM: Final = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]\.){2,12}(?:[A-Za-z](?![A-Za-z]))?")
_ENDS_IN_ACRONYM: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]\.[A-Za-z]\.$")
_DOT_FOR_BLANK: Final = re.compile(r"(?<!\d)\.|\.(?!\d)")
_BRACKETED_NAME: Final = re.compile(r"(?:\s|\.(?=\()|(?<=[^\s!-~]|[?!]))\(([^()]{3,200})\)?\s*$")
# `The Cellar S01E02 1080p WEB-DL-KURA (Sakagura, Multi-Subs)`: streams are released so, with the other name at the end.
_LAST_NAME: Final = re.compile(
    r"\(([^()]{4,200}), (?:Multi|Dual|Triple|English|Eng|Weekly)[ -]?(?:Subs?|Audio|Dubs?)\b[^()]{0,40}\)[ \]]*$", re.I
)
# `The.Cellar.S01E02.1080p.WEB-DL-KURA (Sakagura no Yoru)`
_BEHIND_GROUP: Final = re.compile(r"-\w{2,20}\s\(([A-Za-z][^()]{3,200})\)$")
# `[Kura] The Cellar [1080p] (Sakagura no Yoru) - 05`
_BEHIND_TAGS: Final = re.compile(r"[\])]\s\(([A-Za-z][^()\[\]]{5,200})\)(?:\s-\s\d{1,4}(?:v\d)?)?(?:\.\w{2,4})?\s*$")
# `Kura Season 2 - 06 (Kura: Moromi)`
_IN_BRACKETS: Final = re.compile(r"\(([^()]{4,200})\)")
# `[Kura] Yoru no Kurabito (2024) [1080p] [HEVC WEBRip] (The Night Brewer) (Batch)`
_BEHIND_BRACKETS: Final = re.compile(r"(?<=\x00)\s\(([A-Za-z][^(),\[\]\x00\x01]{3,120})\)[\s\x00]*$")
# `[Kura] Yoru no Kurabito to Sake - 07 (YoKura) [720p]`
_BEHIND_NUMBER: Final = re.compile(
    r"(?<=\x00)\s?\(([A-Za-z][^(),\[\]\x00\x01]{4,120})[\s\x00\x01]*\)?\s?(?=[\[\x00]|$)"
)
_GOES_ON_BEHIND: Final = re.compile(r"(?:\s?[:~]|\s-)\s?[^\W\d]")
# `酒蔵2.Sakagura Naoki`, where blanks stand for blanks and the dot for no other thing.
_DOT_BETWEEN_SCRIPTS: Final = re.compile(
    rf"(?:(?<=[{CJK}])|(?<=[{CJK}]\d))\.(?=[A-Z][a-z]+(?: |$))|(?<=[\u4e00-\u9fff])\.(?=[\uac00-\ud7a3])|(?<=[{CJK}] (?:19|20)\d\d)\.(?=[A-Z][a-z])"
)
# `夜之蔵人.Night.Brewer`, where dots stand for blanks.
_DOTTED_SCRIPTS: Final = re.compile(rf"(?<=[{CJK}])\.(?=[A-Z][\w'.:-]{{4}})")
# `Le.Maitre.du.Sake.(The.Sake.Master)`
_DOTTED_NAME: Final = re.compile(r"[A-Za-z]{3,20}\.(?:[A-Za-z]{1,20}\.){0,6}[A-Za-z]{3}|(?<=\()[A-Z][a-z]{4}")
_ENDS_IN_PART: Final = re.compile(r"\b(?:Part|Cour|Movie|Vol\.?)\s\d$", re.I)
# `Show: - 08`, `ショー: #08`: what the colon ends is the name.
_ENDS_IN_COLON: Final = re.compile(rf"(?<=\w): (?=- \d|#\d|第\d)|(?<=[{CJK}]):(?=\s/\s|\])")
# `The Cellar (Sakagura) - Complete`, `The Cellar 2 - Batch`
_WHOLE_BEHIND: Final = re.compile(r"(?<=[\w)!?])\s-\s(?:Complete|Batch)(?:\s(?:Series|Batch))?(?=\s*$)", re.I)
_MOST_NAMES: Final = 12


def read_names(draft: TitleDraft) -> tuple[str, ...]:
    """The names in the first stretch of free text, and in the one that a separator joins to it."""
    names: tuple[str, ...] = ()
    fansub = draft.original.startswith("[")
    for stretch in _stretches(draft.text):
        if not names:
            names = _names_in(stretch, fansub=fansub)
        elif not is_foreign(names[0]):
            break
        elif _GOES_ON.match(stretch):
            names = (*names, *_names_in(stretch, fansub=fansub))
            break
    if "(" in draft.original and names:
        names = tuple(dict.fromkeys((*names, *_last_names(draft, names[0]))))
    for colon in _ENDS_IN_COLON.finditer(draft.original) if ":" in draft.original else ():
        before = draft.original[: colon.start()]
        names = tuple(f"{name}:" if before.endswith(name) else name for name in names)
    return _without_season(names, draft.seasons[0]) if len(draft.seasons) == 1 and len(names) > 1 else names


def _last_names(draft: TitleDraft, name: str) -> Iterator[str]:
    """The other name in the last brackets: that of a season, or one before a word on its subtitles; without its season."""
    for inside in _IN_BRACKETS.findall(draft.original):
        if inside.startswith(name) and _GOES_ON_BEHIND.match(inside, len(name)):
            yield _clean(inside)
    shown = _BEHIND_NUMBER.search(draft.text) if draft.original.startswith("[") else None
    is_other = shown is not None and not shown[1].startswith(name.partition(" ")[0])
    if shown and is_other and draft.episodes and are_translations(name, shown[1], _clean):
        yield _clean(shown[1])
    behind = _BEHIND_BRACKETS.search(draft.text) if draft.original.startswith("[") else None
    if behind and draft.original[behind.start() - 1] == "]" and _are_read_and_translated(name, behind[1]):
        yield _clean(behind[1])
    found = _LAST_NAME.search(draft.original)
    if found is None:
        found = _BEHIND_GROUP.search(draft.original) or _BEHIND_TAGS.search(draft.original)
        found = found if found is not None and romaji_key(found[1]) is not None else None
    if found is not None and (draft.number_end or found.re is _BEHIND_TAGS):
        last = _clean(draft.text[found.start(1) : found.end(1)].replace(SKIPPED, TAKEN).partition(TAKEN)[0])
        if LETTER_OR_DIGIT.search(last):
            yield last


def _are_read_and_translated(name: str, other: str) -> bool:
    return (romaji_key(name) is None) != (romaji_key(other) is None) and are_translations(name, other, _clean)


def read_written(draft: TitleDraft) -> tuple[str, ...]:
    """The names as they are written, the whole first: with the seasons, kinds and years that were read out of them."""
    whole = next(filter(LETTER_OR_DIGIT.search, _stretches(draft.named_text)), "")
    pieces = [whole]
    if "[" in whole or "(" in whole:
        pieces += [whole[part.start : part.end] for part in segments(whole)]
    pieces += [part for piece in pieces if _may_be_several(piece) for part in _SPACED_SEPARATOR.split(piece)]
    written = dict.fromkeys(" ".join(piece.replace(SKIPPED, " ").split()).strip(_WRITTEN_EDGES) for piece in pieces)
    return tuple(name for name in written if name and not name.isdecimal())[:_MOST_NAMES]


def _stretches(text: str) -> Iterator[str]:
    """What stands between the parts that recognisers took."""
    return filter(None, text.split(TAKEN))


def _may_be_several(text: str) -> bool:
    """Whether a separator can be in it at all; asked first, because the pattern for it is slow."""
    return "/" in text or "|" in text or " -  " in text


def _without_season(names: tuple[str, ...], season: int) -> tuple[str, ...]:
    """`夜之蔵人 第二季 / Yoru no Kurabito 2`: where one name spells the season out, the number behind another says the same."""
    if season == 1:
        return names
    kept = (name if _ENDS_IN_PART.search(name) else name.removesuffix(f" {season}") for name in names)
    return tuple(dict.fromkeys(kept))


def _names_in(stretch: str, *, fansub: bool) -> tuple[str, ...]:
    parts = segments(stretch)
    if any(LETTER_OR_DIGIT.search(stretch, part.start, part.end) for part in parts if not part.bracket):
        bare = _bare_names(_without_last_dot(_without_last_brackets(stretch, parts)), fansub=fansub)
        written = [*bare, *bracketed_behind(stretch, parts)]
    else:
        written = [name for part in parts for name in names_of_bracket(stretch[part.start : part.end])]
    candidates = [_with_blanks(name) for text in written for name in _split(text)][:_MOST_NAMES]
    names: dict[str, None] = {}
    for candidate in candidates:
        pieces = _by_script(candidate, alone=len(candidates) == 1, last=candidate is candidates[-1])
        if len(pieces) == 2 and is_end_of_another(pieces[1], candidate, candidates):
            # `夜之蔵人 Encore / Yoru no Kurabito Encore`: what it goes on with is no name.
            pieces = [" ".join(pieces)]
        if not candidate.isascii():
            pieces = [part for piece in pieces for part in cut_at_language(piece)]
        for piece in pieces:
            name = _clean(piece)
            if LETTER_OR_DIGIT.search(name):
                names[name] = None
    return _telling(tuple(names)) if len(names) > 1 else tuple(names)


def _telling(names: tuple[str, ...]) -> tuple[str, ...]:
    """Without "Part 2" and "Final Season", if another name is left; one word alone can be a name after all."""
    kept = tuple(name for name in names if " " not in name or not is_junk_name(name))
    return kept or names


def _without_last_brackets(stretch: str, parts: list[Segment]) -> str:
    """A bracket inside the name belongs to it; square ones behind it do not."""
    end = len(stretch)
    for part in reversed(parts):
        dotted = part.bracket == "(" and stretch[part.start - 2 : part.start - 1] == "."
        if dotted and _DOTTED_NAME.search(stretch, part.start, part.end):
            break
        if part.bracket != "[" and not dotted and LETTER_OR_DIGIT.search(stretch, part.start, part.end):
            break
        if _ENDS_IN_SLASH.search(stretch, 0, part.outer[0]):
            break
        end = part.outer[0]
    start = 0
    for part in parts:
        if part.bracket != "[" and LETTER_OR_DIGIT.search(stretch, part.start, part.end):
            break
        if _SLASH_FOLLOWS.match(stretch, part.outer[1]):
            # `【夜之蔵人】 / Yoru no Kurabito`: the brackets are of the name.
            break
        start = part.outer[1]
    return stretch[start:end]


def _without_last_dot(text: str) -> str:
    """A dot that leads over to what was taken goes; one that ends a sentence or an acronym stays."""
    return text if not text.endswith(".") or _ENDS_IN_ACRONYM.search(text) else text.rstrip(".")


def _bare_names(text: str, *, fansub: bool) -> list[str]:
    """The name, and the other one that stands in brackets behind it: in another script, or where no group brackets names."""
    if " - " in text:
        text = _WHOLE_BEHIND.sub("", text)
    found = _BRACKETED_NAME.search(text) if "(" in text else None
    if found is None or not LETTER_OR_DIGIT.search(text, 0, found.start()):
        return [text]
    before, inside = text[: found.start()], found[1]
    if found[0].startswith("(") and (is_foreign(inside) or not is_foreign(before)):
        # Without a blank in front, only the name in the other script is one: `夜之蔵人(YoKura)`.
        return [text]
    if " / " in inside:
        return [before, *inside.split(" / ")]
    if fansub and is_foreign(inside) == is_foreign(before) and not are_translations(before, inside, _clean):
        return [text]
    return [before, inside]


def _split(text: str) -> list[str]:
    """The names in a text with separators. A slash without blanks is one only beside letters that are not Latin."""
    if _may_be_several(text) and len(names := _SPACED_SEPARATOR.split(text)) > 1:
        return names
    if "AKA" in text and _ALSO_KNOWN.search(text):
        return _ALSO_KNOWN.split(text)
    if is_foreign(text):
        if "/" in text or "|" in text:
            joined = _SLASH_IN_NAME.match(text)
            kept = text[: joined.start(1)] + "\x03" + text[joined.end(1) :] if joined else text
            names = [name.replace("\x03", "/") for name in _SEPARATOR.split(kept)]
            if len(names) > 1 and not all(script_of(name) is Script.KANA for name in names):
                return names
        joints = _DOTTED_SCRIPTS if " " not in text.strip() else _DOT_BETWEEN_SCRIPTS
        if joint := joints.search(text):
            return [text[: joint.start()], text[joint.end() :]]
        # `Yoru no Kurabito - Zero - 夜之蔵人`: at the last one in front of the other script.
        parts = text.split(" - ")
        first = next((place for place, part in enumerate(parts) if is_foreign(part)), 0)
        before = " - ".join(parts[:first])
        if LATIN_LETTER.search(before):
            return [before, " - ".join(parts[first:])]
    return [text]


def _by_script(text: str, *, alone: bool, last: bool) -> list[str]:
    """Cut a name at a season or kind that was taken out of it, and the last one where it goes on in another script."""
    before, _, behind = text.partition(SKIPPED)
    behind = behind.strip(SKIPPED)
    if not LETTER_OR_DIGIT.search(before):
        before, behind = behind.partition(SKIPPED)[0], ""
    heard = cut_by_sound(before)
    pieces = heard or (cut_at_script(before) if last else [before])
    if not alone and not heard:
        # The mixture is a name only where there is no other.
        pieces = pieces[:2]
    behind = behind.partition(SKIPPED)[0]
    if behind and (is_foreign(behind) != is_foreign(before) or is_same_name(before, behind)):
        pieces.append(behind)
    return pieces


def _with_blanks(text: str) -> str:
    """A name without the dots that stood for blanks; those of an acronym stay."""
    if " " in text.strip(" .-") or "." not in text:
        return text
    kept = _ACRONYM.sub(lambda found: found[0].replace(".", "\x02"), text)
    return _DOT_FOR_BLANK.sub(" ", kept).replace("\x02", ".")


def _clean(text: str) -> str:
    """A name without what clings to its edges."""
    written = " ".join(text.replace(SKIPPED, " ").split()).replace(" : ", ": ").lstrip(_EDGES + ".")
    name = written.rstrip(_EDGES)
    if written[len(name) :].startswith("-") and _ENCLOSING.search(name):
        name += "-"
    if name.count("(") != name.count(")"):
        name = name.strip("()").strip(_EDGES)
    return name[1:-1].strip(_EDGES) if name[:1] == "[" and name.find("]") == len(name) - 1 else name


def best_of(names: tuple[str, ...]) -> str | None:
    """The name in Latin letters, which indexes and file systems agree on; else the first, or the whole of what may be two."""
    for name in names:
        if LATIN_LETTER.search(name) and not is_foreign(name):
            whole = next((other for other in names if other.endswith(f" {name}") and is_foreign(other)), None)
            if whole is None or not name.isupper() or is_coined(name) or romaji_key(name) is not None:
                return name
            # In capitals it may be what the name before goes on with.
            return whole
    return names[0] if names else None
