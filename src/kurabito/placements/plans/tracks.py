"""Which video a subtitle or audio file belongs to, and in which language it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.placements.naming.sidecars import TrackFlag, TrackTag, language_of, read_tag
from kurabito.placements.plans.folders import FolderKind, folder_kind
from kurabito.placements.plans.model import FileClass, PlannedFile, WorkKind
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import SeasonFrom, VideoReading, read_video
from kurabito.titles import Episode, fold_title

_LAST_WORD: Final = re.compile(r"[ ._\-]*[\[(【]?([^\s.\[\]()【】]+?)[\])】]?$")
_GOES_ON: Final = re.compile(r"[^A-Za-z0-9]|$")
_MOST_WORDS: Final = 4
_STUDIO: Final = re.compile(r"(?<=\w)\s*[\[(](?!(?:eng|rus|jpn|chs|cht)[\])])[^\[\]()]*[\])]$", re.I)
_OF_TRACKS: Final = re.compile(
    r"subs?|subtitles?|sounds?|audios?|tracks?|dubs?|voices?|full|signs?|songs?|字幕|音轨|音軌|配音"
    r"|субтитры|озвучка|звук|дорожк[аи]|перевод|надписи|sous-titres?|untertitel|subt[ií]tulos|sottotitoli|legendas|napisy|자막",
    re.I,
)

_OF_FLAG: Final = re.compile(r"forced|sdh|cc", re.I)
_OF_REGION: Final = re.compile(
    r"\w+ ?[\[(](?:Latin[ -]?Americ[\w ]*|Latinoam[eé]rica|Bra[sz]il|Simplified|Traditional|Europ\w+|España)[\])]", re.I
)
_ALBUM_NUMBER: Final = re.compile(r"(?:\d-)?\d{1,3}(?:\.\s?|\s-\s|[ _])(?=[^\W\d_])")

_EpisodeKey = tuple[int | None, tuple[Episode, ...], str | None]


@dataclass(frozen=True, slots=True)
class Track:
    """A subtitle or audio file: its video, and what its name says about the track."""

    video: str | None
    tag: TrackTag
    is_song: bool = False
    """Only its number leads to the video, and its name is that of a song: `01. Rice.flac`."""


class TrackFinder:
    """Finds the video of a track among those of one list."""

    def __init__(self, videos: Sequence[PlannedFile], readings: Sequence[VideoReading]) -> None:
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        self._by_episode: dict[_EpisodeKey, list[str]] = defaultdict(list)
        self._by_numbers: dict[tuple[tuple[Episode, ...], str | None], list[str]] = defaultdict(list)
        self._main = [video.path for video in videos if video.file_class is FileClass.VIDEO]
        self._folders: dict[str, tuple[str, ...]] = {}
        for video in videos:
            split = SplitPath.of(video.path)
            self._folders[video.path] = split.folders
            self._by_stem[split.stem.casefold()].append(video.path)
        self._by_film: dict[tuple[str, int | None], list[str]] = defaultdict(list)
        for video in videos:
            if video.work is not None and video.work.kind is WorkKind.FILM and video.file_class is FileClass.VIDEO:
                self._by_film[fold_title(video.work.title or ""), video.work.year].append(video.path)
        for reading in readings:
            if reading.kind is not None:
                season, episodes, label = _key(reading)
                self._by_episode[season, episodes, label].append(reading.path.path)
                self._by_numbers[episodes, label].append(reading.path.path)
        self._readings = {reading.path.path: reading for reading in readings}
        self._lengths = sorted({len(stem) for stem in self._by_stem}, reverse=True)

    def find(self, path: SplitPath, *, by_number: bool = True) -> Track:
        """The video of a track. None of them where that cannot be told."""
        video, rest = self._by_name(path)
        is_song = False
        # What the video is called as well tells nothing of the track: the country of `Koji (UK)` is no language.
        own = path.stem if video is None else rest
        if video is None:
            video, rest = self._by_folder_name(path), path.stem
        if video is None:
            video, rest = self._by_film_name(path), _tail(path.stem)
        if video is None and by_number:
            video, rest = self._by_number(path), _tail(path.stem)
            is_song = video is not None and self._may_be_song(path, video)
        if video is None and by_number and len(self._main) == 1 and not self._is_of_another(path, self._main[0]):
            video, rest = self._main[0], path.stem
            is_song = self._may_be_song(path, video) and read_tag(path.stem) == TrackTag()
        # `Koji - Commentary 01.mka`: the word stands before the number.
        tag = replace(read_tag(rest), title=read_tag(own).title)
        tag = replace(tag, flags=tag.flags or _folder_flags(path.folders))
        if tag.languages:
            return Track(video, tag)
        said = _folder_language(path.folders)
        return Track(video, replace(tag, languages=said or _inner_language(own)), is_song=is_song and not said)

    def _by_name(self, path: SplitPath) -> tuple[str | None, str]:
        """The video whose whole name the track's begins with; the longest, and the nearest."""
        stem = path.stem.casefold()
        for length in self._lengths:
            if length > len(stem) or not _GOES_ON.match(stem, length):
                continue
            if videos := self._by_stem.get(stem[:length]):
                return self._nearest(videos, path), path.stem[length:]
        return None, ""

    def _by_folder_name(self, path: SplitPath) -> str | None:
        """`Subs/<name of the video>/2_English.srt`."""
        for folder in reversed(path.folders):
            if videos := self._by_stem.get(folder.casefold()):
                return self._nearest(videos, path)
        return None

    def _by_film_name(self, path: SplitPath) -> str | None:
        """`Koji (1962).en.srt` beside `Koji (1962) - 1080p.mkv`."""
        own = _read_track(path)
        if own.episodes or own.own_year is None or not own.own_title:
            return None
        return self._closest(self._by_film.get((fold_title(own.title or ""), own.own_year), []), path)

    def _is_of_another(self, path: SplitPath, video: str) -> bool:
        """Whether the name of a track says another episode of the same show: `2_English` says none."""
        own, of_video = _read_track(path), self._readings.get(video)
        if of_video is None or not of_video.episodes or set(own.episodes) <= set(of_video.episodes):
            return False
        return own.season_from is SeasonFrom.PAIR or (own.own_title and self._is_named_as(own, video))

    def _may_be_song(self, path: SplitPath, video: str) -> bool:
        """Whether a track is called otherwise than its video, or numbered as the songs of an album are."""
        if any(folder_kind(folder) is FolderKind.TRACKS for folder in path.folders):
            return False
        own = _read_track(path)
        return (own.own_title and not self._is_named_as(own, video)) or _ALBUM_NUMBER.match(path.stem) is not None

    def _is_named_as(self, track: VideoReading, video: str) -> bool:
        of_video = self._readings.get(video)
        return of_video is not None and fold_title(track.title or "") == fold_title(of_video.title or "")

    def _by_number(self, path: SplitPath) -> str | None:
        reading = _read_track(path)
        if reading.kind is None or not (reading.episodes or reading.label):
            return None
        season, episodes, label = _key(reading)
        found = self._by_episode.get((season, episodes, label), [])
        if not found and season is None:
            found = self._by_numbers.get((episodes, label), [])
        if not found and season is not None:
            found = self._by_episode.get((None, episodes, label), [])
            # `Koji S2 - 01.ass` is of no `Koji - 01`; a sequel with a name of its own is called otherwise.
            found = [video for video in found if season == 1 or not self._is_named_as(reading, video)]
        return self._closest(found, path)

    def _closest(self, videos: Sequence[str], path: SplitPath) -> str | None:
        """The only one in the folder that the track shares with some; else the only one."""
        for depth in range(len(path.folders), 0, -1):
            near = [video for video in videos if self._folders[video][:depth] == path.folders[:depth]]
            if near:
                return near[0] if len(near) == 1 else None
        return videos[0] if len(videos) == 1 else None

    def _nearest(self, videos: Sequence[str], path: SplitPath) -> str | None:
        """The one in the same folder, else the only one."""
        beside = [video for video in videos if self._folders[video] == path.folders]
        above = [video for video in videos if self._folders[video] == path.folders[: len(self._folders[video])]]
        for found in (beside, above, list(videos)):
            if len(found) == 1:
                return found[0]
        return None


def _read_track(path: SplitPath) -> VideoReading:
    return read_video(SplitPath(path.path, path.size, path.folders, _without_tail(path.stem), "mkv"))


def _key(reading: VideoReading) -> _EpisodeKey:
    return reading.season, reading.episodes, reading.label


def _tail(stem: str) -> str:
    """The words at the end that name languages, or say how the track is used."""
    return stem[len(_without_tail(stem)) :]


def _without_tail(stem: str) -> str:
    kept = stem
    for _ in range(_MOST_WORDS):
        found = _LAST_WORD.search(kept)
        if found is None or found.start() == 0:
            break
        tag = read_tag(found[1])
        if tag == TrackTag():
            break
        kept = kept[: found.start()]
    return kept


def _folder_flags(folders: Sequence[str]) -> tuple[TrackFlag, ...]:
    """`Subs/Forced/Koji - 01.srt`: a folder of forced subtitles."""
    return next((read_tag(name).flags for name in reversed(folders) if _OF_FLAG.fullmatch(name.strip("[]() "))), ())


def _folder_language(folders: Sequence[str]) -> tuple[str, ...]:
    for name in reversed(folders):
        # `Rus Sound [Studio]`: who made them is in the bracket.
        folder = name if language_of(name.strip("[]() ")) else _STUDIO.sub("", name)
        words = re.findall(r"[^\s\[\]()._]+", folder)
        said = language_of(folder.strip("[]() ")) or next(filter(None, map(language_of, words)), ())
        # `Rus Sound`, `Subs [ENG]`: the other words may only say that there are tracks.
        if said and all(language_of(word) or _OF_TRACKS.fullmatch(word) for word in words):
            # `Spanish (Latin America)`: the bracket says which of it.
            return read_tag(name).languages or said
        told = read_tag(name)
        if told.languages and _OF_REGION.fullmatch(name):
            return told.languages
    return ()


def _inner_language(stem: str) -> tuple[str, ...]:
    """A language in a bracket of the name: `[JPSC]`."""
    for words in re.findall(r"[\[(【]([^\[\]()【】]{2,12})[\])】]", stem):
        if said := language_of(words):
            return said
    return ()
