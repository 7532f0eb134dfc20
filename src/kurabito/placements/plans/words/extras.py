"""The words that make a video an extra: openings, trailers, menus, interviews, in the languages of those who release them."""

from __future__ import annotations

import re
from typing import Final

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
    r"|Talk(?: Show)?|Cast Talk|Image Video|Staff Credits?|Featurette|Bonus|Audio Guide|Web ?Radio|Live|Greeting|Bumper|Eyecatch(?:es)?|Warning"
    r"|Storyboard|(?:Art |Image )?Gallery|(?:Insert|Theme) Songs?|Photo|(?:CM|PV)(?: ?[&+] ?(?:CM|PV))? Collection|[^\s\[\]()【】]{2,24}[ _](?:PV|CM|Menu|Trailer|Preview)"
)
_COUNT: Final = r"(?:(?:[ _.#-]{0,2}(?:Vol\.?|EP?|No\.?|Type|Ver\.?)?|\s-\s(?:Vol|No|Type|Ver)\.?)[ _.]?(?:\d{1,3}|[A-D]|II?I?)(?:[ _.&+~-]{1,3}\d{1,3}|[a-f]|st|nd|rd|th)?)?(?:[ _.]?\d{2} ?s(?:ec)?)?(?:v\d)?"
_PLACED_EXTRA: Final = re.compile(
    rf"(?:[\[(【]\s?|\s-\s|_-_)({_STRONG}|{_WEAK}){_COUNT}(?=\s?(?:[\])】\[(【]|$)|_[\[(])"
    rf"|^(?:{_STRONG}|{_WEAK}){_COUNT}$"
    rf"|[ _.]({_STRONG}){_COUNT}(?=(?:[ _]-)?[ _]?(?:[\[(【](?!\d{{2,4}}(?:v\d)?[\])】])|$)|[ .](?:\d{{3,4}}p|4K|WEB|Blu-?Ray|HDTV)(?![a-z]))",
    re.I,
)
# `[SP04] Menu - Vol1`: the number counts all that comes beside the episodes, and the word says what it is.
_BEHIND_NUMBER: Final = re.compile(rf"[\[(]SP\d{{1,3}}[\])]\s?({_STRONG}|{_WEAK})(?![A-Za-z])", re.I)
# The first bracket is the group, which may be called `CMS`.
_LEADING_GROUP: Final = re.compile(r"\s*[\[【][^\]】]*[\]】](?=.*\w)")
# Groups are called so too, behind tags and in capitals.
_SUFFIX: Final = re.compile(
    r"-(trailer|featurette|behindthescenes|deleted(?:scene)?|interview)$"
    r"|(?<![xh]26[45])(?<!\d\dp)-(scene|short|clip|extra|other)$"
)
# `Koji.S01.Extras.Bloopers`: what a season brings along.
_OF_SEASON: Final = re.compile(r"S\d{1,2}[ ._-]+(Extras?|Bonus|Featurettes?|Special[ ._]Features?)(?![A-Za-z])", re.I)
# `蔵人 番宣CM`, `蔵人 PV第1弾`, `蔵人.幕后花絮02`: no blank stands between the words.
_CJK: Final = (
    r"(?:(?<![A-Za-z])(?:PV|CM|MV|PR)|予告|[预預]告|スポット|ダイジェスト|メイキング|ノンテロ|番宣|映像特典|特典(?:映像|ディスク)|座談会|対談|インタビュー|コメンタリー|トークショー"
    r"|舞台挨拶|イベント|上映会|花絮|片花|幕[后後](?=$|[^\w]|[花制製特纪紀揭])|[访訪][谈談]|[专專][访訪]|[采採][访訪]|(?:制作|製作|角色|人物)特[辑輯]|彩蛋|菜[单單]"
    r"|主[题題]曲|片[头頭]曲?|片尾曲?|宣[传傳]片|[发發]布会|發布會|制作発表|製作発表|クランクアップ|未公開(?:シーン|カット)?|(?<![A-Za-z])NG(?=[集シ镜鏡花컷장])(?:シーン|[镜鏡][头頭]|컷|장면)?"
    r"|예고|티저|메이킹|인터뷰|비하인드|코멘터리|제작발표회|하이라이트|뮤직비디오)"
    r"(?:第[\d一二三四五六七八九十]{1,2}弾|[集編编片篇편]|映像|動画|画面|スポット|会見|花絮|[纪紀][录錄]片|特[辑輯]|制作|製作|揭秘|영상|필름|[\u2460-\u2473]|[ _]?\d{1,2}(?!\d)){0,3}"
)
_CJK_END: Final = r"(?=\s*(?:[\[\](\uff08)\uff09【】]|$)|[ ._](?:\d{3,4}[Pp]|4K|WEB|BD|HDTV)(?![a-z]))"
_CJK_EXTRA: Final = re.compile(
    rf"(?<=[ \u3000_\[\]【】(\uff08.-])[^\s\[\]【】._+]{{0,12}}?{_CJK}{_CJK_END}"
    rf"|^[^\s\[\]【】._\d]{{0,6}}?{_CJK}$|(?:(?<=[ \u3000_\]】.-])|^)(?:映像特典|特典映像)(?=[ \u3000_\d\u2460-\u2473])",
    re.I,
)
# The preview of an episode: behind a blank, the word would be what the episode is called.
_PREVIEW: Final = re.compile(
    r"第\d{1,3}[話话集回][预予預]告(?:[編片]|映像)?$|(?<=[ \u3000])(?:WEB|次回)予告\s?(?:第\d{1,3}[話话集回]|#\d{1,3})$",
    re.I,
)
# `Koji - Character PV - Naoki`
_NAMED_EXTRA: Final = re.compile(r"\s-\s((?:[A-Za-z]+ )?(?:PV|CM|Trailer|Teaser|Promo)s?(?: ?\d{1,2})?)(?=\s-\s)", re.I)
_PLACED: Final = (_PLACED_EXTRA, _NAMED_EXTRA, _BEHIND_NUMBER)
# What films and seasons of television bring along, as people call it in their languages. A blank may be a dot or a hyphen.
_MATERIAL: Final = "|".join(
    phrase.replace(" ", "[ ._-]")
    for phrase in (
        "(?:Deleted|Extended|Additional|Cut|Missing)(?: (?:and|&) (?:Deleted|Extended|Alternate))? Scenes?",
        "(?:Gag|Blooper|Promo|Sizzle|Show) Reels?|Bloopers?|Outtakes?|Behind the Scenes|Screen Tests?|Making Ofs?|Music Videos?",
        "(?:Photo|Stills?|Image|Art|Poster) Gallery|Storyboards?|(?:Alternate|Alternative) (?:Ending|Opening)s?|Q ?& ?A|Featurettes?",
        "Promotion(?:al)? (?:Video|Movie|Clip|Film)s?|(?:Music|Image|Video|Making) Clips?|Event Digest|Stage (?:Greeting|Talk|Event)s?",
        "(?:Cast|Staff|Director|Creator|Voice Actor|Seiyuu)s? (?:Interview|Talk|Message|Comment)s?|Bonus (?:Video|Footage|Clip|Dis[ck])s?",
        "(?:Special|TV|Original) (?:OP|ED|Opening|Ending)s?|(?:Opening|Ending) (?:Movie|Video|Animation|Theme|Song|Credit)s?",
        "(?:Opening|Ending|G[ée]n[ée]rique(?: de (?:d[ée]but|fin))?|Abertura|Encerramento|Sigla|OP|ED)s? (?:sans cr[ée]dits?|sin cr[ée]ditos|sem cr[ée]ditos|senza crediti|ohne Credits)",
        "(?:Audio )?Commentar(?:y|ies)|Sneak Peeks?|First Look|Bonus (?:Content|Material)s?",
        "Inside the Episodes?|Special Features?|Bonus Features?|Cast (?:and|&) Crew(?: Interviews?)?",
        "Bande annonce|B[êe]tisier|Sc[èe]nes coup[ée]es|Les coulisses|Coulisses(?: du tournage)?|Entretiens?",
        "(?:Entfernte|Geschnittene|Gel[öo]schte|Entfallene) Szenen|Hinter den Kulissen|Originaltrailer|Pannen",
        "Tr[áa]iler|C[óo]mo se hizo|As[íi] se hizo|Tomas falsas|Escenas (?:eliminadas|borradas)|Detr[áa]s de (?:las )?c[áa]maras?|Entrevistas?",
        "Dietro le quinte|Scene (?:tagliate|eliminate)|Errori sul set|Papere|Interviste",
        "Erros de grava[çc][ãa]o|Cenas (?:exclu[íi]das|deletadas|eliminadas|cortadas)|Bastidores",
        r"Трейлеры?|Тизеры?|Фильм \u043e фильме|(?:Вырезанные|Удал[её]нные) сцены|Неудачные дубли|\u0417\u0430 кадром|\u041e съ[её]мках|Интервью|Как снимали",
        "Vorspann|Abspann|G[ée]n[ée]rique(?: de (?:d[ée]but|fin))?|Sigla(?: (?:iniziale|finale))?|Abertura|Encerramento|Film o filme",
        "Kamera Arkas[\u0131i]",
        "Zwiastun|Usuni[ęe]te sceny",
    )
)
_TAGS_BEHIND: Final = r"[ ._](?:\d{3,4}p|4K|WEB|Blu-?Ray|BD|DVD|[HP]DTV|[xh]\.?26[45]|FRENCH|GERMAN|ITALIAN|SPANISH|VOSTFR|MULTI|NORDIC)(?![a-z])"
_NAMED_MATERIAL: Final = re.compile(
    r"^Extras?[ ._-]?\d{0,2}$|"
    # Alone, or with what it shows behind a dash; so may words that titles have too.
    rf"^(?:The )?(?:{_MATERIAL})(?:[ ._-]{{1,3}}#?\d{{1,2}})?(?:\s-\s(?!\d).+|\s?[\[(].*)?$|^(?:Interviews?|Trailers?|Teasers?|Commentary)\s-\s(?!\d).+"
    rf"|(?<=[\w!?)\]])(?:\s-\s|[ ._])(?:The )?(?:{_MATERIAL})(?:[ ._-]{{1,3}}#?\d{{1,2}})?(?=\s?(?:[\[(]|$)|{_TAGS_BEHIND})"
    r"|(?<=[\w!?)\]])\s-\s(?:(?:Live|Talk|Special) )?(?:Concert|Event|Live)(?: (?:19|20)\d\d)?(?=\s?(?:[\[(]|$))"
    r"|(?<=[\w!?)\]])(?:\s-\s|\.)Extras$|(?<=[\w!?)\]])\s-\s(?:(?:The )?Making of .+|(?:[A-Za-z]+ ){1,4}Making(?=\s?(?:[\[(]|$)))",
    re.I,
)
# `Koji ED2b [DVD]`: in small letters it may be a word.
_SONG: Final = re.compile(r"(?<=[A-Za-z!?][ .])(?:OP|ED)[ .-]?\d{1,2}[a-z]?(?=\s?(?:[\[(]|$))")
# What tells of someone or something. Films are called so too: what lies around it has to say that it is none.
_TELLS_OF: Final = re.compile(
    r"(?:An )?(?:Interviews?|Conversations?|Q ?& ?A) with .+|(?:The )?Making of .+|.+ Interviews?|Entretien avec .+|Interview mit .+|Inter[vw][ji][ue]w? med .+|Haastattelu.*|Wywiad z .+|Rozhovor s .+|Entrevista (?:con|com|a) .+"
    r"|Intervista (?:a|con) .+|Интервью \u0441 .+",
    re.I,
)
# What follows a number like this is the episode's own title.
_LETTER: Final = re.compile(r"[^\W_]")
NUMBERED: Final = re.compile(
    r"S\d{1,2}[ ._]?E\d|(?<!\d)\d{1,2}x\d\d|\s-\s\d{2,4}(?:v\d)?\s-\s|第\d+[话話集回]|第\d{2,}期", re.I
)
# `Koji.E05.Trailer`, `蔵人 #05 予告`, `05 - Behind the Scenes`: nothing of the extra itself is counted so.
_COUNTED_BEFORE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:EP?[ .]?\d{2,4}|#\d{2,3}|-\s\d{2,4}(?:v\d)?(?=\s))(?![A-Za-z0-9])|^(?:\[[^\]]*\]\s?)?\d{2,3}(?:\s-\s|\.\s|\s)",
    re.I,
)


def extra_word(stem: str) -> str | None:
    """The word that makes a video an extra: `NCOP1`, `[Menu01]`, ` - PV 2`, `Deleted Scenes`."""
    if " " not in stem:
        stem = stem.replace("_", " ")
    if found := _SURE_EXTRA.search(stem) or _SUFFIX.search(stem):
        return found[0].strip("-")
    if found := _OF_SEASON.search(stem):
        return found[1]
    if found := _PREVIEW.search(stem):
        return found[0]
    group = _LEADING_GROUP.match(stem)
    start = group.end() if group else 0
    placed = next(filter(None, (pattern.search(stem, start) for pattern in _PLACED)), None)
    written = (_NAMED_MATERIAL, _SONG) if stem.isascii() else (_CJK_EXTRA, _NAMED_MATERIAL, _SONG)
    found = placed or next(filter(None, (pattern.search(stem, start) for pattern in written)), None)
    if found is None or NUMBERED.search(stem, 0, found.end()):
        return None
    if not placed and (_COUNTED_BEFORE.search(stem, 0, found.start() + 1) or _is_name(stem, start, found)):
        return None
    return found[0].strip(" -_.[(【")


def _is_name(stem: str, start: int, found: re.Match[str]) -> bool:
    """Whether nothing stands between the group and the word: it is what the show is called."""
    return found.start() > 0 and not _LETTER.search(stem, start, found.start())


def tells_of(stem: str) -> bool:
    """Whether a video tells of someone or something, if it is no work of its own: `Interview with Naoki`.

    >>> tells_of("Interview with Naoki"), tells_of("The Interview"), tells_of("The Making of Koji")
    (True, False, True)
    """
    written = " ".join(re.split(r"[ ._]+", stem))
    is_title = written.lower().startswith(("the interview", "interview with the "))
    return not is_title and _TELLS_OF.fullmatch(written) is not None
