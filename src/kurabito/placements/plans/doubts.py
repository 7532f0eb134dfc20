"""What only shows when the files are compared: two for one episode, another show, an episode that is in the library already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from kurabito.placements.plans.model import (
    FileAction,
    HadFile,
    PlanContext,
    PlannedFile,
    ReleaseFacts,
    Work,
    WorkKind,
    because,
)
from kurabito.placements.plans.reasons import PlanReason
from kurabito.placements.plans.siblings import names_twice
from kurabito.titles import Episode, fold_title

_Key = tuple[WorkKind, str, int | None, Episode | str | int | None]


def settle_doubles(videos: Sequence[PlannedFile]) -> list[PlannedFile]:
    """Of two files for one episode the newer version of the same release is filed; anything else is asked."""
    by_key: dict[_Key, list[int]] = defaultdict(list)
    yearless = {fold_title(one.work.title or "") for one in videos if one.work and one.work.year is None}
    for place, video in enumerate(videos):
        if video.action is FileAction.FILE and video.work is not None:
            for key in _keys(video.work, yearless):
                by_key[key].append(place)
    found = list(videos)
    for places in by_key.values():
        alike = [place for place in places if found[place].action is FileAction.FILE]
        if len(alike) > 1:
            _settle(found, alike)
    return found


def _keys(work: Work, yearless: Collection[str]) -> list[_Key]:
    title = fold_title(work.title or "")
    if work.kind is WorkKind.FILM:
        return [(work.kind, title, work.year, work.part)]
    if work.kind is WorkKind.SPECIAL:
        return [(work.kind, title, 0, work.label)]
    # Two shows of one name are told apart by their years, if all of their files have one.
    show = title if title in yearless else f"{title} {work.year}"
    return [(work.kind, show, work.season, episode) for episode in work.episodes]


def _settle(found: list[PlannedFile], places: list[int]) -> None:
    chosen = [place for place in places if _is_said(found[place])]
    if len(chosen) == 1:
        for place in places:
            if place not in chosen:
                reason = because(PlanReason.NOT_CHOSEN, other=found[chosen[0]].path)
                found[place] = replace(found[place], action=FileAction.LEAVE, reason=reason)
        return
    newest = max(places, key=lambda place: found[place].release.version)
    best = found[newest]
    older = [place for place in places if place != newest]
    if all(_is_older(found[place], best) for place in older):
        for place in older:
            reason = because(PlanReason.OLDER_VERSION, other=best.path)
            found[place] = replace(found[place], action=FileAction.LEAVE, reason=reason)
        return
    for place in places:
        others = [found[other].path for other in places if other != place]
        work = found[place].work
        found[place] = replace(
            found[place],
            action=FileAction.ASK,
            reason=because(PlanReason.TWO_FILES, others=others),
            candidates=(work,) if work else (),
        )


def _is_said(video: PlannedFile) -> bool:
    return video.reason.code is PlanReason.SAID


def _is_older(video: PlannedFile, newest: PlannedFile) -> bool:
    same = replace(video.release, version=newest.release.version) == newest.release
    return same and video.release.version < newest.release.version and video.work == newest.work


def ask_about_other_shows(
    videos: Sequence[PlannedFile], titles: Sequence[str | None], context: PlanContext
) -> list[PlannedFile]:
    """Ask about episodes whose name says another show, where some names do say the one that is expected."""
    known = {fold_title(name) for show in context.shows for name in show.names} - {""}
    named = [fold_title(title or "") for title in titles]
    if not known or not any(name in known for name in named):
        return list(videos)
    return [
        replace(
            video, action=FileAction.ASK, reason=because(PlanReason.OTHER_SHOW, title=title), candidates=(video.work,)
        )
        if video.action is FileAction.FILE
        and video.work
        and name
        and name not in known
        and not _is_named_after(name, known, video.work)
        and not _is_said(video)
        else video
        for video, title, name in zip(videos, titles, named, strict=True)
    ]


def _is_named_after(name: str, known: set[str], work: Work) -> bool:
    """A special's name has more than the show's."""
    return work.kind is WorkKind.SPECIAL and any(name.startswith(one) or names_twice(name, one) for one in known)


def leave_what_is_had(videos: Sequence[PlannedFile], context: PlanContext) -> list[PlannedFile]:
    """Leave episodes that a library has, unless the new file is better and may take the place."""
    return [_left_if_had(video, context) for video in videos]


def _left_if_had(video: PlannedFile, context: PlanContext) -> PlannedFile:
    work = video.work
    if work is None or video.action is not FileAction.FILE or work.kind is not WorkKind.EPISODE:
        return video
    show = next(
        (
            one
            for one in (*context.shows, *context.seasons)
            if one.series_id == work.series_id and one.season == work.season
        ),
        None,
    )
    had = [show.had.get(episode) for episode in work.episodes] if show else []
    known = [one for one in had if one is not None]
    if len(known) < len(had) or not had or _is_said(video):
        return video
    paths = {one.path for one in known if _gives_way(one, video.release)}
    if len(paths) == 1 and (path := paths.pop()) is not None and all(one.path == path for one in known):
        return replace(video, replaces=path, reason=because(PlanReason.BETTER, path=path))
    return replace(video, action=FileAction.LEAVE, reason=because(PlanReason.HAD))


def _gives_way(had: HadFile, new: ReleaseFacts) -> bool:
    if not had.replaceable:
        return False
    if had.release.group is not None and had.release.group == new.group:
        return new.version > had.release.version
    return not had.only_newer_version and (new.resolution or 0) > (had.release.resolution or 0)
