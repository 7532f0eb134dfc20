"""A library of existing shows in the styles that people and programs name files in, with what each file is.

The facts (titles, years, ids) are those of public lists; how many episodes a show has is about right. Which style a show is kept
in follows from its place in the list. `Kept.truth` is what the file is: entry (id of bgm.tv), kinds that are right, number; empty
for what is no episode. It is written down here, and not read from any name.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from pathlib import Path

OTHERS = 10_000_000
"""Ids of the shows of the other list begin here."""
GROUPS = ("SubsPlease", "Erai-raws", "HorribleSubs", "Judas", "ASW", "Commie", "GJM", "Coalgirls")
SCENE = ("FLUX", "iAHD", "Kametsu", "SCY", "LYS1TH3A")
TEAMS = ("桜都字幕组", "喵萌奶茶&LoliHouse", "动漫国字幕组", "极影字幕社", "DMG", "KTXP")
_LISTS = Path(__file__).parents[1] / "integration"
_BAD = re.compile(r'[<>"/\\|?*]')

Truth = tuple[tuple[int, float], ...]
"""The entries and numbers that a file has."""


@dataclass(frozen=True)
class Entry:
    """One season, cour, OVA or film."""

    bgm: int
    kind: str
    began: date
    japanese: str
    english: str
    hans: str
    tmdb: str
    episodes: int
    romaji: str = ""
    hant: str = ""
    synonym: str = ""

    @property
    def name(self) -> str:
        """In Latin letters, as western collections have it."""
        return safe(self.romaji or self.english or self.japanese)

    @property
    def latin(self) -> str:
        return safe(self.english or self.romaji or self.japanese)

    @property
    def season(self) -> int:
        return int(self.tmdb.split("/")[3]) if self.tmdb.count("/") == 3 else 1

    @property
    def show(self) -> str:
        return "/".join(self.tmdb.split("/")[:2]) or f"none/{self.bgm}"


@dataclass(frozen=True)
class Kept:
    """A file of the collection."""

    path: str
    truth: Truth = ()


@dataclass(frozen=True)
class Show:
    """The entries of one show that are kept together."""

    entries: tuple[Entry, ...]
    number: int
    years: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def titled(self) -> str:
        return f"{self.first.latin} ({self.first.began.year})"

    @property
    def tmdb(self) -> str:
        return self.first.tmdb.split("/")[1] if self.first.tmdb else "1"

    def counted(self) -> Iterator[tuple[Entry, int, int, int]]:
        """Each episode with its season, its number in it as TMDB counts, and its own number."""
        before: dict[int, int] = {}
        for entry in self.entries:
            for own in range(1, entry.episodes + 1):
                yield entry, entry.season, before.get(entry.season, 0) + own, own
            before[entry.season] = before.get(entry.season, 0) + entry.episodes


Style = Callable[[Show], Iterator[Kept]]


def safe(name: str) -> str:
    return _BAD.sub("", name.replace(": ", " - ").replace(":", " ")).strip(" .")


def dotted(name: str) -> str:
    return re.sub(r"[^\w]+", ".", name.replace("'", "")).strip(".")


def read_entries() -> list[Entry]:
    """The shows of both lists."""
    found: list[Entry] = []
    for row in _rows(_LISTS / "adoption" / "shows.tsv"):
        facts = {name: row[name] for name in ("kind", "japanese", "english", "hans", "tmdb", "hant")}
        found.append(
            Entry(bgm=int(row["bgm"]), began=date.fromisoformat(row["began"]), episodes=int(row["episodes"]), **facts)
        )
    for row in _rows(_LISTS / "matching" / "shows.tsv"):
        facts = {
            name: row[name] for name in ("kind", "japanese", "english", "hans", "tmdb", "hant", "romaji", "synonym")
        }
        episodes = {"movie": 1, "ova": 2}.get(row["kind"], 12)
        began = date.fromisoformat(row["began"])
        if (row["romaji"].endswith(")") and "Part 2" in row["english"]) or "Season 2" in row["english"]:
            # AniDB tells cours apart by the year, and people by what they are called.
            facts["romaji"] = ""
        found.append(Entry(bgm=OTHERS + int(row["number"]), began=began, episodes=episodes, **facts))
    return found


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def shows_of(entries: Sequence[Entry]) -> list[Show]:
    """The entries by show; films, and what has a name in romaji of its own, each for itself."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        alone = entry.kind in ("movie", "ova") or entry.bgm >= OTHERS
        groups.setdefault(f"{entry.bgm}" if alone else entry.show, []).append(entry)
    return [Show(tuple(some), number) for number, some in enumerate(groups.values())]


def one(entry: Entry, number: float) -> Truth:
    return ((entry.bgm, number),)


# What Sonarr, Plex, Jellyfin and Kodi make.


def sonarr(show: Show) -> Iterator[Kept]:
    absolute = count(1)
    for entry, season, number, own in show.counted():
        name = f"{show.titled} - S{season:02}E{number:02} - {next(absolute):03} - Episode {number} [WEBDL-1080p][AAC 2.0][x264]-{GROUPS[season]}.mkv"
        yield Kept(f"{show.titled}/Season {season:02}/{name}", one(entry, own))
    yield Kept(f"{show.titled}/Specials/{show.titled} - S00E01 - Special [WEBDL-1080p].mkv", one(show.first, 1))


def plex(show: Show) -> Iterator[Kept]:
    folder = f"{show.titled} {{tmdb-{show.tmdb}}}"
    for entry, season, number, own in show.counted():
        yield Kept(
            f"{folder}/Season {season:02}/{show.titled} - s{season:02}e{number:02} - The Title.mkv", one(entry, own)
        )
    yield Kept(f"{folder}/Season 00/{show.titled} - s00e02 - Recap.mkv", one(show.first, 2))
    yield Kept(f"{folder}/Trailers/Trailer 1-trailer.mkv")


def jellyfin(show: Show) -> Iterator[Kept]:
    folder = f"{show.titled} [tmdbid-{show.tmdb}]"
    pending: list[tuple[Entry, int, int, int]] = []
    for episode in show.counted():
        pending.append(episode)
        entry, season, number, own = episode
        if own == entry.episodes and entry.episodes > 2:
            (last, *_), before = (entry,), pending[-2]
            yield Kept(
                f"{folder}/Season {season:02}/{show.first.latin} S{season:02}E{before[2]:02}-E{number:02}.mkv",
                ((last.bgm, before[3]), (last.bgm, own)),
            )
        elif own != entry.episodes - 1 or entry.episodes <= 2:
            yield Kept(f"{folder}/Season {season:02}/{show.first.latin} S{season:02}E{number:02}.mkv", one(entry, own))
    yield Kept(f"{folder}/extras/NCOP.mkv")


def kodi(show: Show) -> Iterator[Kept]:
    name = show.first.latin
    yield Kept(f"{name}/tvshow.nfo")
    for entry, season, number, own in show.counted():
        stem = f"{name}/Season {season}/{name}.S{season:02}E{number:02}"
        yield Kept(f"{stem}.mkv", one(entry, own))
        yield Kept(f"{stem}.nfo")
        yield Kept(f"{stem}-thumb.jpg")


def cross(show: Show) -> Iterator[Kept]:
    for entry, season, number, own in show.counted():
        yield Kept(f"TV/{show.first.latin}/{show.first.latin} {season}x{number:02}.avi", one(entry, own))


# What fansub groups make, in folders and flat.


def fansub(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        group = GROUPS[show.number % len(GROUPS)]
        folder = f"[{group}] {entry.name} (1080p) [Batch]"
        for own in range(1, entry.episodes + 1):
            version = "v2" if own == 3 else ""
            yield Kept(f"{folder}/[{group}] {entry.name} - {own:02}{version} (1080p) [{own:08X}].mkv", one(entry, own))
        if entry.episodes > 5:
            yield Kept(f"{folder}/[{group}] {entry.name} - 05.5 (1080p) [0000AAAA].mkv", one(entry, 5.5))


def flat(show: Show) -> Iterator[Kept]:
    group = GROUPS[(show.number + 3) % len(GROUPS)]
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"[{group}] {entry.name} - {own:02} [720p].mkv", one(entry, own))


def shelf(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"Anime/{entry.name} - {own:02}.mp4", one(entry, own))


def romaji_folder(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"Anime/{entry.name}/{own:02}.mkv", one(entry, own))
        yield Kept(f"Anime/{entry.name}/NCED.mkv")


def numbered_titles(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"{entry.name}/{own:02} - A Title of Its Own.mkv", one(entry, own))


def words(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"{entry.name} ({entry.began.year})/{entry.name} Episode {own}.mkv", one(entry, own))


# Scene, and discs.


def scene(show: Show) -> Iterator[Kept]:
    group = SCENE[show.number % len(SCENE)]
    name = dotted(show.first.latin)
    for entry, season, number, own in show.counted():
        folder = f"{name}.S{season:02}.1080p.BluRay.x264-{group}"
        yield Kept(f"{folder}/{name}.S{season:02}E{number:02}.1080p.BluRay.x264-{group}.mkv", one(entry, own))


def single_folders(show: Show) -> Iterator[Kept]:
    group = SCENE[show.number % len(SCENE)]
    name = dotted(show.first.latin)
    for entry, season, number, own in show.counted():
        release = f"{name}.S{season:02}E{number:02}.1080p.WEB.H264-{group}"
        yield Kept(f"{release}/{release}.mkv", one(entry, own))
        yield Kept(f"{release}/Sample/sample-{release}.mkv")


def discs(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        folder = f"[VCB-Studio] {entry.name} [Ma10p_1080p]"
        tail = "[Ma10p_1080p][x265_flac]"
        for own in range(1, entry.episodes + 1):
            yield Kept(f"{folder}/[VCB-Studio] {entry.name} [{own:02}]{tail}.mkv", one(entry, own))
            yield Kept(f"{folder}/[VCB-Studio] {entry.name} [{own:02}]{tail}.sc.ass")
        yield Kept(f"{folder}/SPs/[VCB-Studio] {entry.name} [SP01]{tail}.mkv", one(entry, 1))
        for word in ("NCOP", "NCED", "Menu01", "PV01", "CM01"):
            yield Kept(f"{folder}/SPs/[VCB-Studio] {entry.name} [{word}]{tail}.mkv")
        yield Kept(f"{folder}/CDs/Original Soundtrack/01 Opening.flac")
        yield Kept(f"{folder}/Scans/Vol.1/01.webp")


def box(show: Show) -> Iterator[Kept]:
    """All seasons below the show, with an OVA and two groups for one episode."""
    name = show.first.name
    for entry, season, number, own in show.counted():
        folder = f"{name}/{name} S{season}"
        yield Kept(
            f"{folder}/[Beatrice-Raws] {name} S{season} - {number:02} [BDRip 1920x1080 HEVC FLAC].mkv", one(entry, own)
        )
    season = show.first.season
    yield Kept(f"{name}/{name} S{season}/[Other] {name} S{season} - 01 [720p].mkv", one(show.first, 1))
    yield Kept(f"{name}/OVA/[Beatrice-Raws] {name} OVA 1 [BDRip 1920x1080].mkv", one(show.first, 1))


# Chinese and Japanese names.


def chinese(show: Show) -> Iterator[Kept]:
    team = TEAMS[show.number % len(TEAMS)]
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            name = f"[{team}][{safe(entry.hans)}][{own:02}][1080P][简体].mp4"
            yield Kept(f"{safe(entry.hans)}/{name}", one(entry, own))


def chinese_numbers(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"动画/{safe(entry.hans)} ({entry.began.year})/第{own:02}话.mkv", one(entry, own))


def chinese_seasons(show: Show) -> Iterator[Kept]:
    """As AutoBangumi names them."""
    name = safe(show.first.hans)
    for entry, season, number, own in show.counted():
        yield Kept(
            f"{name} ({show.first.began.year})/Season {season}/{name} S{season:02}E{number:02}.mp4", one(entry, own)
        )


def chinese_flat(show: Show) -> Iterator[Kept]:
    team = TEAMS[show.number % len(TEAMS)]
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"【{team}】★{safe(entry.hans)}【{own:02}】GB 1080P MP4.mp4", one(entry, own))


def japanese(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"アニメ/{safe(entry.japanese)}/{safe(entry.japanese)} 第{own}話.mp4", one(entry, own))


def recorded(show: Show) -> Iterator[Kept]:
    for entry in show.entries:
        for own in range(1, entry.episodes + 1):
            yield Kept(f"{safe(entry.japanese)}/{safe(entry.japanese)} #{own:02}「題名」 (BS11).ts", one(entry, own))


# Several seasons in one folder, and numbers that count through all of them.


def together(show: Show) -> Iterator[Kept]:
    for entry, season, number, own in show.counted():
        yield Kept(f"{show.titled}/{show.first.latin} S{season:02}E{number:02}.mkv", one(entry, own))


def absolute(show: Show) -> Iterator[Kept]:
    for number, (entry, _, _, own) in zip(count(1), show.counted(), strict=False):
        yield Kept(f"{show.first.name}/{show.first.name} - {number:03} [1080p].mkv", one(entry, own))


def going_on(show: Show) -> Iterator[Kept]:
    """Each cour in a folder of its own, and the numbers go on."""
    seasons: dict[int, int] = {}
    for entry in show.entries:
        before = seasons.get(entry.season, 0)
        for own in range(1, entry.episodes + 1):
            yield Kept(f"[ASW] {entry.name}/[ASW] {entry.name} - {before + own:02} [1080p HEVC].mkv", one(entry, own))
        seasons[entry.season] = before + entry.episodes


# Films.


def film(show: Show) -> Iterator[Kept]:
    entry = show.first
    yield Kept(f"Movies/{entry.latin} ({entry.began.year})/{entry.latin} ({entry.began.year}).mkv", one(entry, 1))
    yield Kept(f"Movies/{entry.latin} ({entry.began.year})/poster.jpg")


def flat_film(show: Show) -> Iterator[Kept]:
    entry = show.first
    yield Kept(f"Movies/{entry.latin} ({entry.began.year}) [1080p].mkv", one(entry, 1))


def chinese_film(show: Show) -> Iterator[Kept]:
    entry = show.first
    yield Kept(f"电影/{safe(entry.hans)} ({entry.began.year})/{safe(entry.hans)}.mkv", one(entry, 1))


def scene_film(show: Show) -> Iterator[Kept]:
    entry = show.first
    name = f"{dotted(entry.latin)}.{entry.began.year}.1080p.BluRay.x264-{SCENE[show.number % len(SCENE)]}"
    yield Kept(f"{name}/{name}.mkv", one(entry, 1))


FILMS: tuple[Style, ...] = (film, flat_film, chinese_film, scene_film)
SEVERAL: tuple[Style, ...] = (sonarr, plex, jellyfin, kodi, chinese_seasons, together, absolute, scene, cross, box)
COURS: tuple[Style, ...] = (sonarr, going_on, plex, absolute, jellyfin, chinese_seasons)
SINGLE: tuple[Style, ...] = (
    sonarr, plex, jellyfin, kodi, fansub, flat, scene, discs, chinese, chinese_numbers, chinese_seasons, chinese_flat, japanese,
    romaji_folder, numbered_titles, words, shelf, recorded, single_folders, cross,
)  # fmt: skip
ROMAJI: tuple[Style, ...] = (fansub, romaji_folder, discs, flat, numbered_titles, words, chinese, shelf, japanese)


def style_of(show: Show, turn: int = 0) -> Style:
    """In which style a show is kept; another one with every turn."""
    entry = show.first
    if entry.kind == "movie":
        styles = FILMS
    elif entry.bgm >= OTHERS:
        styles = tuple(style for style in ROMAJI if entry.hans or style is not chinese)
    elif len(show.entries) == 1:
        styles = SINGLE
    else:
        styles = COURS if len({one.season for one in show.entries}) < len(show.entries) else SEVERAL
    return styles[(show.number + turn) % len(styles)]


def keep(shows: Sequence[Show], turn: int = 0) -> Iterator[tuple[str, Kept]]:
    """Every file of the collection, with the name of the style that it is kept in."""
    for show in shows:
        style = style_of(show, turn)
        for kept in style(show):
            yield style.__name__, kept
