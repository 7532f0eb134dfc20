"""The core and data planes that file downloads, and die at a chosen moment: `{"url", "root", "moment", "act", "of"}`.

The act `plane` is a data plane, whose moments are these: a file is about to be linked, renamed or removed, a folder to be made or
removed, a block of a copy to be written; a transaction is about to be asked for, or was committed. Every other act is the core's: it is
done, and then everything is brought as far as the core alone can. Its moments are the statements of its transactions.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from moments import die_at, serve  # type: ignore[import-not-found]

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.dataplane.placing import copies
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.db import Connection, Database, open_database
from kurabito.placements.errors import PlacementConflict
from kurabito.placements.filing.loop import FilingLoop
from kurabito.placements.filing.service import Placements
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.renames.service import Renames
from kurabito.protocol.rights import DATA_PLANE

TOUCHES = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir"}


def work(url: str, root: str, moment: int, act: str, of: Any) -> None:
    is_plane = act == "plane"
    database = open_database(url, create=False, rights=DATA_PLANE if is_plane else None)
    if is_plane:
        die_between(moment)
        database.open()
        place(database)
    else:
        pass_by = die_at(moment)
        database.open()
        asyncio.run(decide(database, Path(root), act, of))
        pass_by()
    database.close()


def die_between(moment: int) -> None:
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(act: Callable[..., Any]) -> Callable[..., Any]:
        def before_and_after(*given: Any, **options: Any) -> Any:
            pass_by()
            answer = act(*given, **options)
            pass_by()
            return answer

        return before_and_after

    LeasedRow.write = watched(LeasedRow.write)  # type: ignore[method-assign]
    LeasedRow.settle = watched(LeasedRow.settle)  # type: ignore[method-assign]
    copies.write_all = watched(copies.write_all)
    copies._BLOCK = copies._CHUNK = 4096  # type: ignore[misc]
    sys.addaudithook(lambda event, _: pass_by() if event in TOUCHES else None)


def place(database: Database) -> None:
    works: tuple[LeasedWork[Any], ...] = (InspectionWork(), PlacementWork())
    for leased in works:
        runner: Runner[Any] = Runner(database, leased, name="plane", heartbeat=60.0)
        while runner.work():
            pass


async def decide(database: Database, root: Path, act: str, of: Any) -> None:
    # What was done before the process died is refused the second time.
    with suppress(PlacementConflict):
        match act:
            case "rename":
                await LibraryNaming(database).change(1, PRESETS[Preset(of)])
                await Renames(database).apply(1)
            case "undo renaming":
                await Renames(database).undo(of)
            case "undo replacement":
                await Placements(database).undo(of)
    loop = FilingLoop(database, root, reserve=0, refuse=refuse_nothing, picture=no_picture, note_placed=tell_nothing)
    while await loop.step():
        pass


def refuse_nothing(conn: Connection, download_id: int, files: Sequence[str]) -> None:
    raise AssertionError(f"download {download_id} has no programs, but {files}")


def no_picture(_url: str) -> None:
    return None


def tell_nothing(conn: Connection, placement_ids: Sequence[int]) -> None:
    """No media server listens here."""


serve(work)
