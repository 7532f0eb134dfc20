"""Files of the folder for downloads that a person gives to a series: listed by a data plane, then placed into a library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from kurabito.catalog import series as catalog_series
from kurabito.catalog.series import Series
from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.filing import planner
from kurabito.placements.filing.destination import find_destination
from kurabito.placements.filing.planner import FilingDecision, Inspected, InspectedFile
from kurabito.placements.filing.show_facts import DownloadFacts, read_context
from kurabito.placements.imports.model import ImportedFile, ImportOrder, ImportPlace, ImportPlan
from kurabito.placements.plans import ListedFile, PlannedFile, plan_files
from kurabito.placements.plans.model import FileAction, FileClass
from kurabito.protocol.leased.inspections import InspectionKind
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.reasons import Reason
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.placements.imports", "arrivals.sql")
_WORDS: Final = {ReleaseKind.SPECIAL: "SP", ReleaseKind.OVA: "OVA "}


def request_list(conn: Connection, folder: str, name: str | None) -> int:
    """Have a data plane list the files of a folder, or look at one of them; the inspection."""
    values = {
        "kind": InspectionKind.ARRIVAL.value,
        "folder": folder,
        "paths": None if name is None else json.dumps([name], ensure_ascii=False),
    }
    found = int(conn.value(_SQL.request, values))
    conn.notify()
    return found


def status_of(conn: Connection, inspection_id: int) -> tuple[FilingStatus, str | None]:
    """How far an inspection is, and what is in its way."""
    row = conn.one(_SQL.status, {"id": inspection_id})
    if row is None:
        return FilingStatus.CANCELLED, None
    status, code = row
    return FilingStatus(status), code


def give_up(conn: Connection, inspection_id: int) -> None:
    """Have no data plane look at a folder any more; one that is at it finishes."""
    conn.run(_SQL.give_up, {"id": inspection_id})


def decide(conn: Connection, inspection_id: int, order: ImportOrder) -> tuple[ImportPlan, FilingDecision]:
    """What becomes of the files that a data plane found."""
    folder = conn.value(_SQL.folder, {"id": inspection_id})
    rows = conn.all(_SQL.files, {"id": inspection_id})
    inspected = Inspected(inspection_id, None, folder, tuple(InspectedFile(*row) for row in rows))
    series = catalog_series.find_current(conn, order.series_id)
    destination = find_destination(conn, series.id, series.metadata_id, series.kind.value)
    if isinstance(destination, Reason):
        return (
            ImportPlan(place=ImportPlace.DOWNLOADS, folder=folder, problem=destination),
            FilingDecision(inspected=inspected),
        )
    title = PurePosixPath(order.path).name
    context = read_context(conn, DownloadFacts(series, title, ()), destination)
    read_as = _as_said(inspected.files, order)
    plan = plan_files([ListedFile(name, file.size) for name, file in read_as.items()], context)
    planned = [replace(file, path=read_as[file.path].path) for file in plan.files]
    files = tuple(_imported(file, series) for file in planned)
    shown = ImportPlan(place=ImportPlace.DOWNLOADS, folder=folder, library_id=destination.library.id, files=files)
    filed = tuple(file for file in planned if file.action is FileAction.FILE and file.target is not None)
    return shown, FilingDecision(inspected=inspected, series_id=series.id, destination=destination, filed=filed)


def _as_said(files: Sequence[InspectedFile], order: ImportOrder) -> dict[str, InspectedFile]:
    """The files by the names that they are read by: of a single video that a person named, what was said."""
    if not order.episodes:
        return {file.path: file for file in files}
    if len(files) != 1:
        raise InvalidInput("episodes", f"can be said of one file only, and there are {len(files)}")
    extension = PurePosixPath(files[0].path).suffix
    numbers = "-".join(f"{number:02g}" for number in order.episodes)
    return {f"{_WORDS.get(order.kind, '')}{numbers}{extension}": files[0]}


def _imported(file: PlannedFile, series: Series) -> ImportedFile:
    keys = planner.episode_keys(file.work) if file.work is not None and file.file_class is FileClass.VIDEO else []
    return ImportedFile(
        path=file.path,
        size=file.size,
        action=file.action,
        reason=file.reason,
        target=file.target,
        episodes=tuple(HadEpisode(series.id, kind, number) for kind, number in keys),
    )
