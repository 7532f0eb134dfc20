"""What is done with the files that are no episodes: extras, discs, tracks, archives, fonts and the rest."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from kurabito.placements.naming.presets import ExtrasChoice
from kurabito.placements.plans.classes import Classified
from kurabito.placements.plans.folders import FolderKind, folder_kind, read_folder
from kurabito.placements.plans.model import (
    FileAction,
    FileClass,
    PlanContext,
    PlannedFile,
    Work,
    WorkKind,
    because,
)
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reasons import PlanReason
from kurabito.placements.plans.tracks import TrackFinder
from kurabito.reasons import Reason
from kurabito.titles import parse_title

# `[200101] Koji OST [FLAC]`: albums begin with their day.
_ALBUM: Final = re.compile(r"^\[\d{6}\]|(?<![A-Za-z])(?:OST|Soundtracks?|Drama CD|Character Songs?)(?![A-Za-z])", re.I)
_SCORE: Final = re.compile(r"(?<![A-Za-z])(?:OST|Soundtracks?|Original Score)(?![A-Za-z])", re.I)
# Voices of an episode are rarely in these, and music is in nothing else.
_SONGS: Final = frozenset("flac mp3 m4a wav ape tak tta wv ogg opus wma aiff".split())
_STREAMS: Final = frozenset({"m2ts", "vob"})


def find_discs(paths: Sequence[SplitPath]) -> dict[int, PlannedFile]:
    """The files of discs as they were pressed, by their places: one of each disc is asked about, the rest is left."""
    found: dict[int, PlannedFile] = {}
    asked: set[tuple[str, ...]] = set()
    for place, path in enumerate(paths):
        kinds = [folder_kind(folder) for folder in path.folders]
        if FolderKind.DISC not in kinds:
            continue
        root = path.folders[: kinds.index(FolderKind.DISC)]
        is_first = path.extension in _STREAMS and root not in asked
        asked |= {root} if is_first else set()
        reason = because(PlanReason.DISC, folder="/".join(root))
        found[place] = plain(path, FileClass.OTHER, FileAction.ASK if is_first else FileAction.LEAVE, reason)
    return found


class OtherFiles:
    """Plans what lies beside the videos of one list."""

    def __init__(self, context: PlanContext, videos: Sequence[PlannedFile]) -> None:
        self.context = context
        self._shows: dict[tuple[str, ...], Counter[Work]] = defaultdict(Counter)
        """The shows of the videos in each folder and below it."""
        for video in videos:
            if video.work is not None and video.file_class is FileClass.VIDEO:
                folders = SplitPath.of(video.path).folders
                for depth in range(len(folders) + 1):
                    self._shows[folders[:depth]][_show_of(video.work)] += 1

    def plan_extra(self, path: SplitPath, word: str | None) -> PlannedFile:
        """An opening, a trailer, a menu: it goes with the show that the videos around it are of."""
        if self.context.naming.extras is ExtrasChoice.LEAVE:
            return plain(path, FileClass.EXTRA, FileAction.LEAVE, because(PlanReason.EXTRA_STAYS, word=word))
        work = self._work_around(path)
        if work is None:
            return plain(path, FileClass.EXTRA, FileAction.LEAVE, because(PlanReason.NO_VIDEO, word=word))
        return PlannedFile(
            path=path.path,
            size=path.size,
            file_class=FileClass.EXTRA,
            action=FileAction.FILE,
            reason=because(PlanReason.EXTRA, word=word),
            work=work,
        )

    def _work_around(self, path: SplitPath) -> Work | None:
        for depth in range(len(path.folders), -1, -1):
            if shows := self._shows.get(path.folders[:depth]):
                return shows.most_common(1)[0][0]
        if self.context.shows:
            show = self.context.shows[0]
            kind = WorkKind.FILM if show.is_film else WorkKind.EPISODE
            return Work(kind=kind, title=next(iter(show.names), None), season=show.season, series_id=show.series_id)
        title = parse_title(path.name).title or next(
            (told.title for told in map(read_folder, reversed(path.folders)) if told.title), None
        )
        return Work(kind=WorkKind.EPISODE, title=title, season=1) if title else None


def plan_beside(
    path: SplitPath, one: Classified, finder: TrackFinder, videos: Mapping[str, PlannedFile]
) -> PlannedFile:
    """What is done with a file that is no video."""
    match one.file_class:
        case FileClass.SUBTITLE | FileClass.AUDIO:
            return _track(path, one, finder, videos)
        case FileClass.ARCHIVE:
            return plain(path, one.file_class, FileAction.ASK, because(PlanReason.ARCHIVE))
        case FileClass.SAMPLE:
            return plain(path, one.file_class, FileAction.LEAVE, because(PlanReason.SAMPLE))
        case FileClass.FONT:
            return plain(path, one.file_class, FileAction.LEAVE, because(PlanReason.FONT))
        case _:
            code = PlanReason.UNFINISHED if one.unfinished else PlanReason.NOT_MEDIA
            return plain(path, FileClass.OTHER, FileAction.LEAVE, because(code))


def _track(path: SplitPath, one: Classified, finder: TrackFinder, videos: Mapping[str, PlannedFile]) -> PlannedFile:
    is_song = path.extension in _SONGS and _SCORE.search(path.stem) is not None
    is_music = one.file_class is FileClass.AUDIO and (is_song or _is_music(path))
    track = None if is_music else finder.find(path, by_number=one.word is None)
    if track is not None and track.is_song and path.extension in _SONGS:
        track = None
    if track is None or track.video is None:
        if one.file_class is FileClass.AUDIO:
            return plain(path, one.file_class, FileAction.LEAVE, because(PlanReason.MUSIC))
        # Subtitles alone are what this download is about; beside videos they are of something else.
        action, code = (FileAction.LEAVE, PlanReason.NO_VIDEO) if videos else (FileAction.ASK, PlanReason.ONLY_TRACKS)
        return plain(path, one.file_class, action, because(code))
    video = videos[track.video]
    return PlannedFile(
        path=path.path,
        size=path.size,
        file_class=one.file_class,
        action=FileAction.FILE if video.action is FileAction.FILE else FileAction.LEAVE,
        reason=because(PlanReason.WITH_VIDEO, video=video.path),
        work=video.work,
        video=video.path,
        tag=track.tag,
    )


def _is_music(path: SplitPath) -> bool:
    return any(
        folder_kind(folder) in (FolderKind.MUSIC, FolderKind.EXTRAS) or _ALBUM.search(folder) for folder in path.folders
    )


def plain(path: SplitPath, file_class: FileClass, action: FileAction, reason: Reason[PlanReason]) -> PlannedFile:
    """A file about which only the plan for it is known."""
    return PlannedFile(path=path.path, size=path.size, file_class=file_class, action=action, reason=reason)


def _show_of(work: Work) -> Work:
    """The show or the film alone, without the episode."""
    kind = WorkKind.FILM if work.kind is WorkKind.FILM else WorkKind.EPISODE
    season = work.season or 1 if kind is WorkKind.EPISODE else None
    return Work(kind=kind, title=work.title, season=season, year=work.year, series_id=work.series_id)
