"""What the other titles of a list say about one: a sequel beside its first season, a special or a film beside its show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kurabito.placements.plans.folders import FolderKind, folder_kind, read_folder, show_title
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.reading import SeasonFrom, VideoReading
from kurabito.placements.plans.words.specials import SHORT_SPECIAL
from kurabito.titles import fold_title

_SEQUEL: Final = re.compile(r"(.*\w[!?.]*)[ ._]+(II|III|IV|V|VI|[2-9])")
# In Chinese and Japanese no blank stands before it.
_JOINED_SEQUEL: Final = re.compile(r"(.*[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3])(II|III|IV|VI{0,3}|IX|[2-9])")
_FIRST_OF_SEQUELS: Final = re.compile(r"(.*[^\W\d_][!?.]*)(?:[ ._]?1|[ ._]I)")
_ROMAN: Final = {"II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}
_SEASON_WORDS: Final = re.compile(r"(?:Series|Season) \d{1,2}(?!\d)", re.I)
# As fansub groups write the season of an anime: not `Koji Part 2`, `Koji 1 2` or `Koji 9`.
_FANSUB_SEQUEL: Final = re.compile(r"(?<!part)(?<!vol)(?<!vol\.)(?<!cour) (?:II|III|IV|(?<![\d] )[23])$", re.I)
# `Koji II - Rice and Water`: the season stands before what it is called.
_NAMED_SEQUEL: Final = re.compile(r"(.*[^\W\d_][!?.]*) (II|III|IV) - (\S.*)")
_COUNTED_LABEL: Final = re.compile(r"[A-Za-z]+ \d+")
# `Koji OVA [BD]`, and not `Koji 01-12+OVA`.
_FOLDER_OF_SPECIALS: Final = re.compile(r"[^+&]*[ _.](OVA|OAD|Special|SP)s?(?:[ _.]*[\[(].*)?", re.I)
# What groups call the short specials of a show, where each has a number.
_SPECIAL_NAME: Final = re.compile(
    r"[ _.:-]+(Omake|Picture Drama|Mini[ -]?(?:Anime|Theater|Theatre|Drama|Movie)|Short Anime|ミニアニメ|ショートアニメ|ピクチャードラマ|特典アニメ|おまけ|迷你(?:动画|動畫|剧场|劇場)|小剧场|小劇場|(?:Special|Extra|Bonus)(?: Episode)?|Recap)s?$",
    re.I,
)
_NUMBER_BEHIND: Final = re.compile(r"(.*\S) - (\d{2,4})")
_ENOUGH: Final = 3
_FILM_WORD: Final = re.compile(r"剧场版|劇場版|The Movie(?![A-Za-z])", re.I)


def read_beside(readings: Sequence[VideoReading], *, is_known: bool) -> list[VideoReading]:
    """The same readings, with titles and seasons that only the other files of the list tell.

    Of shows that are known, the record says which season a sequel is: it may have one that is called `Koji II`.
    """
    readings = _by_first_number(readings)
    shows = {fold_title(one.title) for one in readings if one.kind is WorkKind.EPISODE and one.title}
    sequels = [_as_season(_as_special(one, shows), shows, is_known=is_known) for one in _beside_folders(readings)]
    sequels = _without_common_seasons(sequels)
    episodes = [one for one in sequels if one.kind is WorkKind.EPISODE and one.title]
    if not episodes:
        return sequels
    folded = {fold_title(str(one.title)): str(one.title) for one in episodes}
    return _with_one_year([_beside_show(one, folded, episodes) for one in sequels])


def _by_first_number(readings: Sequence[VideoReading]) -> list[VideoReading]:
    """`Koji - 11 - 0` beside `Koji - 10 - Rice`: of two numbers the first counts the episodes, as it does for the others."""
    beside: dict[tuple[tuple[str, ...], str], list[VideoReading]] = defaultdict(list)
    for one in readings:
        if one.kind is WorkKind.EPISODE and one.title:
            beside[one.path.folders, fold_title(one.title)].append(one)
    return [_first_number(one, beside) for one in readings]


def _first_number(
    reading: VideoReading, beside: Mapping[tuple[tuple[str, ...], str], Sequence[VideoReading]]
) -> VideoReading:
    found = _NUMBER_BEHIND.fullmatch(reading.title or "") if reading.own_title and reading.episodes else None
    others = beside.get((reading.path.folders, fold_title(found[1])), ()) if found else ()
    if found is None or len(others) < _ENOUGH or any(int(found[2]) in one.episodes for one in others):
        return reading
    like = others[0]
    return replace(
        reading,
        kind=WorkKind.EPISODE,
        title=like.title,
        episodes=(int(found[2]),),
        season=like.season,
        season_from=like.season_from,
        season_folder=like.season_folder,
        label=None,
        special_of=None,
    )


def _as_season(reading: VideoReading, shows: Collection[str], *, is_known: bool) -> VideoReading:
    """`Koji II` is the second season of `Koji`. Higher numbers are so only beside it: alone, `Koji 9` may be a name."""
    if reading.kind not in (WorkKind.EPISODE, WorkKind.SPECIAL) or reading.season_from in (
        SeasonFrom.PAIR,
        SeasonFrom.NAME,
    ):
        return reading
    title = reading.title or ""
    if (named := _named_sequel(reading, shows, is_known=is_known)) is not None:
        return named
    first = _FIRST_OF_SEQUELS.fullmatch(title)
    if (
        first
        and not {f"{fold_title(first[1])}{two}" for two in ("2", "ii")}.isdisjoint(shows)
        and reading.season in (None, 0, 1)
    ):
        return replace(reading, title=first[1])
    joined = _JOINED_SEQUEL.fullmatch(title)
    found = _SEQUEL.fullmatch(title) or joined
    if found is None:
        return reading
    number = _ROMAN.get(found[2]) or int(found[2])
    is_beside = not {f"{fold_title(found[1])}{one}" for one in ("", "1", "i")}.isdisjoint(shows)
    # `蔵人IV`: no name in Chinese or Japanese goes on in such letters.
    is_said = joined is not None and found[2] in _ROMAN
    is_said = is_said or (bool(_FANSUB_SEQUEL.search(title)) and reading.path.stem[0] in "[【")
    if not (is_beside or (is_said and not is_known)) or reading.season not in (None, 0, number):
        return reading
    if reading.kind is WorkKind.SPECIAL:
        return replace(reading, title=found[1], special_of=number)
    source = SeasonFrom.NAME if reading.season is None else reading.season_from
    return replace(reading, title=found[1], season=number, season_from=source)


def _named_sequel(reading: VideoReading, shows: Collection[str], *, is_known: bool) -> VideoReading | None:
    """A later season that has a name of its own, as fansub groups and folders of seasons say it; None for all others."""
    title = reading.title or ""
    if reading.kind is not WorkKind.EPISODE or not reading.own_title or is_known:
        return None
    if reading.season_from is SeasonFrom.FOLDER and (reading.season or 1) > 1:
        # `Koji/Season 2/Koji The Second Brew - 13` beside `Koji/Season 1/Koji - 12`.
        above = show_title(map(read_folder, reversed(reading.path.folders))) or ""
        own, show = fold_title(title), fold_title(above)
        return replace(reading, title=above) if show in shows and own.startswith(show) and own != show else None
    found = _NAMED_SEQUEL.fullmatch(title) if reading.season is None and reading.path.stem[0] in "[【" else None
    if found is None:
        return None
    name = found[1] if fold_title(found[1]) in shows else f"{found[1]} - {found[3]}"
    return replace(reading, title=name, season=_ROMAN[found[2]], season_from=SeasonFrom.NAME)


def _beside_folders(readings: Sequence[VideoReading]) -> list[VideoReading]:
    """The episodes in `Koji OVA` are specials, where another folder has episodes of `Koji`. Alone they are the show."""
    words = [_FOLDER_OF_SPECIALS.fullmatch(one.path.folders[-1]) if one.path.folders else None for one in readings]
    shows = {
        fold_title(one.title)
        for one, word in zip(readings, words, strict=True)
        if one.kind is WorkKind.EPISODE and one.title and word is None
    }
    return [
        replace(
            one, kind=WorkKind.SPECIAL, season=0, special_of=one.season, label=f"{word[1].upper()} {one.episodes[0]:g}"
        )
        if word
        and one.kind is WorkKind.EPISODE
        and one.season_from is not SeasonFrom.PAIR
        and len(one.episodes) == 1
        and fold_title(one.title or "") in shows
        else one
        for one, word in zip(readings, words, strict=True)
    ]


def _as_special(reading: VideoReading, shows: Collection[str]) -> VideoReading:
    """`Koji - Omake 03` is a special beside the episodes of `Koji`. Alone it may be a show."""
    short = SHORT_SPECIAL.search(reading.path.stem) if not reading.episodes else None
    if short and fold_title(reading.title or "") in shows:
        label = f"SP {int(short[1])}"
        return replace(
            reading, kind=WorkKind.SPECIAL, label=label, season=0, season_from=SeasonFrom.NOTHING, special_of=None
        )
    found = _SPECIAL_NAME.search(reading.title or "") if reading.kind is WorkKind.EPISODE else None
    if found is None or len(reading.episodes) != 1 or reading.season_from is SeasonFrom.PAIR:
        return reading
    show = (reading.title or "")[: found.start()]
    if fold_title(show) not in shows:
        return reading
    label = f"{found[1]} {reading.episodes[0]:g}"
    return replace(
        reading, kind=WorkKind.SPECIAL, title=show, label=label, season=0, special_of=reading.season, other_season=None
    )


def _without_common_seasons(readings: list[VideoReading]) -> list[VideoReading]:
    """The season of a special stays where an earlier one has a special of that name too: the OVA of each season."""
    seasons: dict[tuple[str, str | None], set[int]] = defaultdict(set)
    for one in readings:
        if one.kind is WorkKind.SPECIAL:
            seasons[fold_title(one.title or ""), one.label].add(one.special_of or 1)
    return [
        replace(one, special_of=None)
        if one.special_of and one.special_of <= min(seasons[fold_title(one.title or ""), one.label])
        else one
        for one in readings
    ]


def _with_one_year(readings: list[VideoReading]) -> list[VideoReading]:
    """The episodes of one show have one year, that of its first: a later season's, or an episode called `1999`, is none.

    Two shows of one name are told apart by it, and both have the same episodes.
    """
    by_show: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(readings):
        if one.kind is WorkKind.EPISODE and one.title:
            by_show[fold_title(one.title)].append(place)
    found = list(readings)
    for places in by_show.values():
        years = Counter(readings[place].year for place in places)
        keys = {(readings[place].season or 1, readings[place].episodes) for place in places}
        if len(years) < 2 or len(keys) < len(places):
            continue
        named = len(places) - years[None]
        first = min(year for year in years if year is not None) if 2 * named > len(places) else None
        for place in places:
            found[place] = replace(readings[place], year=first)
    return found


def _beside_show(reading: VideoReading, folded: Mapping[str, str], episodes: Sequence[VideoReading]) -> VideoReading:
    own = fold_title(reading.title or "")
    if reading.kind is WorkKind.FILM and own in folded and reading.year is None and reading.film_number is None:
        # Without a word of its own it would lie in the folder of the show.
        word = _FILM_WORD.search(reading.path.stem)
        return replace(reading, title=f"{reading.title} {word[0] if word else 'Movie'}")
    if reading.kind is not WorkKind.SPECIAL or own in folded or not own:
        return reading
    if named := next((title for one, title in folded.items() if names_twice(own, one)), None):
        return replace(reading, title=named)
    if reading.episodes or not reading.own_title:
        return reading
    if begun := next((title for one, title in folded.items() if own.startswith(one)), None):
        return _named_after(reading, begun)
    if reading.path.folders and folder_kind(reading.path.folders[-1]) is FolderKind.SPECIALS:
        # `Koji/Specials/New Year Special`: what it is called, and not another show.
        above = reading.path.folders[:-1]
        shows = {one.title for one in episodes if one.path.folders[: len(above)] == above}
        label = reading.label if _COUNTED_LABEL.fullmatch(reading.label or "") else reading.path.stem
        return replace(reading, title=shows.pop(), label=label) if len(shows) == 1 else reading
    return reading


def _named_after(reading: VideoReading, show: str) -> VideoReading:
    """`Koji Series 2 Christmas Special` beside the episodes of `Koji`."""
    title, label = reading.title or "", reading.label or ""
    said = (
        _SEASON_WORDS.sub("", title[len(show) :]).strip(" -._") if title.casefold().startswith(show.casefold()) else ""
    )
    if not said or not label.isalpha():
        return reading
    return replace(reading, title=show, label=f"{label} {int(said)}" if said.isdecimal() else f"{said} {label}")


def names_twice(name: str, show: str) -> bool:
    """`酒蔵koji`: the show's name in two scripts; its episodes were read by the Latin one."""
    before = name.removesuffix(show)
    return show.isascii() and bool(before) and before != name and not any(char.isascii() for char in before)


def shown_titles(readings: Iterable[VideoReading]) -> dict[str, str]:
    """How each title is written most often, by its letters and digits alone; as its folder writes it, where no file has capitals.

    The first season has the name of the show: the second one of `Koji!` may be called `Koji!!`.
    """
    written: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    above: dict[str, str] = {}
    for reading in readings:
        if reading.title:
            written[fold_title(reading.title)][reading.season or 1][reading.title] += 1
            above |= {fold_title(title): title for title in map(_title_of, reading.path.folders) if title}
    shown = {folded: seasons[min(seasons)].most_common(1)[0][0] for folded, seasons in written.items()}
    return {folded: above.get(folded, title) if title.islower() else title for folded, title in shown.items()}


def _title_of(folder: str) -> str | None:
    return read_folder(folder).title
