"""The plan for a list of files: what each is, what is done with it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kurabito.placements.plans.classes import Classified, classify, episodes_after_all, makings_after_all
from kurabito.placements.plans.doubts import ask_about_other_shows, leave_what_is_had, settle_doubles
from kurabito.placements.plans.model import (
    NO_CONTEXT,
    FileAction,
    FileClass,
    FilePlan,
    FileRuling,
    ListedFile,
    PlanContext,
    PlannedFile,
    Work,
    WorkKind,
    because,
)
from kurabito.placements.plans.names import TargetNames
from kurabito.placements.plans.others import OtherFiles, find_discs, plain, plan_beside
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import VideoReading, read_video
from kurabito.placements.plans.reasons import PlanReason
from kurabito.placements.plans.runs import read_together
from kurabito.placements.plans.siblings import read_beside, shown_titles
from kurabito.placements.plans.tracks import TrackFinder
from kurabito.placements.plans.works import place_videos
from kurabito.titles import fold_title


def plan_files(files: Sequence[ListedFile], context: PlanContext = NO_CONTEXT) -> FilePlan:
    """What is done with each of these files. Pure: the same list and context always give the same plan.

    >>> plan = plan_files([ListedFile("[Kura] Yoru no Kurabito - 07v2 [1080p].mkv")])
    >>> plan.files[0].target
    'Yoru no Kurabito/Season 01/Yoru no Kurabito S01E07.mkv'
    """
    paths = [SplitPath.of(file.path, file.size) for file in files]
    classes = [classify(path) for path in paths]
    if programs := _programs(paths, classes):
        return _refused(paths, classes, programs)
    classes = makings_after_all(paths, episodes_after_all(paths, classes))
    planned = find_discs(paths)
    videos = [place for place, one in enumerate(classes) if one.file_class is FileClass.VIDEO and place not in planned]
    alike = read_together([read_video(paths[place]) for place in videos])
    together = read_beside(alike, is_known=bool(context.shows))
    read = dict(zip(videos, together, strict=True))
    extras = {place: one.word for place, one in enumerate(classes) if one.file_class is FileClass.EXTRA}
    extras |= {place: reading.path.folders[-1] for place, reading in read.items() if reading.only_folder}
    readings = [reading for place, reading in read.items() if place not in extras]
    planned |= zip((place for place in videos if place not in extras), _plan_videos(readings, context), strict=True)
    others = OtherFiles(context, list(planned.values()))
    planned |= {place: others.plan_extra(paths[place], extras[place]) for place in extras.keys() - planned.keys()}
    by_path = {file.path: file for file in planned.values()}
    finder = TrackFinder(list(planned.values()), readings)
    for place, one in enumerate(classes):
        if place not in planned:
            planned[place] = plan_beside(paths[place], one, finder, by_path)
    files_in_order = [_left_as_said(planned[place], context) for place in range(len(paths))]
    return FilePlan(tuple(TargetNames(context).name(files_in_order)))


def refuse_programs(files: Sequence[ListedFile]) -> FilePlan | None:
    """The plan of a download that brought programs, whatever is known of it otherwise; None where it brought none."""
    paths = [SplitPath.of(file.path, file.size) for file in files]
    classes = [classify(path) for path in paths]
    programs = _programs(paths, classes)
    return _refused(paths, classes, programs) if programs else None


def _programs(paths: Sequence[SplitPath], classes: Sequence[Classified]) -> list[str]:
    return [path.path for path, one in zip(paths, classes, strict=True) if one.file_class is FileClass.EXECUTABLE]


def _left_as_said(file: PlannedFile, context: PlanContext) -> PlannedFile:
    said = context.said.get(file.path)
    if said is None or said.work is not None:
        return file
    return replace(file, action=FileAction.LEAVE, reason=because(PlanReason.SAID), candidates=())


def _plan_videos(readings: Sequence[VideoReading], context: PlanContext) -> list[PlannedFile]:
    titles = shown_titles(readings)
    videos: list[PlannedFile] = []
    for reading, placed in zip(readings, place_videos(readings, context), strict=True):
        work, reason, candidates = placed.work, placed.reason, placed.candidates
        said = context.said.get(reading.path.path)
        if said is not None and said.work is not None:
            work, reason, candidates = _of_season(said, said.work, context), because(PlanReason.SAID), ()
        elif work is not None and work.title and work.kind is not WorkKind.FILM and not context.shows:
            work = replace(work, title=titles.get(fold_title(work.title), work.title))
        videos.append(
            PlannedFile(
                path=reading.path.path,
                size=reading.path.size,
                file_class=FileClass.VIDEO,
                action=FileAction.ASK if work is None else FileAction.FILE,
                reason=reason,
                work=work,
                release=reading.release,
                candidates=candidates,
            )
        )
    asked = ask_about_other_shows(videos, [reading.title for reading in readings], context)
    return leave_what_is_had(settle_doubles(asked), context)


def _of_season(said: FileRuling, work: Work, context: PlanContext) -> Work:
    """What a person said, of the series that is the season which was said."""
    if said.is_numbered or work.kind is not WorkKind.EPISODE:
        return work
    other = next((show for show in context.seasons if show.season == work.season), None)
    return work if other is None else replace(work, series_id=other.series_id)


def _refused(paths: Sequence[SplitPath], classes: Sequence[Classified], programs: list[str]) -> FilePlan:
    """A program among videos is there to be started by mistake: nothing of such a download is used."""
    reason = because(PlanReason.EXECUTABLE, files=programs[:10])
    files = tuple(
        plain(
            path,
            one.file_class,
            FileAction.REFUSE if one.file_class is FileClass.EXECUTABLE else FileAction.LEAVE,
            reason,
        )
        for path, one in zip(paths, classes, strict=True)
    )
    return FilePlan(files, reason)
