"""What a file is, by its name and the folders above it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from kurabito.placements.plans.folders import FolderKind, folder_kind, read_folder
from kurabito.placements.plans.model import FileClass
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.words.extras import NUMBERED, extra_word, tells_of
from kurabito.titles import fold_title, parse_title

_ENDINGS: Final[dict[str, FileClass]] = {
    ending: file_class
    for file_class, endings in {
        FileClass.VIDEO: "mkv mp4 avi wmv m4v mov mpg mpeg webm flv rmvb rm ogm ogv m2ts mts ts vob divx asf 3gp f4v",
        FileClass.SUBTITLE: "ass srt ssa sub idx vtt sup smi ttml mks",
        FileClass.AUDIO: "mka flac mp3 aac ac3 eac3 dts dtshd thd opus ogg wav m4a wv tak ape tta wma aiff",
        FileClass.FONT: "ttf otf ttc woff woff2 pfb",
        FileClass.ARCHIVE: "rar zip 7z tar gz bz2 xz tgz iso img mdf nrg cab ace",
        FileClass.EXECUTABLE: "exe lnk scr zipx bat cmd msi ps1 vbs vbe js jse wsf hta pif jar cpl reg com arj lzh dll apk sh",
    }.items()
    for ending in endings.split()
}
_VOLUME: Final = re.compile(r"r\d{2,3}|z\d{2}|\d{3}")
_SPLIT: Final = re.compile(r"\.(?:7z|zip|rar)$", re.I)
_UNFINISHED: Final = frozenset("!qb part aria2 crdownload bc! !ut tmp parts".split())
# A web address without an ending of its own is no program.
_ADDRESS: Final = re.compile(r"www\.|[@ ]", re.I)
_OF_EXTRAS: Final = re.compile(
    r"fonts?|字体|字體|scans?|booklets?|(?<![a-z])bk(?![a-z])|cds?(?![a-z])|(?<![a-z])ost(?![a-z])|menus?|特典|wallpapers?|art ?(?:book|work)s?|covers?|posters?|lyrics|images|soundtracks?|壁纸|壁紙|扫图|掃圖|漫画|漫畫|小说|小說|manga|novels?",
    re.I,
)

_MAKING: Final = re.compile(r"(?:\[[^\[\]]*\][ ._]?)?((?:The[ ._])?Making[ ._-]of)[ ._]", re.I)
_COUNT_BEHIND: Final = re.compile(r"[ _.]*-?[ _.]*\d{1,3}$")
_LED: Final = re.compile(r"(\d{1,3})(?:\s-\s|\.\s)(?=\S)")
_ENOUGH: Final = 2
_SAMPLE: Final = re.compile(
    r"^sample(?:[._ \-]|$)|[._ \-\[(]sample[\])]?$|(?:S\d{1,2}E\d{1,3}|[. ](?:19|20)\d\d|\d{3,4}p)(?:[._ -].*)?[._ -]sample[._ -]",
    re.I,
)
# `BLUDV.TV.mp4`: the address of a site, and what it wants to sell.
_ADVERT: Final = re.compile(r"(?:www\.)?[A-Za-z0-9-]{3,24}\.(?:tv|com|net|org|info|site|club|xyz)", re.I)
# `更多剧集请访问 www.kura.example`: an invitation and an address.
_INVITATION: Final = re.compile(
    r"(?:更多|最新|最全|访问|訪問|下载|下載|地址|发布|發布|收藏|visit|join us|download(?:ed)?(?: more)? (?:at|from)).*(?<![A-Za-z0-9])(?:www\.|[a-z0-9-]{3,24}\.(?:com|net|org|cc|tv|xyz|top|vip|me|info|site|club)(?![A-Za-z0-9]))",
    re.I,
)
_SEASON_ZERO: Final = re.compile(r"S00[ ._]?E\d|(?<!\d)0x\d\d", re.I)
# Such a folder sorts, and may have episodes in it.
_SORTED: Final = re.compile(r"others?|misc|shorts|events?", re.I)
# `Extras/[Kura] Koji OVA [BD]`, `Bonus/Koji Special 02`: a work of the show, that was put beside its extras.
_KEPT_WITH_EXTRAS: Final = re.compile(r"extras?|bonus(?:es)?|others?|misc|特典|映像特典|特典映像", re.I)
_SPECIAL_OF_SHOW: Final = re.compile(
    r"[\w!?)][ _.-]+(?:Specials?[ _.-]+\d{1,2}(?:v\d)?|(?:OVA|OAD)s?(?:[ _.-]+\d{1,2}(?:v\d)?)?)(?=[ _.]?(?:[\[(]|$))",
    re.I,
)


class Classified(NamedTuple):
    """What a file is, and the word that says so where its ending does not."""

    file_class: FileClass
    word: str | None = None
    unfinished: bool = False


def classify(path: SplitPath) -> Classified:
    """What a file is. Whatever pretends to be something else is what its last ending says."""
    if path.extension in _UNFINISHED:
        return Classified(FileClass.OTHER, unfinished=True)
    by_ending = _by_ending(path)
    if by_ending is FileClass.ARCHIVE and (named := _named_for_extras(path)) is not None:
        is_font = re.search("font|字体|字體", named, re.I)
        return Classified(FileClass.FONT if is_font else FileClass.OTHER, named)
    if by_ending not in (FileClass.VIDEO, FileClass.SUBTITLE, FileClass.AUDIO) or path.is_clutter:
        return Classified(FileClass.OTHER if path.is_clutter and by_ending is not FileClass.EXECUTABLE else by_ending)
    kinds = [folder_kind(folder) for folder in path.folders]
    if _SAMPLE.search(path.stem) or FolderKind.SAMPLE in kinds or _is_advert(path.stem):
        return Classified(FileClass.SAMPLE)
    word = _own_word(path) or _about_work(path)
    if word is None and FolderKind.EXTRAS in kinds:
        word = _extras_folder(path, kinds.index(FolderKind.EXTRAS))
    if word is not None and by_ending is FileClass.VIDEO:
        return Classified(FileClass.EXTRA, word)
    # A sound file with the word is the commentary itself.
    return Classified(by_ending, None if word and "commentar" in word.lower() else word)


def _named_for_extras(path: SplitPath) -> str | None:
    """The name that says that an archive has no videos: its own, or that of a folder (`Scans/Vol1.zip`)."""
    if _OF_EXTRAS.search(path.stem):
        return path.stem
    return next((folder for folder in path.folders if _OF_EXTRAS.fullmatch(folder)), None)


def _is_advert(stem: str) -> bool:
    return bool(_ADVERT.fullmatch(stem) or (_INVITATION.search(stem) and not NUMBERED.search(stem)))


def episodes_after_all(paths: Sequence[SplitPath], classes: Sequence[Classified]) -> list[Classified]:
    """`04 - Interview` between `03 - Rice` and `05 - Water`: the word is what an episode is called."""
    led: dict[tuple[str, ...], set[int]] = defaultdict(set)
    numbers = [_LED.match(path.stem) for path in paths]
    for path, one, number in zip(paths, classes, numbers, strict=True):
        if one.file_class is FileClass.VIDEO and number:
            led[path.folders].add(int(number[1]))
    return [
        Classified(FileClass.VIDEO)
        if one.file_class is FileClass.EXTRA
        and number
        and not _is_kept_apart(path)
        and len(led[path.folders] - {int(number[1])}) >= _ENOUGH
        and int(number[1]) not in led[path.folders]
        else one
        for path, one, number in zip(paths, classes, numbers, strict=True)
    ]


def makings_after_all(paths: Sequence[SplitPath], classes: Sequence[Classified]) -> list[Classified]:
    """`The Making of Koji` beside other videos tells of a work, and is none, whatever folder it lies in."""
    videos = [path for path, one in zip(paths, classes, strict=True) if one.file_class is FileClass.VIDEO]
    makings = {
        path.path: made for path in videos if (made := _MAKING.match(path.stem)) and not NUMBERED.search(path.stem)
    }
    works = {fold_title(parse_title(path.stem).title or "") for path in videos if makings and path.path not in makings}
    # Where there is nothing else, it is what was wanted.
    if not works:
        return list(classes)
    return [
        Classified(FileClass.EXTRA, made[1])
        if one.file_class is FileClass.VIDEO
        and (made := makings.get(path.path))
        and _is_of_other(path, made, works - {""})
        else one
        for path, one in zip(paths, classes, strict=True)
    ]


def _is_of_other(path: SplitPath, made: re.Match[str], works: set[str]) -> bool:
    """Whether it tells of a work that is here. One with a year or a folder of its own may be a film about another."""
    about = fold_title(path.stem[made.end() :])
    if any(about.startswith(work) for work in works):
        return True
    told = parse_title(path.stem)
    own = fold_title(told.title or "")
    return told.year is None and all(fold_title(read_folder(folder).title or "") != own for folder in path.folders)


def _is_kept_apart(path: SplitPath) -> bool:
    return any(folder_kind(folder) is FolderKind.EXTRAS for folder in path.folders)


def _own_word(path: SplitPath) -> str | None:
    """The word in its own name. A film that is called `Outtakes` lies in a folder that is called so too."""
    word = extra_word(path.stem)
    name = _COUNT_BEHIND.sub("", path.stem)
    is_name = (
        word is not None and word in (path.stem, name) and any(read_folder(one).title == name for one in path.folders)
    )
    return None if is_name else word


def _extras_folder(path: SplitPath, place: int) -> str | None:
    """The folder that makes a video an extra. One that is numbered is an episode where the folder may be its show."""
    folder = path.folders[place]
    if _KEPT_WITH_EXTRAS.fullmatch(folder) and _SPECIAL_OF_SHOW.search(path.stem):
        return None
    if not NUMBERED.search(path.stem):
        return folder
    is_show = place == 0 or fold_title(path.stem).startswith(fold_title(folder))
    return None if is_show or _SEASON_ZERO.search(path.stem) or _SORTED.fullmatch(folder) else folder


def _about_work(path: SplitPath) -> str | None:
    """`The Making of Koji`, `Interview with Naoki` in the folder of Koji."""
    if not tells_of(path.stem):
        return None
    above = [read_folder(folder) for folder in path.folders]
    titles = {fold_title(folder.title or "") for folder in above} - {""}
    made = _MAKING.match(path.stem)
    about = fold_title(path.stem[made.end() :]) if made else ""
    if made and any(about.startswith(title) or title.startswith(about) for title in titles):
        return made[1]
    # A folder with a year or a season is of one work, and this is another.
    is_of_one = any(folder.title and (folder.year or folder.season) for folder in above)
    own = fold_title(path.stem)
    is_other = titles and not any(own.startswith(title) or title.startswith(own) for title in titles)
    return path.stem if is_of_one and is_other else None


def _by_ending(path: SplitPath) -> FileClass:
    known = _ENDINGS.get(path.extension)
    if known is FileClass.EXECUTABLE and path.extension == "com" and _ADDRESS.search(path.stem):
        return FileClass.OTHER
    if known is None and _VOLUME.fullmatch(path.extension) and (path.extension[0] in "rz" or _SPLIT.search(path.stem)):
        return FileClass.ARCHIVE
    return known or FileClass.OTHER
