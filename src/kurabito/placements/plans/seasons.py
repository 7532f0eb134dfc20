"""Whether a number is of its season or counts through all of them, and whether the series has such an episode."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.placements.plans.model import PlanContext, ShowContext, Work, WorkKind, because
from kurabito.placements.plans.reading import SeasonFrom, VideoReading
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason
from kurabito.titles import Episode, fold_title

LONGEST_SEASON: Final = 40
"""No season has more episodes, where hundreds count the seasons."""
_LONGEST_SHOWN: Final = 25
"""What a later season begins beyond, without an episode before it, probably counts through all of them."""
_BATCH: Final = 6
"""So many files of a season are all that there is of it: without an episode 1 they count through all seasons, or are its second half."""
_LATER_PART: Final = re.compile(
    r"[ :,-]*[\[(]?(?:(?:Part|Cour) ?[2-9]|(?:2nd|Second|3rd|Third) (?:Part|Cour)|第[2-9二三]クール)[\])]?$", re.I
)
_LATER_PARTS: Final = range(2, 10)
_LONGEST_FIRST_PART: Final = 14
_SHORTEST_SEASON: Final = 10
"""A number below it, in a season after the first, cannot count through all of them."""


@dataclass(frozen=True, slots=True)
class WorkReading:
    """Which episode a video is and why, or the candidates if that cannot be told."""

    work: Work | None
    reason: Reason[PlanReason]
    candidates: tuple[Work, ...] = ()


@dataclass(frozen=True, slots=True)
class _Choice:
    """A series and the numbers that a file would have in it."""

    show: ShowContext
    episodes: tuple[Episode, ...]
    counted_on: bool
    """The number in the name counts on from the seasons before."""


def place_in_series(readings: Sequence[VideoReading], context: PlanContext) -> list[WorkReading]:
    """Find the episodes of known series. Files of one list are written in one style, so that the sure ones tell the others."""
    first = min((number for reading in readings for number in reading.episodes), default=0)
    # Where all names say one season, it is the series' own, whatever number the series has.
    strict = len({reading.season for reading in readings}) > 1
    if strict:
        context = replace(context, shows=(*context.shows, *context.seasons))
    told = _with_offsets(context, readings)
    choices = [_choices(reading, told, strict=strict) for reading in readings]
    sure = [found[0].counted_on for found in choices if len(found) == 1]
    style = sure[0] if sure and len(set(sure)) == 1 and any(len(found) > 1 for found in choices) else None
    if style is None and any(1 in reading.episodes for reading in readings):
        style = False
    return [
        _far(reading, placed)
        if first > _LONGEST_SHOWN and len(found) == 1 and _is_uncounted(reading, found[0])
        else placed
        for reading, found in zip(readings, choices, strict=True)
        for placed in [_settled(reading, found, style, context)]
    ]


def _is_uncounted(reading: VideoReading, choice: _Choice) -> bool:
    """Whether nothing is known of how a later season counts, neither how long it is nor what came before it."""
    show = choice.show
    is_known = show.episodes or show.episode_offset or show.numbers.before or choice.counted_on
    return show.season > 1 and not is_known and reading.season_from is not SeasonFrom.PAIR


def _far(reading: VideoReading, placed: WorkReading) -> WorkReading:
    """The question about a number beyond what seasons have."""
    works = () if placed.work is None else (placed.work,)
    return WorkReading(None, because(PlanReason.MAYBE_ABSOLUTE, number=reading.episodes[0]), works)


def _with_offsets(context: PlanContext, readings: Sequence[VideoReading]) -> PlanContext:
    """Where no record counts a season, its files do: they begin where those of the season before end."""
    counts: dict[int, set[Episode]] = defaultdict(set)
    for reading in readings:
        if reading.season_from is not SeasonFrom.PAIR:
            counts[reading.season or 1].update(reading.episodes)
    return replace(context, shows=tuple(_with_offset(show, counts) for show in context.shows))


def _with_offset(show: ShowContext, counts: Mapping[int, set[Episode]]) -> ShowContext:
    before, own = counts.get(show.season - 1), counts.get(show.season)
    if show.episodes or show.episode_offset or show.numbers.before or not before or not own:
        return show
    last = max(before)
    return replace(show, episode_offset=int(last)) if 1 < min(own) == last + 1 else show


def _choices(reading: VideoReading, context: PlanContext, *, strict: bool) -> list[_Choice]:
    """Every series and number that the name may mean."""
    found: list[_Choice] = []
    shows = [show for show in context.shows if not show.is_film]
    for place, show in enumerate(shows):
        if reading.season not in (None, show.season) and (strict or len(shows) > 1):
            continue
        counted_on = list(_counted_on(show, reading.episodes))
        own = reading.season is not None or place == 0
        # Where no episode of the series is known and the number may continue an earlier season, only that reading is kept.
        if own and _has(show, reading.episodes) and (show.episodes or not counted_on):
            found.append(_Choice(show, reading.episodes, counted_on=False))
        found += counted_on
        if place == 0 and reading.undivided in show.episodes:
            # A long series has an episode 217 of its own.
            found.append(_Choice(show, (reading.undivided,), counted_on=False))
    if reading.season_from is SeasonFrom.PAIR and any(not choice.counted_on for choice in found):
        return [choice for choice in found if not choice.counted_on]
    return list({(id(choice.show), choice.episodes): choice for choice in found}.values())


def _counted_on(show: ShowContext, episodes: Sequence[Episode]) -> Iterator[_Choice]:
    for offset in {show.episode_offset, show.numbers.before or 0} - {0}:
        counted = tuple(number - offset for number in episodes)
        if counted and counted[0] > 0 and _has(show, counted):
            yield _Choice(show, counted, counted_on=True)


def _has(show: ShowContext, episodes: Sequence[Episode]) -> bool:
    return not show.episodes or all(episode in show.episodes for episode in episodes)


def _settled(reading: VideoReading, found: list[_Choice], style: bool | None, context: PlanContext) -> WorkReading:
    if len(found) > 1 and context.link_episodes:
        wanted = [choice for choice in found if set(choice.episodes) <= set(context.link_episodes)]
        found = wanted if len(wanted) == 1 else found
    if len(found) > 1 and style is not None:
        alike = [choice for choice in found if choice.counted_on is style]
        found = alike if len(alike) == 1 else found
    works = tuple(_work(reading, choice) for choice in found)
    if not found:
        known = sorted({number for show in context.shows for number in show.episodes})
        return WorkReading(
            None,
            because(PlanReason.OUTSIDE, episodes=list(reading.episodes), known=[*known[:1], *known[-1:]]),
            (episode_work(reading, reading.season or context.shows[0].season),),
        )
    if len(found) > 1:
        return WorkReading(None, because(PlanReason.MAYBE_ABSOLUTE, number=reading.episodes[0]), works)
    return WorkReading(works[0], reason_for(reading, works[0], counted_on=found[0].counted_on))


def _work(reading: VideoReading, choice: _Choice) -> Work:
    show = choice.show
    return Work(
        kind=WorkKind.EPISODE,
        title=show.names[0] if show.names else reading.title,
        season=show.season,
        episodes=choice.episodes,
        year=show.facts.year,
        series_id=show.series_id,
    )


def place_by_names(readings: Sequence[VideoReading]) -> list[WorkReading]:
    """Find the episodes of what only the names tell."""
    counts = _numbers_by_season(readings)
    parts = {part: _numbers_by_season(one for one in readings if one.part_of_season == part) for part in _LATER_PARTS}
    return [
        _in_part(reading, parts[reading.part_of_season], counts)
        if reading.part_of_season in parts and reading.season_from is not SeasonFrom.PAIR
        else _placed_by_name(reading, counts)
        for reading in readings
    ]


def _in_part(
    reading: VideoReading, part: dict[tuple[str, int], set[Episode]], counts: dict[tuple[str, int], set[Episode]]
) -> WorkReading:
    """An episode of `Koji S2 Part 2`: its number is one of the season, unless it begins where a part may begin, too."""
    first = min(part[fold_title(reading.title or ""), reading.season or 1])
    work = episode_work(reading, reading.season or 1)
    if _SHORTEST_SEASON < first <= _LONGEST_FIRST_PART + 1:
        # With the seasons before it the number would be larger.
        return WorkReading(work, reason_for(reading, work))
    if first > _SHORTEST_SEASON:
        return _placed_by_name(reading, counts)
    return WorkReading(None, because(PlanReason.MAYBE_ABSOLUTE, number=reading.episodes[0]), (work,))


def _numbers_by_season(readings: Iterable[VideoReading]) -> dict[tuple[str, int], set[Episode]]:
    found: dict[tuple[str, int], set[Episode]] = defaultdict(set)
    for reading in readings:
        found[fold_title(reading.title or ""), reading.season or 1].update(reading.episodes)
    return found


def _placed_by_name(reading: VideoReading, counts: dict[tuple[str, int], set[Episode]]) -> WorkReading:
    season = 1 if reading.season is None else reading.season
    work = episode_work(reading, season)
    if reading.season_from is SeasonFrom.PAIR:
        return WorkReading(work, reason_for(reading, work))
    title = fold_title(reading.title or "")
    first = min(counts[title, season])
    if season < 2:
        return _of_later_part(reading, counts, first) or WorkReading(work, reason_for(reading, work))
    before = counts.get((title, season - 1))
    if before and first > 1 and first == max(before) + 1:
        counted = tuple(number - int(first) + 1 for number in reading.episodes)
        moved = episode_work(reading, season, counted)
        return WorkReading(moved, reason_for(reading, moved, counted_on=True))
    is_whole = reading.season_from is SeasonFrom.FOLDER or len(counts[title, season]) >= _BATCH
    if first > (_SHORTEST_SEASON if is_whole else _LONGEST_SHOWN):
        through = episode_work(reading, 1)
        return WorkReading(None, because(PlanReason.MAYBE_ABSOLUTE, number=reading.episodes[0]), (work, through))
    return WorkReading(work, reason_for(reading, work))


def _of_later_part(
    reading: VideoReading, counts: Mapping[tuple[str, int], set[Episode]], first: Episode
) -> WorkReading | None:
    """What `Koji Part 2` is beside `Koji`, or where it may go on from a part before; None where nothing but its name says it."""
    found = _LATER_PART.search(reading.title or "")
    show = str(reading.title)[: found.start()] if found else ""
    if not show:
        return None
    before = max((max(counts.get((fold_title(name), 1), {0})) for name in (show, f"{show} Part 1")), default=0)
    of_show = counts.get((fold_title(show), 1))
    if of_show and first == max(of_show) + 1:
        work = replace(episode_work(reading, 1), title=show)
        return WorkReading(work, reason_for(reading, work))
    if not before and _SHORTEST_SEASON < first <= _LONGEST_SHOWN:
        # No part begins there: it goes on from the first one, which lies elsewhere.
        work = replace(episode_work(reading, 1), title=show)
        return WorkReading(work, reason_for(reading, work))
    if first <= _LONGEST_SHOWN and (not before or first > before):
        return None
    counted = tuple(number + int(before) for number in reading.episodes) if first <= before else reading.episodes
    works = episode_work(reading, 1), replace(episode_work(reading, 1, counted), title=show)
    return WorkReading(None, because(PlanReason.MAYBE_ABSOLUTE, number=reading.episodes[0]), works)


def with_show_of_part(placed: Sequence[WorkReading]) -> list[WorkReading]:
    """The specials of `Koji Part 2` are those of `Koji`, where its episodes are."""
    shows = {one.work.title for one in placed if one.work is not None and one.work.kind is WorkKind.EPISODE}
    return [_with_show_of_part(one, shows) for one in placed]


def _with_show_of_part(placed: WorkReading, shows: Collection[str | None]) -> WorkReading:
    work = placed.work
    found = _LATER_PART.search(work.title or "") if work is not None and work.kind is WorkKind.SPECIAL else None
    if work is None or found is None or work.title in shows or (work.title or "")[: found.start()] not in shows:
        return placed
    return replace(placed, work=replace(work, title=str(work.title)[: found.start()]))


def episode_work(reading: VideoReading, season: int, episodes: tuple[Episode, ...] | None = None) -> Work:
    """The episode that a name says."""
    return Work(
        kind=WorkKind.EPISODE,
        title=reading.title,
        season=season,
        episodes=reading.episodes if episodes is None else episodes,
        year=reading.year,
    )


def reason_for(reading: VideoReading, work: Work, *, counted_on: bool = False) -> Reason[PlanReason]:
    """Why a video is this episode."""
    facts = {"season": work.season, "episodes": list(work.episodes)}
    if counted_on:
        return because(PlanReason.ABSOLUTE, absolute=list(reading.episodes), **facts)
    if reading.counted:
        return because(PlanReason.RUN, **facts)
    if reading.season_from is SeasonFrom.FOLDER:
        return because(PlanReason.FOLDER_SEASON, folder=reading.season_folder, **facts)
    return because(PlanReason.EPISODE, **facts)


def in_hundreds(readings: list[VideoReading]) -> list[VideoReading]:
    """`Koji - 122`, `Koji - 201`: each hundred begins with 01 and ends early, so that it is a season."""
    by_show: dict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        if reading.kind is WorkKind.EPISODE and reading.season is None and len(reading.episodes) == 1:
            by_show[fold_title(reading.title or "")].append(place)
    found = list(readings)
    for places in by_show.values():
        numbers = [readings[place].episodes[0] for place in places]
        seasons = {int(number) // 100 for number in numbers}
        begun = {int(number) // 100 for number in numbers if number % 100 == 1}
        if len(seasons) > 1 and seasons == begun and all(0 < number % 100 <= LONGEST_SEASON for number in numbers):
            for place, number in zip(places, numbers, strict=True):
                season, episode = divmod(int(number), 100)
                found[place] = replace(
                    readings[place], season=season, episodes=(episode,), season_from=SeasonFrom.PAIR, counted=True
                )
    return found
