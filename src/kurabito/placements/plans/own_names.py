"""What the name of a file says before its folders are looked at: a release's title, with the habits of files read right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kurabito.placements.plans.folders import FolderFacts
from kurabito.placements.plans.paths import SplitPath, is_digest
from kurabito.placements.plans.words.specials import BRACKETED_SPECIAL, SPECIAL_WORD
from kurabito.titles import ReleaseKind, ReleaseTitle, fold_title, parse_title

_TV_SPECIAL: Final = re.compile(r"[\[(]TV[ _]?SP(?:ecial)?s?[\])]", re.I)
# As Russian and Chinese releases count seasons.
_TV_SEASON: Final = re.compile(
    r"(?<=[^\s])\s?\[TV[ -]?([1-9])\]|(?<=\w )TV-([1-9])(?=\s*(?:[\[(-]|$))"
    # As Thai releases do: `Koji SS2 EP.1`.
    r"|(?<=\w )SS([1-9])(?=[ _.-]+EP[ _.]?\d)"
    # As Spanish ones do: `Koji - T03 Cap. 01`.
    r"|(?<=[ _.-])T0?([1-9])(?=[ _.-]+(?:Cap|Ep)[ _.]{0,2}\d)",
    re.I,
)
_ISSUE: Final = re.compile(r"第(\d{1,4})期")
_SITE: Final = re.compile(r"AnimePahe[_ ]", re.I)
_TV_ENDING: Final = re.compile(r"[ _.-]+(?:TV-|SS|T0?)[1-9](?:[ _.]+Cap\.?)?$", re.I)
_SCRAMBLED: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{16,}")
# Cameras, discs, and programs that read discs count their files, and none of these numbers is an episode.
_OF_CAMERA: Final = re.compile(
    r"(?:IMG|VID|MVI|MOV|DSC[FN]?|DJI|PXL|GOPR|GX|GH|GP)_?\d{4,}(?:_\d+)*"
    r"|(?:Aufnahme|Recording|Enregistrement|Registrazione|Grabaci[óo]n|Opname|Nagranie|Запись|録画|录像|video ?\(\d)[ _-]?\(?\d{0,4}\)?"
    r"|.*(?<!\d)(?:19|20)\d\d-\d\d-\d\d[ _](?:at )?\d\d[.:-]\d\d(?:[.:-]\d\d)?(?: ?[AP]M)?",
    re.I,
)
_OF_DISC: Final = re.compile(r"VTS_\d\d_\d|title_?\d{2,3}|(?:.*_)?t\d\d", re.I)
_STREAM: Final = re.compile(r"\d{5}\.m2?ts", re.I)
_NAMELESS: Final = re.compile(r"0\d{4,}|\d{5,}|VIDEO_TS|movie|film|video|videoplayback|output|untitled", re.I)
# `202410041900010102-Koji`, `2024年10月04日23時00分00秒-Koji`: when a recorder wrote it.
_RECORDED_AT: Final = re.compile(
    r"(?:19|20)\d{6}(?:\d{4,10}[ _-]+|[ _-]\d{4}(?:\d\d)?[ _-]+)|(?:19|20)\d\d年\d{1,2}月\d{1,2}日(?:\d\d?時\d\d分(?:\d\d秒)?)?[ _-]+"
)
# Recorders write the number as the guide of the station does, and the name of the episode behind it: `蔵人(3)「約束」`,
# `蔵人 第1杯「約束」`, where each show has a counter of its own. What counts seasons, discs or trailers is no such counter.
_GUIDE_NUMBER: Final = re.compile(
    r"(?<=[\u3041-\u30ff\u4e00-\u9fff!?\uff01\uff1f」』])[ \u3000]?[(\uff08](\d{1,4})[)\uff09](?=[ \u3000]?(?:[「『▽]|[\u3041-\u30ff])|\[[字解多二デ新終再])"
)
_GUIDE_COUNTER: Final = re.compile(
    r"第(\d{1,4}|[一二三四五六七八九十百]{1,4})(?![季期部巻卷章弾作版]|クール|シーズン|シリーズ|ステージ|パート)[\u4e00-\u9fff\u30a1-\u30fc]{1,6}(?=[ \u3000]?[「『])"
)
# What the station calls the hour: `アニメ 蔵人 第1話`, `大河ドラマ「蔵人」(1)`.
_HOUR: Final = re.compile(
    r"(?:(?:TV|テレビ)?アニメ(?:イズム|ギルド)?|(?:大河|連続|土曜|日曜|月曜|火曜|水曜|木曜|金曜|夜|プレミアム)?ドラマ(?:W|\d{1,2})?|連続テレビ小説|日曜劇場|ノイタミナ)"
    r"(?:[ \u3000]*「([^「」]{1,100})」(?=[ \u3000]*[(\uff08#第])|[ \u3000]+(?=\S{2}))"
)
_LEADING_SIGN: Final = re.compile(r"(?:\[[字解多二デ新終再]\]|[\U0001f210-\U0001f23b])+")
_BARE_YEAR: Final = re.compile(r" ((?:19|20)\d\d)$")
# `How to wash rice [dQw4w9WgXcQ]`: the id of a video at the site that it is from.
_VIDEO_ID: Final = re.compile(
    r"(?<=[^\]]) ?\[(?=[^\]]*\d)(?=[^\]]*[a-z])(?![^\]]*(?:1080|720|480|2160|26[45]|bit|rip|aac|flac))[A-Za-z0-9_-]{11}\](?=\.\w+$|$)",
    re.I,
)
# `C2E014`: the campaigns of a game that is played before an audience are its seasons.
_CAMPAIGN: Final = re.compile(r"(?<![A-Za-z0-9])C(\d)E(?=\d{2,3}(?!\d))")
_LEADING_GROUP: Final = re.compile(r"^\s*\[[^\]]*\]")
# `[1345-1346][一小时SP]`: the place of an episode's number, wherever the word stands.
_COUNTED: Final = re.compile(r"[\[【](\d{1,4})(?:-\d{1,4})?(?:v\d)?[\]】]", re.I)
_NEAR: Final = 6
_MOST_SPECIALS: Final = 100


def read_own_name(path: SplitPath) -> ReleaseTitle:
    """What the name says. Nothing, where it is scrambled or no person gave it."""
    is_scrambled = _SCRAMBLED.fullmatch(path.stem) or is_digest(path.stem)
    if is_scrambled or _NAMELESS.fullmatch(path.stem) or is_numbered_by_machine(path):
        return ReleaseTitle()
    name = _VIDEO_ID.sub("", _SITE.sub("", path.name[end_of_time(path.stem) :]))
    told = parse_title(_as_titled(_CAMPAIGN.sub(r"S\1E", name)))
    is_special = _TV_SPECIAL.search(path.stem) if told.kind is ReleaseKind.UNKNOWN else None
    if is_special or (told.kind in (ReleaseKind.UNKNOWN, ReleaseKind.TV) and BRACKETED_SPECIAL.search(path.stem)):
        told = replace(told, kind=ReleaseKind.SPECIAL)
    if counted := _ISSUE.fullmatch(path.stem):
        # The word counts seasons of anime, and the shows of a variety programme.
        return replace(told, season=None, seasons=(), episodes=(int(counted[1]),))
    return _with_season_of_television(_without_far_number(_with_dotted_year(told, path.stem), path.stem), path.stem)


def _as_titled(name: str) -> str:
    """The name of a recording as a release would be called."""
    if name.isascii():
        return name
    sign = _LEADING_SIGN.match(name)
    hour = _HOUR.match(name, sign.end() if sign else 0)
    shown = f"{hour[1] or ''}{name[hour.end() :]}" if hour else name
    return _GUIDE_NUMBER.sub(r" 第\1話", _GUIDE_COUNTER.sub(r"第\1話", shown), count=1)


def _with_dotted_year(told: ReleaseTitle, stem: str) -> ReleaseTitle:
    """`[site] Koji.2023.EP01`: where dots stand between the words, a year is none of the title."""
    found = _BARE_YEAR.search(told.title or "") if told.year is None and told.episodes else None
    if found is None or f".{found[1]}." not in stem:
        return told
    return replace(told, title=str(told.title)[: found.start()], year=int(found[1]))


def with_year_in_name(told: ReleaseTitle, above: Sequence[FolderFacts]) -> ReleaseTitle:
    """`Koji 1994 (2013)/Koji.1994.E01`: of two years the first is a word of the name, as the folder shows."""
    name = fold_title(f"{told.title} {told.year}") if told.title and told.year else None
    for folder in above:
        if name and folder.title and folder.year not in (None, told.year) and fold_title(folder.title) == name:
            return replace(told, title=folder.title, year=folder.year)
    return told


def year_above(title: str | None, above: Sequence[FolderFacts]) -> int | None:
    """The year of the nearest folder that has one; in `Koji 1988/Koji 1988.E01` it is the last word of the name."""
    own = fold_title(title or "")
    return next((one.year for one in above if one.year and fold_title(f"{one.title}{one.year}") != own), None)


def is_numbered_by_machine(path: SplitPath) -> bool:
    """`IMG_0412`, `VTS_01_1`, `title_t00`, `00800.m2ts`: a number that says nothing about episodes."""
    return is_of_camera(path) or bool(_OF_DISC.fullmatch(path.stem) or _STREAM.fullmatch(path.name))


def is_of_camera(path: SplitPath) -> bool:
    """`IMG_0412`, `VID_20240101_2315`: what a camera recorded is no film that the folder is called after."""
    return _OF_CAMERA.fullmatch(path.stem) is not None


def end_of_time(stem: str) -> int:
    """Where the time ends that a recorder wrote before the name; 0 where there is none."""
    found = _RECORDED_AT.match(stem)
    return found.end() if found else 0


def _with_season_of_television(told: ReleaseTitle, stem: str) -> ReleaseTitle:
    """`Koji [TV2]`, `Koji TV-2`: its second season."""
    found = _TV_SEASON.search(stem) if told.season is None else None
    if found is None:
        return told
    season = int(next(group for group in found.groups() if group))
    return replace(told, season=season, seasons=(season,), title=_TV_ENDING.sub("", told.title) if told.title else None)


def _without_far_number(told: ReleaseTitle, stem: str) -> ReleaseTitle:
    """`Koji 100 - Rice Special`: a number that does not stand beside the word is part of the title."""
    found = SPECIAL_WORD.search(stem) if told.kind in (ReleaseKind.OVA, ReleaseKind.SPECIAL) and told.episodes else None
    if found is None or told.seasons:
        return told
    number = f"{told.episodes[0]:g}"
    is_near = number in stem[max(0, found.start() - _NEAR) : found.end() + 2 * _NEAR]
    if is_near or any(one.lstrip("0") == number for one in _COUNTED.findall(stem)):
        # No series has so many specials: it is an episode, and a long one.
        return replace(told, kind=ReleaseKind.TV) if told.episodes[0] >= _MOST_SPECIALS else told
    return replace(told, episodes=(), title=_LEADING_GROUP.sub("", stem[: found.start()]).replace("_", " ").strip(" -"))
