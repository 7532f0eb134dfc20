"""The files of a library that have a name from us, and what they would be named by now."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kurabito.catalog import series as catalog_series
from kurabito.catalog.errors import SeriesNotFound
from kurabito.db import Connection, Queries
from kurabito.placements.errors import ValueUnknown
from kurabito.placements.filing.destination import above_season, season_folders
from kurabito.placements.filing.naming_facts import NamedBy, read_named_by
from kurabito.placements.filing.show_facts import NamedShow, read_show
from kurabito.placements.filing.show_folders import ShowSeason, season_of, told_apart
from kurabito.placements.naming.numbering import EntryNumbers, NumberingScheme, number_episodes, special_number
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.renames import FiledFile
from kurabito.placements.naming.targets import EXTRAS_FOLDER, series_folder
from kurabito.placements.naming.tokens import NameFacts, joined_titles
from kurabito.placements.plans.model import FileClass, WorkKind

_SQL: Final = Queries("kurabito.placements.renames", "renames.sql")


class NamedFile(NamedTuple):
    """A file that Kurabito put into a library."""

    path: str
    size: int
    mtime_ns: int
    named_by: str
    """As it is stored."""


def named_files(conn: Connection, library_id: int) -> dict[str, NamedFile]:
    """Those of a library that are still the files that were put there, by their paths."""
    rows = conn.all(_SQL.named, {"library_id": library_id})
    return {file.path: file for file in map(NamedFile._make, rows)}


def known_paths(conn: Connection, library_id: int) -> list[str]:
    """The paths of all files of a library."""
    return [path for (path,) in conn.all(_SQL.paths, {"library_id": library_id})]


def filed_files(
    conn: Connection, library_id: int, naming: NamingSettings, files: Mapping[str, NamedFile], paths: Iterable[str] = ()
) -> Iterator[FiledFile]:
    """The same files with what a naming needs: titles and numbers as they are known now; with all `paths` of the library, also its folders."""
    others = sorted(path for path in paths if path not in files)
    shows = _Shows(conn, library_id, others, with_titles=naming.uses("episode_title"))
    named = {file.path: read_named_by(file.named_by) for file in files.values()}
    shows.tell_apart(naming, {by.work.series_id for by in named.values() if by.work.kind is not WorkKind.FILM})
    for path, by in named.items():
        yield filed_file(path, by, naming, shows.of(by.work.series_id))


def filed_file(path: str, by: NamedBy, naming: NamingSettings, show: OpenShow | None = None) -> FiledFile:
    """A file as a naming sees it: by what it was named, and by what is known of its series now."""
    facts = _facts(by, show, naming)
    return FiledFile(
        path,
        facts,
        is_film=by.work.kind is WorkKind.FILM,
        tag=by.tag,
        folder=None if show is None else show.folder,
        season_folder=None if show is None or facts.season is None else show.season_folders.get(facts.season),
        part=by.work.part,
        is_extra=by.file_class is FileClass.EXTRA or _lies_among_extras(path),
    )


def _lies_among_extras(path: str) -> bool:
    """Whether it has the name of an extra: also a subtitle of one, which is no subtitle of an episode or a film."""
    return path.rpartition("/")[0].rpartition("/")[2] == EXTRAS_FOLDER


@dataclass(frozen=True, slots=True)
class OpenShow:
    """A series whose files are in a library."""

    named: NamedShow
    folder: str | None
    """The folder that the user has it in, which keeps its name; or the one that tells it from another show of its name."""
    season_folders: Mapping[int, str]
    """Folders of seasons in which the user has files; they keep their names, too."""


class _Shows:
    """The series of a library, each read once."""

    def __init__(self, conn: Connection, library_id: int, others: Sequence[str], *, with_titles: bool) -> None:
        self._conn = conn
        self._others = others
        self._with_titles = with_titles
        self._folders = _own_folders(conn, library_id)
        self._places: dict[int, str] = dict(conn.all(_SQL.places, {"library_id": library_id}))
        self._seasons: dict[int, ShowSeason] = {}
        self._known: dict[int, OpenShow | None] = {}

    def of(self, series_id: int | None) -> OpenShow | None:
        if series_id is None:
            return None
        if series_id not in self._known:
            self._known[series_id] = self._read(series_id)
        return self._known[series_id]

    def tell_apart(self, naming: NamingSettings, series_ids: Iterable[int | None]) -> None:
        """Give shows of one name folders of their own."""
        told = []
        for series_id in series_ids:
            show = self.of(series_id)
            if series_id is not None and show is not None and show.folder is None:
                # A folder that needs what is not known is refused where its files are named.
                with suppress(ValueUnknown):
                    told.append((series_folder(naming, show.named.facts), self._seasons[series_id]))
        for series_id, folder in told_apart(told).items():
            if (show := self._known[series_id]) is not None:
                self._known[series_id] = replace(show, folder=folder)

    def _read(self, series_id: int) -> OpenShow | None:
        try:
            series = catalog_series.find(self._conn, series_id)
        except SeriesNotFound:
            return None
        named = read_show(self._conn, series, with_titles=self._with_titles)
        self._seasons[series_id] = season_of(series, named, self._places.get(series_id))
        folder = self._folders.get(series_id)
        if folder is None:
            return OpenShow(named, None, {})
        # The character after the slash ends what lies below the folder.
        inside = slice(bisect_left(self._others, f"{folder}/"), bisect_left(self._others, f"{folder}0"))
        return OpenShow(named, folder, season_folders(self._others[inside], folder))


def _own_folders(conn: Connection, library_id: int) -> dict[int, str]:
    """The folder of each series that has one. Folders of its seasons, such as one that was made by filing, are in it."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for series_id, folder in conn.all(_SQL.own_folders, {"library_id": library_id}):
        found[series_id].add(above_season(folder) or folder)
    return {series_id: folders.pop() for series_id, folders in found.items() if len(folders) == 1}


def _facts(by: NamedBy, show: OpenShow | None, naming: NamingSettings) -> NameFacts:
    work, release = by.work, by.release
    known = NameFacts(title=work.title, year=work.year) if show is None else show.named.facts
    season, episodes, absolute = _numbers(by, show, naming)
    return known._replace(
        season=season,
        episode=episodes,
        absolute=absolute,
        special=work.label,
        group=release.group,
        resolution=release.resolution,
        source=release.source,
        version=release.version if release.version > 1 else None,
        original=by.original,
        episode_title=None if show is None else joined_titles(show.named.titles, work.episodes),
    )


def _numbers(
    by: NamedBy, show: OpenShow | None, naming: NamingSettings
) -> tuple[int | None, tuple[int, ...], tuple[int, ...]]:
    """Season, number and absolute number as the library counts; nothing where that is not known."""
    work = by.work
    if show is None or by.is_other_season:
        entry = EntryNumbers(season=work.season or 1, before=0 if show is None else None)
    else:
        entry = show.named.numbers
    if work.kind is WorkKind.SPECIAL:
        number = special_number(work.label or "", entry)
        return 0, () if number is None else (number,), ()
    numbers = tuple(int(number) for number in work.episodes)
    if by.is_numbered:
        return work.season, numbers, numbers
    has_record = show is not None and show.named.has_tmdb
    is_own = naming.numbering is NumberingScheme.TMDB and not has_record
    found = number_episodes(numbers, NumberingScheme.ENTRY if is_own else naming.numbering, entry)
    return (None, (), ()) if found is None else (found.season, found.episodes, found.absolute)
