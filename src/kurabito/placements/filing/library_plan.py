"""The plan for files that go into a library: in the folder of their show, spelled as the library spells it already.

For SMB and macOS names that differ in case or composition only are one name: of two such files one would be hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection
from kurabito.placements.filing.destination import Destination, in_folder, known_paths, spelling_of, top_folder_of
from kurabito.placements.filing.reasons import FilingReason
from kurabito.placements.filing.show_facts import DownloadFacts, read_context, read_show
from kurabito.placements.filing.show_folders import folder_for, season_of
from kurabito.placements.naming.spelling import Spelling
from kurabito.placements.plans import FilePlan, ListedFile, PlannedFile, plan_files
from kurabito.placements.plans.model import FileAction, FileRuling
from kurabito.reasons import Reason


@dataclass(frozen=True, slots=True)
class LibraryPlan:
    """What becomes of files, and the folder that their show has from now on."""

    destination: Destination
    plan: FilePlan

    @property
    def filed(self) -> tuple[PlannedFile, ...]:
        """What goes into the library."""
        return tuple(file for file in self.plan.of(FileAction.FILE) if file.target is not None)


def plan_into(
    conn: Connection,
    download: DownloadFacts,
    destination: Destination,
    listed: Sequence[ListedFile],
    said: Mapping[str, FileRuling],
) -> LibraryPlan | Reason[FilingReason]:
    """What becomes of the files, or why their show can have no folder."""

    def plan_for(place: Destination) -> LibraryPlan:
        context = replace(read_context(conn, download, place), said=said)
        return LibraryPlan(place, plan_files(listed, context))

    planned = plan_for(destination)
    folder = top_folder_of(file.target for file in planned.filed)
    if destination.folder is None and folder is not None:
        own = _own_folder(conn, download, destination, folder)
        if isinstance(own, Reason):
            return own
        place = in_folder(conn, destination.library, own)
        if own != folder or place.season_folders:
            planned = plan_for(place)
    paths = known_paths(conn, planned.destination.library.id, planned.destination.folder or folder)
    return replace(planned, plan=_spelled(planned.plan, paths))


def _own_folder(
    conn: Connection, download: DownloadFacts, destination: Destination, folder: str
) -> str | Reason[FilingReason]:
    library_id, series = destination.library.id, download.series
    if series.kind is not SeriesKind.TV:
        return spelling_of(conn, library_id, folder)
    return folder_for(conn, library_id, folder, season_of(series, read_show(conn, series)))


def _spelled(plan: FilePlan, paths: Iterable[str]) -> FilePlan:
    """The same plan, with every folder and file as the library has it where only the spelling differs."""
    spelling = Spelling(paths)
    files = tuple(
        file if file.target is None else replace(file, target=spelling.of(file.target)) for file in plan.files
    )
    return replace(plan, files=files)
