"""Files of the folder for downloads that a person gives to a series: listed by a data plane, then placed into a library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath, PurePosixPath
from typing import Final

from kurabito.catalog import series as catalog_series
from kurabito.catalog.series import Series
from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.modules.path_maps import as_core_sees, path_maps
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.errors import ImportNotReady
from kurabito.placements.filing import planner
from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.arrivals import is_own_folder
from kurabito.placements.filing.destination import find_destination
from kurabito.placements.filing.library_plan import plan_into
from kurabito.placements.filing.planner import FilingDecision, Inspected, InspectedFile
from kurabito.placements.filing.show_facts import DownloadFacts
from kurabito.placements.imports.model import ImportedFile, ImportOrder, ImportPlace, ImportPlan
from kurabito.placements.plans import ListedFile, PlannedFile
from kurabito.placements.plans.model import FileClass, FileRuling, WorkKind
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import InspectionKind
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.reasons import InputReason, Reason, refused
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.placements.imports", "arrivals.sql")
KINDS: Final = {
    ReleaseKind.TV: WorkKind.EPISODE,
    ReleaseKind.SPECIAL: WorkKind.SPECIAL,
    ReleaseKind.OVA: WorkKind.SPECIAL,
    ReleaseKind.MOVIE: WorkKind.FILM,
}
_WORDS: Final = {ReleaseKind.SPECIAL: "SP", ReleaseKind.OVA: "OVA"}


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


def status_of(conn: Connection, inspection_id: int) -> tuple[FilingStatus, ErrorCode | None]:
    """How far an inspection is, and what is in its way."""
    row = conn.one(_SQL.status, {"id": inspection_id})
    if row is None:
        return FilingStatus.CANCELLED, None
    status, code = row
    return FilingStatus(status), None if code is None else ErrorCode(code)


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
    listed = [ListedFile(file.path, file.size) for file in inspected.files]
    said = _said(inspected.files, order, series)
    planned = plan_into(conn, DownloadFacts(series, title, ()), destination, listed, said)
    if isinstance(planned, Reason):
        return (
            ImportPlan(place=ImportPlace.DOWNLOADS, folder=folder, problem=planned),
            FilingDecision(inspected=inspected),
        )
    files = tuple(_imported(file, series) for file in planned.plan.files)
    shown = ImportPlan(place=ImportPlace.DOWNLOADS, folder=folder, library_id=destination.library.id, files=files)
    decision = FilingDecision(
        inspected=inspected, series_id=series.id, destination=planned.destination, filed=planned.filed
    )
    return shown, decision


def _said(files: Sequence[InspectedFile], order: ImportOrder, series: Series) -> dict[str, FileRuling]:
    """What a person said of a single video, whatever its name says."""
    if not order.episodes:
        return {}
    if len(files) != 1:
        problem = f"can be said of one file only, and there are {len(files)}"
        raise InvalidInput("episodes", problem, refused(InputReason.ONE_FILE))
    numbers, kind = order.episodes, order.kind_in(series.kind)
    if kind is not ReleaseKind.TV and len(numbers) > 1:
        problem = f"must be a single number of what is no regular episode, got {len(numbers)}"
        raise InvalidInput("episodes", problem, refused(InputReason.EPISODE))
    answer = FilingAnswer(
        choice=AnswerChoice.FILE,
        kind=KINDS[kind],
        episodes=tuple(int(number) if number.is_integer() else number for number in numbers),
        label=f"{_WORDS[kind]} {numbers[0]:g}" if kind in _WORDS else None,
    )
    answer.check()
    return {files[0].path: answer.said(series.id, series.title, series.season)}


def refuse_unfinished(conn: Connection, path: PurePath, root: PurePath) -> None:
    """Raises ImportNotReady where files are still being downloaded: they have their names already, and are not whole."""
    for module_id, save_path, title in conn.all(_SQL.unfinished):
        folder = as_core_sees(save_path, () if module_id is None else path_maps(conn, module_id))
        if not is_own_folder(folder, root):
            # The user's own torrents may share a folder: which files of it are theirs is not known before they are complete.
            continue
        if path.is_relative_to(folder) or folder.is_relative_to(path):
            raise ImportNotReady(f"{title!r} in {folder} is not downloaded completely; import it when it is")


def _imported(file: PlannedFile, series: Series) -> ImportedFile:
    work = file.work if file.file_class is FileClass.VIDEO else None
    keys = [] if work is None else planner.episode_keys(work)
    # A folder may have other seasons of the show, too.
    series_id = series.id if work is None or work.series_id is None else work.series_id
    return ImportedFile(
        path=file.path,
        size=file.size,
        action=file.action,
        reason=file.reason,
        target=file.target,
        episodes=tuple(HadEpisode(series_id, kind, number) for kind, number in keys),
    )
