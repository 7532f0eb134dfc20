"""Files that a library has already, given to the episodes of a series. Nothing on the disk changes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from kurabito.catalog import series
from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.library.libraries import Library
from kurabito.placements.adoption import store
from kurabito.placements.adoption.reading import HadEpisode, read_unit
from kurabito.placements.adoption.store import GivenBy
from kurabito.placements.adoption.units import LibraryVideo
from kurabito.placements.imports.model import ImportedFile, ImportOrder, ImportPlace, ImportPlan
from kurabito.placements.plans.model import FileAction
from kurabito.reasons import InputReason, refused

_SQL: Final = Queries("kurabito.placements.imports", "inside.sql")


def plan_inside(conn: Connection, library: Library, order: ImportOrder) -> ImportPlan:
    """Which episodes the files of an order are; raises InvalidInput when the library has none there."""
    inner = str(PurePosixPath(order.path).relative_to(library.path))
    inner = "" if inner == "." else inner
    values = {"library_id": library.id, "path": inner, "first": f"{inner}/" if inner else "", "beyond": f"{inner}0"}
    rows = conn.all(_SQL.below if inner else _SQL.whole, values)
    videos = [LibraryVideo(*row) for row in rows]
    if not videos:
        problem = f"the library {library.settings.name!r} knows no file there; scan it first"
        raise InvalidInput("path", problem, refused(InputReason.NOT_SCANNED, path=order.path))
    single = len(videos) == 1 and videos[0].path == inner
    folder = inner.rpartition("/")[0] if single else inner
    shown = series.find_current(conn, order.series_id)
    paths = {video.id: video for video in videos}
    if order.episodes:
        if len(videos) != 1:
            problem = f"can be said of one file only, and there are {len(videos)}"
            raise InvalidInput("episodes", problem, refused(InputReason.ONE_FILE))
        kind = order.kind_in(shown.kind)
        had = tuple(HadEpisode(shown.id, kind.value, number) for number in order.episodes)
        files = [ImportedFile(path=videos[0].path, size=videos[0].size, action=FileAction.FILE, episodes=had)]
    else:
        files = [
            ImportedFile(
                path=paths[found.file_id].path,
                size=paths[found.file_id].size,
                action=FileAction.FILE if found.episodes else FileAction.ASK,
                reason=found.reason,
                episodes=found.episodes,
            )
            for found in read_unit(conn, library.id, folder, videos, [shown])
        ]
    return ImportPlan(
        place=ImportPlace.LIBRARY,
        folder=str(library.path),
        library_id=library.id,
        files=tuple(files),
        file_ids={video.path: video.id for video in videos},
    )


def give_inside(conn: Connection, plan: ImportPlan) -> int:
    """Have the files be those of their episodes, because a person said so; how many there were."""
    given = [
        (plan.file_ids[file.path], [one for one in file.episodes if one.series_id is not None])
        for file in plan.importable
    ]
    store.give(conn, given, GivenBy.KEEPER)
    conn.notify()
    return len(given)
