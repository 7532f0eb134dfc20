"""What a file is, by its name and the folders above it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kurabito.placements.plans.folders import FolderKind, folder_kind, read_folder
from kurabito.placements.plans.model import FileClass
from kurabito.placements.plans.paths import SplitPath
from kurabito.titles import fold_title

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

# What no episode is called.
_SURE_EXTRA: Final = re.compile(
    r"(?<![A-Za-z])(?:NC[ _.-]?(?:OP|ED|IN)(?![a-z]{2})|Creditless|Textless|Non[ _-]?Credit|Clean[ _.-](?:OP|ED)(?![a-z]{3}))"
    r"|(?<![A-Za-z])Clean[ _.-](?:Opening|Ending)|(?<![A-Za-z])(?:Opening|Ending|OP|ED)[ _.-]?\d{0,2}[ _.-]{0,3}\(Clean\)|ノンクレジット|ノンテロップ|无字幕(?:OP|ED)|無字幕(?:OP|ED)",
    re.I,
)
_STRONG: Final = (
    r"(?:(?:PV|CM|Menu|Trailer|Preview)s?(?: ?[&+/] ?)?)+[ _.]Collection|Making[ _.]Of|(?:PV|CM)s? ?[&+] ?(?:PV|CM)s?|PVs?|CMs?|(?:BD |DVD |Disc )?Menus?|Trailers?|Teasers?|(?:Web ?|Next |Episode )?Previews?|Promos?|TV ?Spots?"
    r"|(?:Cast|Staff|Director|Creator|Voice Actor|Seiyuu)s? (?:Interview|Talk|Message|Comment)s?"
    r"|(?:(?:Japanese|US|UK|English|Official|Character|Theatrical|Special|Key|Promo|TV) )?(?:PV|CM|Promo|Trailer|Teaser|Commercial|TV ?Spot)s?(?: (?:\d{2} ?s(?:ec)?|Collection|Compilation))?"
    r"|Music Video|予告[集編]?|预告[集片]?|預告[集片]?|メニュー(?:画面)?集?|映像特典|特典映像|宣番"
)
# Words that titles have too, and numbers of seasons: `Overlord IV`, `Love Live`.
_WEAK: Final = (
    r"OP|ED|Openings?|Endings?|IV|MV|Interviews?|Making(?: of)?|Promotion(?:al)?(?: Video)?|SPOT|Logo|Event|Digest|Commentary"
    r"|Talk(?: Show)?|Cast Talk|Image Video|Staff Credits?|Featurette|Bonus|Audio Guide|Live|Greeting|Bumper|Eyecatch|Warning"
    r"|Storyboard|(?:Art |Image )?Gallery|(?:Insert|Theme) Songs?|Photo|(?:CM|PV)(?: ?[&+] ?(?:CM|PV))? Collection|[^\s\[\]()【】]{2,24}[ _](?:PV|CM|Menu|Trailer|Preview)"
)
_COUNT: Final = r"(?:[ _.#-]{0,2}(?:Vol\.?|EP?|No\.?|Type|Ver\.?)?[ _.]?(?:\d{1,3}|[A-D]|II?I?)(?:[ _.&+~-]{1,3}\d{1,3}|[a-f])?)?(?:v\d)?"
_PLACED_EXTRA: Final = re.compile(
    rf"(?:[\[(【]\s?|\s-\s|_-_)({_STRONG}|{_WEAK}){_COUNT}(?=\s?(?:[\])】\[(【]|$)|_[\[(])"
    rf"|^(?:{_STRONG}|{_WEAK}){_COUNT}$"
    rf"|[ _.]({_STRONG}){_COUNT}(?=(?:[ _]-)?[ _]?(?:[\[(【](?!\d{{2,4}}(?:v\d)?[\])】])|$)|[ .](?:\d{{3,4}}p|4K|WEB|Blu-?Ray|HDTV)(?![a-z]))",
    re.I,
)
# The first bracket is the group, which may be called `CMS`.
_LEADING_GROUP: Final = re.compile(r"\s*[\[【][^\]】]*[\]】](?=.*\w)")
# Groups are called so too, behind tags and in capitals.
_SUFFIX: Final = re.compile(
    r"-(trailer|featurette|behindthescenes|deleted(?:scene)?|interview)$"
    r"|(?<![xh]26[45])(?<!\d\dp)-(scene|short|clip|extra|other)$"
)
# `Koji.S01.Extras.Bloopers`: what a season brings along.
_OF_SEASON: Final = re.compile(r"S\d{1,2}[ ._-]+(Extras?|Bonus|Featurettes?|Special[ ._]Features?)(?![A-Za-z])", re.I)
# `蔵人 番宣CM`, `蔵人 PV第1弾`: no blank stands between the words.
_JAPANESE_EXTRA: Final = re.compile(
    r"(?<=[ \u3000_\]】])[^\s\[\]【】]{0,12}?(?:(?<![A-Za-z])(?:PV|CM|MV)|予告|メイキング|ノンテロ|番宣)(?:第[\d一二三四五六七八九十]{1,2}弾|[集編]|映像|動画|\d{1,2}){0,2}(?=\s*(?:[\[(\uff08【]|$))",
    re.I,
)
# `Koji - Character PV - Naoki`
_NAMED_EXTRA: Final = re.compile(r"\s-\s((?:[A-Za-z]+ )?(?:PV|CM|Trailer|Teaser|Promo)s?(?: ?\d{1,2})?)(?=\s-\s)", re.I)
_MAKING: Final = re.compile(r"(?:The[ ._])?Making[ ._]of[ ._]", re.I)
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
# What follows a number like this is the episode's own title.
_NUMBERED: Final = re.compile(r"S\d{1,2}[ ._]?E\d|(?<!\d)\d{1,2}x\d\d|\s-\s\d{2,4}(?:v\d)?\s-\s|第\d+[话話集]", re.I)


_SEASON_ZERO: Final = re.compile(r"S00[ ._]?E\d|(?<!\d)0x\d\d", re.I)
# Such a folder sorts, and may have episodes in it.
_SORTED: Final = re.compile(r"others?|misc|shorts|events?", re.I)


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
    word = extra_word(path.stem) or _making_of(path)
    if word is None and FolderKind.EXTRAS in kinds:
        word = _extras_folder(path, kinds.index(FolderKind.EXTRAS))
    if word is not None and by_ending is FileClass.VIDEO:
        return Classified(FileClass.EXTRA, word)
    return Classified(by_ending, word)


def _named_for_extras(path: SplitPath) -> str | None:
    """The name that says that an archive has no videos: its own, or that of a folder (`Scans/Vol1.zip`)."""
    if _OF_EXTRAS.search(path.stem):
        return path.stem
    return next((folder for folder in path.folders if _OF_EXTRAS.fullmatch(folder)), None)


def _is_advert(stem: str) -> bool:
    return bool(_ADVERT.fullmatch(stem) or (_INVITATION.search(stem) and not _NUMBERED.search(stem)))


def extra_word(stem: str) -> str | None:
    """The word that makes a video an extra: `NCOP1`, `[Menu01]`, ` - PV 2`."""
    if found := _SURE_EXTRA.search(stem) or _SUFFIX.search(stem):
        return found[0].strip("-")
    if found := _OF_SEASON.search(stem):
        return found[1]
    group = _LEADING_GROUP.match(stem)
    start = group.end() if group else 0
    japanese = None if stem.isascii() else _JAPANESE_EXTRA.search(stem, start)
    found = _PLACED_EXTRA.search(stem, start) or _NAMED_EXTRA.search(stem, start) or japanese
    if found and not _NUMBERED.search(stem, 0, found.end()):
        return found[0].strip(" -_.[(【")
    return None


def _extras_folder(path: SplitPath, place: int) -> str | None:
    """The folder that makes a video an extra. One that is numbered is an episode where the folder may be its show."""
    folder = path.folders[place]
    if not _NUMBERED.search(path.stem):
        return folder
    is_show = place == 0 or fold_title(path.stem).startswith(fold_title(folder))
    return None if is_show or _SEASON_ZERO.search(path.stem) or _SORTED.fullmatch(folder) else folder


def _making_of(path: SplitPath) -> str | None:
    """`The Making of Koji` in the folder of Koji."""
    found = _MAKING.match(path.stem)
    titles = {fold_title(read_folder(folder).title or "") for folder in path.folders} - {""}
    about = fold_title(path.stem[found.end() :]) if found else ""
    return (
        found[0].strip()
        if found and any(about.startswith(title) or title.startswith(about) for title in titles)
        else None
    )


def _by_ending(path: SplitPath) -> FileClass:
    known = _ENDINGS.get(path.extension)
    if known is FileClass.EXECUTABLE and path.extension == "com" and _ADDRESS.search(path.stem):
        return FileClass.OTHER
    if known is None and _VOLUME.fullmatch(path.extension) and (path.extension[0] in "rz" or _SPLIT.search(path.stem)):
        return FileClass.ARCHIVE
    return known or FileClass.OTHER
