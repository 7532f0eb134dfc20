"""Which episode, special or film a video is: what its own name says, and what the folders above it add."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from kurabito.placements.plans.folders import FolderFacts, FolderKind, read_folder, show_title
from kurabito.placements.plans.model import NO_RELEASE, ReleaseFacts, WorkKind
from kurabito.placements.plans.own_names import end_of_time, read_own_name, with_year_in_name, year_above
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.words.specials import SPECIAL_WORD, special_label, special_title
from kurabito.titles import Episode, ReleaseKind, ReleaseTitle, TitleDoubt

# Everything before the number is missing, so that the name behind it is the episode's.
_NUMBER_FIRST: Final = re.compile(
    r"\s*(?:\[[^\]]*\]\s*)?(?:S\d{1,2}[ ._-]*|\d{1,2}x(?=\d\d))?(?:E|EP|Ep\.?|Episode|Folge|第|#)?[ ._-]*(\d{1,4})(?:\.\d)?(?:v\d)?(?![A-Za-z\d])",
    re.I,
)
_ONLY_NUMBER: Final = re.compile(r"(?:[\[(#]?)(\d{1,4}(?:\.\d)?)(?:v(\d))?(?:[\])])?")
_PAIR: Final = re.compile(r"(?<![A-Za-z0-9])S\d{1,3}[ ._-]{0,3}E(?:P)?\d|(?<![\d.])\d{1,2}x\d{2,3}(?!\d)", re.I)
# `[11.5(OVA)]`: where it stands among the episodes says more than the word.
_BETWEEN: Final = re.compile(r"[\[ ](\d{1,3}\.5)\s?[(\uff08]?(?:OVA|OAD|SP)", re.I)
_FILM_HALF: Final = re.compile(r"[上中下前后後][篇編编巻卷]")
# `Koji - Special - New Year`, `Koji - Picture Drama 1`: no number is needed behind such a word.
_TITLED_SPECIAL: Final = re.compile(
    r"\s-\s(?:Special|OVA|OAD|Omake|Picture Drama|Recap|Extra(?=\s\d))(?=\s-\s|\s*[\[(]|\s\d{1,2}(?!\d)|$)|\s(?:総集編|总集篇|總集篇|特[別别][篇編编]|スペシャル)$"
    r"|[ _]Picture[ _]Drama(?=[ _]\d{1,2}[ _]?(?:[\[(]|$))",
    re.I,
)
# `SP1`, `OVA`, `番外編「春」`: a special of the show that the folder names.
_UNNAMED_SPECIAL: Final = re.compile(
    r"(?:番外|特[別别])[篇編编]|[\[(]?(?:SPs?|OVA|OAD|ONA|Special|Omake)[ _.-]?\d{0,2}[\])]?$", re.I
)
_WRITTEN_DAY: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)")
# The word for an episode, in languages whose word the reader of titles leaves in the title.
EPISODE_WORD: Final = re.compile(
    r"Aflevering|Avsnitt|Afsnit|Jakso|Osa|Odcinek|Epizód[ay]?|Epizod[aey]?|Díl|Bölüm|Del|Серия|Эпизод|Capítulo|Capitulo|Episodio|Épisode|Puntata|Teil|Lecture|Lesson"
    r"|Vorlesung|Lektion|Урок",
    re.I,
)
_EPISODE_ENDING: Final = re.compile(
    rf"[ _.-]+(?:{EPISODE_WORD.pattern})$"
    # Words that titles have too: `Koji - Session 01`, and not `The Final Act - 01`.
    r"|\s-\s(?:Session|Mission|Stage|Act|Phase|Case|File|Scene|Turn|Track)$",
    re.I,
)
_FILM_NUMBER: Final = re.compile(
    r"(?:The[ ._])?Movies?[ ._#-]{0,3}(\d{1,2})(?!\d)|(?:劇場版|剧场版)[ ]?(\d{1,2})(?!\d)|M(\d{2})(?=\])", re.I
)
_FOLDER_OF_FILM: Final = re.compile(
    r".*\w - (?:(?:The|O|Le|Der|Il|De|La|El) )?(?:Filme?n?|Movie|Pel[íi]cula|Elokuva)(?:\s*[\[(].*)?", re.I
)
_SHELF_OF_FILMS: Final = re.compile(r"(?<![A-Za-z])(?:movies|films)(?![A-Za-z])|电影|電影|映画|剧场版|劇場版", re.I)
_PART: Final = re.compile(r"[ ._\-\[(](?:cd|disc|disk|part|pt)[ ._-]?([1-9])(?:[\])]|$|(?=[ ._-]))", re.I)
_DASHED_NUMBER: Final = re.compile(r"\s-\s\d{2,4}(?:v\d)?(?:\s|$)")
_SHORT_NAME: Final = re.compile(r"[a-z0-9._-]+")


class SeasonFrom(StrEnum):
    """What says the season of a video."""

    PAIR = "pair"
    """`S02E03`: season and number in one."""
    NAME = "name"
    FOLDER = "folder"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoReading:
    """What is said of one video, before it is compared with the others."""

    path: SplitPath
    kind: WorkKind | None
    """None: nothing says it."""
    title: str | None
    season: int | None = None
    season_from: SeasonFrom = SeasonFrom.NOTHING
    season_folder: str | None = None
    other_season: int | None = None
    """What the folder says, where that is another season."""
    episodes: tuple[Episode, ...] = ()
    label: str | None = None
    year: int | None = None
    part: int | None = None
    part_of_season: int | None = None
    film_number: int | None = None
    release: ReleaseFacts = NO_RELEASE
    own_title: bool = True
    """The title is from the file's own name."""
    said_film: bool = False
    dated: bool = False
    """It is told by the day on which it was shown."""
    sectioned: bool = False
    """It lies in one of several numbered folders, as the lessons of a course do."""
    words: str | None = None
    """What stands beside the numbers of its own name."""
    own_year: int | None = None
    only_folder: bool = False
    """It lies among specials, and nothing in its own name says which one it is."""
    special_of: int | None = None
    """The season that a special's name or folder says. Beside the others of its list, only where it tells two apart."""
    counted: bool = False
    """Only the other names of its folder tell its number."""
    undivided: int | None = None
    """The number as it is written, where it was read as a season and an episode: 217 as 2 and 17."""


def read_video(path: SplitPath) -> VideoReading:
    """What the name and the folders of a video say."""
    above = [read_folder(folder) for folder in reversed(path.folders)]
    told = with_year_in_name(read_own_name(path), above)
    recorded = end_of_time(path.stem)
    stem = path.stem[recorded:]
    release = next((folder for folder in above if folder.kind is not FolderKind.NEUTRAL), None)
    if release and (release.group or release.year) and release.source and _SHORT_NAME.fullmatch(stem):
        # `grp-show.s01e02` in the folder of its release, which has the name in full.
        told = replace(told, title=release.title, year=release.year, group=release.group)
    episodes = _as_folder_counts(told.episodes or _number_alone(stem), above)
    season, source, folder = _season(told, stem, above)
    title, own = _title(told, stem, above, episodes)
    kind, label = _kind(told, stem, above, season, episodes)
    if not own and told.title and told.year and (kind is WorkKind.FILM or _is_on_shelf_of_films(path, kind)):
        # `Koji Movies/01 Koji - The First Rice (1980)`: the number only says in which order they came.
        kind, title, own = WorkKind.FILM, told.title, True
    special_of = season if kind is WorkKind.SPECIAL else None
    if kind is WorkKind.SPECIAL:
        season = 0
        if title and own and (cut := _TITLED_SPECIAL.search(title)):
            title = title[: cut.start()]
        title = special_title(title, label)
    film = _film_number(stem) if kind is WorkKind.FILM else None
    if kind is WorkKind.FILM and title and own:
        title = _film_title(title, stem, counted=film is not None)
    return VideoReading(
        path=path,
        kind=kind,
        title=title,
        season=season,
        season_from=source,
        season_folder=folder.name if folder else None,
        other_season=_other_season(told, above, source) if kind is WorkKind.EPISODE else None,
        episodes=() if kind is WorkKind.FILM else episodes,
        label=label,
        special_of=special_of,
        year=told.year or year_above(title, above),
        part=part_of_film(stem, title) if kind in (None, WorkKind.FILM) else None,
        part_of_season=told.part if kind is WorkKind.EPISODE else None,
        film_number=film,
        release=_release(told, above),
        own_title=own,
        said_film=told.kind is ReleaseKind.MOVIE,
        dated=not episodes and (told.date is not None or recorded > 0 or _WRITTEN_DAY.search(stem) is not None),
        words=told.title,
        own_year=told.year,
        undivided=_undivided(told),
        only_folder=kind is None and any(folder.kind is FolderKind.SPECIALS for folder in above),
    )


def _is_on_shelf_of_films(path: SplitPath, kind: WorkKind | None) -> bool:
    return kind is WorkKind.EPISODE and bool(path.folders) and _SHELF_OF_FILMS.search(path.folders[-1]) is not None


def _as_folder_counts(episodes: tuple[Episode, ...], above: list[FolderFacts]) -> tuple[Episode, ...]:
    """`grp-koji.105` in the folder `Koji.S01E05`: season and episode in one number."""
    folder = above[0] if above else None
    if folder is None or folder.season is None or len(episodes) != 1 or len(folder.episodes) != 1:
        return episodes
    return folder.episodes if episodes[0] == folder.season * 100 + folder.episodes[0] else episodes


def _undivided(told: ReleaseTitle) -> int | None:
    if TitleDoubt.SPLIT_NUMBER not in told.doubts or told.season is None or len(told.episodes) != 1:
        return None
    return told.season * 100 + int(told.episodes[0])


def _film_title(title: str, stem: str, *, counted: bool) -> str:
    """The title of a film with what was read out of it: a number that counts no episodes, and which half it is."""
    number = (
        None if counted else re.search(rf"{re.escape(title)}[ _.](\d{{1,3}})(?=[ _.](?:The[ _.])?Movie)", stem, re.I)
    )
    half = _FILM_HALF.search(stem)
    return " ".join([title, *([number[1]] if number else []), *([half[0]] if half and half[0] not in title else [])])


def _number_alone(stem: str) -> tuple[Episode, ...]:
    """`01`, `[12]`, `05v2`: nothing but a number."""
    found = _ONLY_NUMBER.fullmatch(stem.strip())
    if found is None:
        return ()
    value = float(found[1])
    return (int(value) if value.is_integer() else value,)


def _season(
    told: ReleaseTitle, stem: str, above: list[FolderFacts]
) -> tuple[int | None, SeasonFrom, FolderFacts | None]:
    if told.season is not None and len(told.seasons) == 1:
        return told.season, SeasonFrom.PAIR if _PAIR.search(stem) else SeasonFrom.NAME, None
    for folder in above:
        if folder.season is not None:
            return folder.season, SeasonFrom.FOLDER, folder
        if folder.kind in (FolderKind.SPECIALS, FolderKind.FILMS):
            break
    return None, SeasonFrom.NOTHING, None


def _other_season(told: ReleaseTitle, above: list[FolderFacts], source: SeasonFrom) -> int | None:
    """The season of the nearest folder, where the name says another one."""
    if source not in (SeasonFrom.PAIR, SeasonFrom.NAME):
        return None
    nearest = next((folder.season for folder in above if folder.season is not None), None)
    return nearest if nearest not in (None, told.season) else None


def _title(
    told: ReleaseTitle, stem: str, above: list[FolderFacts], episodes: tuple[Episode, ...]
) -> tuple[str | None, bool]:
    """The show's title, and whether the file itself says it."""
    first = _NUMBER_FIRST.match(stem) if episodes else None
    own = _EPISODE_ENDING.sub("", told.title) if told.title else None
    if own is not None and episodes and EPISODE_WORD.fullmatch(own):
        # `Jakso 1`
        own = None
    if own is not None and first is not None and not (own[:1].isdigit() and _begins_with_name(own, first, episodes)):
        own = None
    if own is not None and _ONLY_NUMBER.fullmatch(own) and (first or _ONLY_NUMBER.fullmatch(stem.strip())):
        own = own if own != stem.strip() and told.episodes else None
    is_name = own is not None and not _UNNAMED_SPECIAL.match(stem)
    if own is not None and is_name and read_folder(own).kind not in (FolderKind.SPECIALS, FolderKind.EXTRAS):
        return own, True
    by_folder = show_title(above)
    # A show may be called `Extras`.
    return (own, True) if by_folder is None and own and _PAIR.search(stem) else (by_folder, False)


def _begins_with_name(own: str, first: re.Match[str], episodes: tuple[Episode, ...]) -> bool:
    """Whether a name that begins with a number begins with the show's: `91 Days - 07`, and not `09 - 4 Days Out`."""
    return int(first[1]) != episodes[0] or own.startswith(first[1])


def _kind(
    told: ReleaseTitle, stem: str, above: list[FolderFacts], season: int | None, episodes: tuple[Episode, ...]
) -> tuple[WorkKind | None, str | None]:
    """Whether it is an episode, a special (with what it is called) or a film; None if nothing says it."""
    sorted_as = next((one.kind for one in above if one.kind not in (FolderKind.NEUTRAL, FolderKind.TRACKS)), None)
    is_film = told.kind is ReleaseKind.MOVIE and not (episodes and _counts_episodes(stem))
    is_film = is_film or (not episodes and bool(above) and _FOLDER_OF_FILM.fullmatch(above[0].name) is not None)
    if is_film or (sorted_as is FolderKind.FILMS and not _PAIR.search(stem)):
        return WorkKind.FILM, None
    if told.kind in (ReleaseKind.OVA, ReleaseKind.SPECIAL) and season != 0 and not _PAIR.search(stem):
        between = _BETWEEN.search(stem)
        return WorkKind.SPECIAL, between[1] if between else special_label(stem, episodes)
    if season == 0:
        return WorkKind.SPECIAL, f"S00E{int(episodes[0]):02}" if episodes else special_label(stem, episodes)
    if len(episodes) == 1 and (isinstance(episodes[0], float) or episodes[0] == 0):
        return WorkKind.SPECIAL, f"{episodes[0]:g}"
    if sorted_as is FolderKind.SPECIALS and (episodes or SPECIAL_WORD.search(stem)) and not _PAIR.search(stem):
        return WorkKind.SPECIAL, special_label(stem, episodes, above[0].name)
    if not episodes and (_TITLED_SPECIAL.search(stem) or _UNNAMED_SPECIAL.match(stem)):
        return WorkKind.SPECIAL, special_label(stem, episodes)
    return (WorkKind.EPISODE, None) if episodes else (None, None)


def _counts_episodes(stem: str) -> bool:
    """`The Movie Star - 03`: a number that counts episodes, though the title has the word for a film."""
    return bool(_DASHED_NUMBER.search(stem)) and _film_number(stem) is None and not re.search("剧场版|劇場版", stem)


def _film_number(stem: str) -> int | None:
    found = _FILM_NUMBER.search(stem)
    return int(next(group for group in found.groups() if group)) if found else None


def part_of_film(stem: str, title: str | None) -> int | None:
    """The part of a film in several files; one that the title names is a film of its own."""
    found = _PART.search(stem)
    return int(found[1]) if found and not _PART.search(f" {title}") else None


def _release(told: ReleaseTitle, above: list[FolderFacts]) -> ReleaseFacts:
    return ReleaseFacts(
        group=told.group or next((one.group for one in above if one.group), None),
        resolution=told.resolution or next((one.resolution for one in above if one.resolution), None),
        source=told.source or next((one.source for one in above if one.source), None),
        version=told.version or 1,
    )
