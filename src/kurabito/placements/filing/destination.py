"""Which library a series goes into, and which folder of it: the one that it has, else the one that was chosen for it,
else the only one that takes its kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.library.folders import top_folders
from kurabito.placements.filing.reasons import FilingReason, because
from kurabito.placements.naming.safe_names import twin_key
from kurabito.placements.plans.folders import FolderKind, read_folder
from kurabito.protocol.enums import LibraryIntake, LibraryUpgrades
from kurabito.protocol.leased.placements import PlacementMode
from kurabito.reasons import Reason

_SQL: Final = Queries("kurabito.placements.filing", "destination.sql")
_MOST_PATHS: Final = 5000


@dataclass(frozen=True, slots=True)
class AcceptingLibrary:
    """A library, as far as it matters for what is filed into it."""

    id: int
    name: str
    accepts: LibraryIntake
    modes: tuple[PlacementMode, ...]
    upgrades: LibraryUpgrades = LibraryUpgrades.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where the files of a series go."""

    library: AcceptingLibrary
    folder: str | None = None
    """The folder that it has already; None where it has none."""
    season_folders: Mapping[int, str] = field(default_factory=dict)


def find_destination(
    conn: Connection, series_id: int, metadata_id: int | None, kind: str, chosen: int | None = None
) -> Destination | Reason[FilingReason]:
    """Where the files of a series go, or why a person has to say; `chosen` is the library that one said."""
    known = {library.id: library for library in _libraries(conn)}
    values = {"series_id": series_id, "metadata_id": metadata_id}
    for library_id, folder in conn.all(_SQL.folders, values):
        if (library := known.get(library_id)) is not None and library.accepts is not LibraryIntake.NOTHING:
            return in_folder(conn, library, above_season(folder) or folder)
    if chosen in known:
        return Destination(library=known[chosen])
    for_the_show = known.get(conn.value(_SQL.chosen, {"series_id": series_id}) or 0)
    if for_the_show is not None and for_the_show.accepts is not LibraryIntake.NOTHING:
        return Destination(library=for_the_show)
    # A library of films alone is meant for them, though another one takes everything.
    fitting = [library for library in known.values() if library.accepts == kind] or [
        library for library in known.values() if library.accepts is LibraryIntake.ANY
    ]
    if len(fitting) == 1:
        return Destination(library=fitting[0])
    if not fitting:
        return because(FilingReason.NO_LIBRARY, kind=kind)
    return because(FilingReason.SEVERAL_LIBRARIES, kind=kind, libraries=[library.name for library in fitting])


def intakes(conn: Connection) -> dict[int, LibraryIntake]:
    """What each library takes, by its id."""
    return {library.id: library.accepts for library in _libraries(conn)}


def remember(conn: Connection, series_id: int, library_id: int, folder: str) -> None:
    """Have a series lie in this folder from now on; the first one stays."""
    conn.run(_SQL.remember, {"series_id": series_id, "library_id": library_id, "folder": folder})


def forget_empty(conn: Connection, series_id: int) -> None:
    """Have another folder be chosen for a series that nothing came into its folder of."""
    row = conn.one(_SQL.place, {"series_id": series_id})
    if row is not None and not known_paths(conn, *row):
        conn.run(_SQL.forget, {"series_id": series_id})


def modes_of(conn: Connection, library_id: int) -> tuple[PlacementMode, ...]:
    """How files come into a library, the best first; none of one that is being removed."""
    return next((library.modes for library in _libraries(conn) if library.id == library_id), ())


def spelling_of(conn: Connection, library_id: int, folder: str) -> str:
    """A folder as the library spells it already, where that differs in case or composition only: for many systems it is the same."""
    same = twin_key(folder)
    places = (place.partition("/")[0] for (place,) in conn.all(_SQL.places, {"library_id": library_id}))
    alike = {name for name in (*top_folders(conn, library_id, _MOST_PATHS), *places) if twin_key(name) == same}
    return folder if folder in alike or not alike else min(alike)


def season_folders(paths: Sequence[str], folder: str) -> dict[int, str]:
    """The folders that seasons have below the folder of a show, by the paths of its files."""
    inner = {
        path.removeprefix(f"{folder}/").partition("/")[0] for path in paths if path.count("/") > folder.count("/") + 1
    }
    found: dict[int, str] = {}
    for name in sorted(inner):
        facts = read_folder(name)
        if facts.kind is FolderKind.SEASON and facts.season is not None:
            found.setdefault(facts.season, name)
    return found


def above_season(folder: str) -> str | None:
    """The folder of the show, where what was matched is one season of a show that has folders for them; else None."""
    above, slash, last = folder.rpartition("/")
    return above if slash and read_folder(last).kind is FolderKind.SEASON else None


def in_folder(conn: Connection, library: AcceptingLibrary, folder: str) -> Destination:
    """A folder of a library, with the folders that seasons have in it."""
    paths = known_paths(conn, library.id, folder)
    return Destination(library=library, folder=folder, season_folders=season_folders(paths, folder))


def known_paths(conn: Connection, library_id: int, folder: str | None) -> list[str]:
    """The paths of the files below a folder; none without one."""
    if folder is None:
        return []
    values = {"library_id": library_id, "first": f"{folder}/", "beyond": f"{folder}0", "most": _MOST_PATHS}
    return [path for (path,) in conn.all(_SQL.paths, values)]


def top_folder_of(targets: Iterable[str | None]) -> str | None:
    """The folder that all of these lie in; None where they lie in the library itself, or in several."""
    folders = {target.partition("/")[0] for target in targets if target is not None and "/" in target}
    return folders.pop() if len(folders) == 1 else None


def _libraries(conn: Connection) -> list[AcceptingLibrary]:
    return [
        AcceptingLibrary(
            found,
            name,
            LibraryIntake(accepts),
            tuple(PlacementMode(mode) for mode in json.loads(modes)),
            LibraryUpgrades(upgrades),
        )
        for found, name, accepts, modes, upgrades in conn.all(_SQL.libraries)
    ]
