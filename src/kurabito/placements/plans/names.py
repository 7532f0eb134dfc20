"""The path of each file in the library, or why it can have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from kurabito.placements.errors import ValueUnknown
from kurabito.placements.naming.numbering import EntryNumbers, NumberingScheme, number_episodes, special_number
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.safe_names import LONGEST_STEM, safe_name, twin_key
from kurabito.placements.naming.sidecars import TrackTag
from kurabito.placements.naming.targets import beside, episode_stem, extra_stem, film_stem, with_extension
from kurabito.placements.naming.tokens import NameFacts, joined_titles
from kurabito.placements.plans.model import (
    FileAction,
    FileClass,
    PlanContext,
    PlannedFile,
    ShowContext,
    Work,
    WorkKind,
    because,
)
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason


class TargetNames:
    """Names the files of one plan."""

    def __init__(self, context: PlanContext) -> None:
        self._context = context
        self._naming = context.naming
        self._stems: dict[str, str] = {}
        """The paths of the videos without extension, by the paths that they come from."""
        self._taken: set[str] = set()
        """The names of the tracks, so that two of one language both have one."""

    def name(self, files: Sequence[PlannedFile]) -> list[PlannedFile]:
        """The same files with their targets. Videos first: what goes along is named after them."""
        found = [self._named(file) if file.video is None else file for file in files]
        found = _told_apart(found)
        self._stems = {file.path: file.target.rpartition(".")[0] for file in found if file.target is not None}
        return _without_twins([self._beside(file) if file.video is not None else file for file in found])

    def _named(self, file: PlannedFile) -> PlannedFile:
        if file.action is not FileAction.FILE or file.work is None:
            return file
        try:
            stem = self._stem(file, file.work)
        except ValueUnknown as missing:
            return _asked(file, because(PlanReason.NO_VALUE, token=missing.token))
        if isinstance(stem, Reason):
            return _asked(file, stem)
        return replace(file, target=with_extension(stem, SplitPath.of(file.path).extension))

    def _stem(self, file: PlannedFile, work: Work) -> str | Reason[PlanReason]:
        show = show_of(work, self._context)
        facts = _facts(file, work, show)
        folder = show.folder if show else None
        if file.file_class is FileClass.EXTRA:
            return extra_stem(self._naming, facts, folder, film=work.kind is WorkKind.FILM)
        if work.kind is WorkKind.FILM:
            return film_stem(self._naming, facts, folder, work.part)
        said = self._context.said.get(file.path)
        if said is not None and said.is_numbered and work.kind is WorkKind.EPISODE:
            numbers = tuple(int(number) for number in work.episodes)
            numbered: NameFacts | None = facts._replace(season=work.season, episode=numbers, absolute=numbers)
        else:
            numbered = _numbered(facts, work, show, self._naming)
        if numbered is None:
            return because(PlanReason.NO_MAPPING, season=work.season, episodes=list(work.episodes))
        season_folder = show.season_folders.get(numbered.season or 0) if show else None
        return episode_stem(self._naming, numbered, folder, season_folder)

    def _beside(self, file: PlannedFile) -> PlannedFile:
        if file.action is not FileAction.FILE:
            return file
        stem = self._stems.get(file.video or "")
        if stem is None or file.tag is None:
            return replace(file, action=FileAction.LEAVE, reason=because(PlanReason.NO_VIDEO))
        named = ((beside(stem, tag, self._naming, SplitPath.of(file.path).extension), tag) for tag in _tags(file.tag))
        # The tag has the number from now on: by it the file gets another name when it is renamed.
        target, tag = next((target, tag) for target, tag in named if twin_key(target) not in self._taken)
        self._taken.add(twin_key(target))
        return replace(file, target=target, tag=tag)


def _tags(tag: TrackTag) -> Iterator[TrackTag]:
    """What a track may be called: by its own tag, then with a number."""
    yield tag
    for number in count(2):
        yield replace(tag, title=f"{tag.title} {number}" if tag.title else str(number))


def _of_season(numbers: EntryNumbers, season: int, work: Work) -> EntryNumbers:
    """How the season of a work is numbered: as the entry's, unless a person said another season of its show."""
    is_own = work.kind is not WorkKind.EPISODE or work.season in (None, season)
    return numbers if is_own else EntryNumbers(season=work.season or 1)


def show_of(work: Work, context: PlanContext) -> ShowContext | None:
    """The series that a work is of, if it is one of the context."""
    alike = [show for show in (*context.shows, *context.seasons) if show.series_id == work.series_id]
    exact = [show for show in alike if show.season == work.season]
    return next(iter(exact or alike), None)


def _facts(file: PlannedFile, work: Work, show: ShowContext | None) -> NameFacts:
    known = show.facts if show else NameFacts()
    return known._replace(
        title=known.title or work.title,
        year=known.year or work.year,
        group=file.release.group,
        resolution=file.release.resolution,
        source=file.release.source,
        version=file.release.version if file.release.version > 1 else None,
        original=SplitPath.of(file.path).stem,
        special=work.label,
        episode_title=joined_titles(show.titles, work.episodes) if show else None,
    )


def _numbered(facts: NameFacts, work: Work, show: ShowContext | None, naming: NamingSettings) -> NameFacts | None:
    """The facts with season and number as the library counts; None where the record does not say."""
    if show is None:
        entry = EntryNumbers(season=work.season or 1, before=0 if work.season in (None, 1) else None)
    else:
        entry = _of_season(show.numbers, show.season, work)
    if work.kind is WorkKind.SPECIAL:
        number = special_number(work.label or "", entry)
        return facts._replace(season=0, episode=() if number is None else (number,))
    # Without a record the names are all there is, and they count as their season does.
    scheme = NumberingScheme.ENTRY if show is None and naming.numbering is NumberingScheme.TMDB else naming.numbering
    found = number_episodes([int(number) for number in work.episodes], scheme, entry)
    if found is None:
        template = naming.template("episode_file")
        # A template without numbers needs none.
        is_needed = {"season", "episode", "episodes", "absolute"} & {
            *template.tokens,
            *naming.template("season_folder").tokens,
        }
        return None if is_needed else facts
    return facts._replace(season=found.season, episode=found.episodes, absolute=found.absolute)


def _asked(file: PlannedFile, reason: Reason[PlanReason]) -> PlannedFile:
    return replace(file, action=FileAction.ASK, reason=reason, candidates=(file.work,) if file.work else ())


def _told_apart(files: Sequence[PlannedFile]) -> list[PlannedFile]:
    """Extras of one name, as each season has them, say the folder that they are from: `Season 2 - Gag Reel`."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, file in enumerate(files):
        if file.file_class is FileClass.EXTRA and file.target is not None:
            by_name[twin_key(file.target)].append(place)
    found = list(files)
    for places in by_name.values():
        paths = [SplitPath.of(files[place].path) for place in places]
        for depth in range(1, min(len(path.folders) for path in paths) + 1):
            folders = [path.folders[-depth] for path in paths]
            if 1 < len(places) == len(set(folders)):
                for place, path, folder in zip(places, paths, folders, strict=True):
                    above, slash, _ = str(files[place].target).rpartition("/")
                    stem = safe_name(f"{folder} - {path.stem}", longest=LONGEST_STEM)
                    found[place] = replace(files[place], target=with_extension(f"{above}{slash}{stem}", path.extension))
                break
    return found


def _without_twins(files: list[PlannedFile]) -> list[PlannedFile]:
    """Two files never get one name, nor names that one of the systems takes for the same."""
    by_name: dict[str, list[PlannedFile]] = defaultdict(list)
    for file in files:
        if file.target is not None:
            by_name[twin_key(file.target)].append(file)
    found: list[PlannedFile] = []
    for file in files:
        others = [other.path for other in by_name[twin_key(file.target)] if other is not file] if file.target else []
        found.append(
            replace(_asked(file, because(PlanReason.SAME_NAME, others=others)), target=None) if others else file
        )
    return found
