"""What a library has already counts: the files of matched folders are given to their episodes. Nothing is moved or renamed.

Nothing becomes wanted by it: an episode that is made here is one whose file is there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kurabito.catalog import series as catalog_series
from kurabito.db import Connection, Queries
from kurabito.placements.filing.destination import AcceptingLibrary, Destination
from kurabito.placements.filing.planner import episode_keys
from kurabito.placements.filing.show_facts import DownloadFacts, read_context
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.plans import ListedFile, plan_files
from kurabito.placements.plans.model import FileAction, FileClass
from kurabito.protocol.enums import LibraryIntake

_SQL: Final = Queries("kurabito.placements.filing", "adoption.sql")


class MatchedFolder(NamedTuple):
    """A folder of a library, and the series that it was matched to."""

    match_id: int
    library_id: int
    folder: str
    series_id: int


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """A file, and an episode that it has."""

    file_id: int
    kind: str
    number: float


def due(conn: Connection) -> list[MatchedFolder]:
    """Folders that were matched, or scanned, since their files were last given to episodes."""
    return [MatchedFolder(*row) for row in conn.all(_SQL.due)]


def read_files(conn: Connection, matched: MatchedFolder) -> list[AdoptedFile]:
    """Which episodes the files of a folder have, as far as their names say it without doubt."""
    folder = matched.folder
    values = {"library_id": matched.library_id, "first": f"{folder}/", "beyond": f"{folder}0"}
    files = {path.removeprefix(f"{folder}/"): (found, size) for found, path, size in conn.all(_SQL.files, values)}
    series = catalog_series.find(conn, matched.series_id)
    library = AcceptingLibrary(matched.library_id, "", LibraryIntake.ANY, ())
    known = DownloadFacts(series, folder.rpartition("/")[2], ())
    context = read_context(conn, known, Destination(library=library, folder=folder))
    # Which file it is does not depend on what else is there, nor on how the library would name it.
    shows = tuple(replace(show, had={}) for show in context.shows)
    naming = replace(context.naming, numbering=NumberingScheme.ENTRY)
    listed = [ListedFile(path, size) for path, (_, size) in files.items()]
    plan = plan_files(listed, replace(context, shows=shows, naming=naming))
    return [
        AdoptedFile(files[file.path][0], kind, number)
        for file in plan.of(FileAction.FILE)
        if file.file_class is FileClass.VIDEO and file.work is not None and file.work.series_id == series.id
        for kind, number in episode_keys(file.work)
    ]


def adopt(conn: Connection, matched: MatchedFolder, files: list[AdoptedFile]) -> None:
    """Have the episodes of these files be had, and note that the folder was looked at."""
    rows = [{"file_id": one.file_id, "kind": one.kind, "number": one.number} for one in files]
    values = {"rows": json.dumps(rows), "series_id": matched.series_id}
    if rows:
        conn.run(_SQL.add_episodes, values)
        conn.run(_SQL.add_files, values)
        conn.run(_SQL.are_had, values)
    conn.run(_SQL.note, {"match_id": matched.match_id})
