"""What a program asks of placements: list them, try one again, resolve what is in the way."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final
from uuid import uuid4

from kurabito.db import Connection, Database
from kurabito.placements.errors import PlacementConflict
from kurabito.placements.filing import second_try, store
from kurabito.placements.filing.report import FilingReport, report_of
from kurabito.placements.filing.store import Placement
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before

_MOST_NAMES: Final = 100


class PlacementChoice(StrEnum):
    """What becomes of a file whose name another file has."""

    KEEP_BOTH = "keep_both"
    """It gets a name with a number behind it."""
    REPLACE = "replace"
    """It takes the place of that file, which goes to the trash."""
    LEAVE = "leave"
    """It is not filed, and stays where it is."""


class Placements:
    """The placements of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        *,
        status: FilingStatus | None = None,
        download_id: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Placement]:
        """Placements, the newest first."""
        before = id_before(cursor)

        def look(conn: Connection) -> list[Placement]:
            return store.page(conn, before=before, limit=limit + 1, status=status, download_id=download_id)

        return Page.cut(await self._database.read(look), limit, lambda last: str(last.id))

    async def report(self, download_id: int) -> FilingReport | None:
        """How far the filing of a download is; None when nothing was begun."""
        return await self._database.read(lambda conn: report_of(conn, download_id))

    async def retry(self, placement_id: int) -> Placement:
        """Try a placement again, now; raises PlacementNotFound, or PlacementConflict when it is under way or done."""

        def write(conn: Connection) -> Placement:
            found = store.find(conn, placement_id)
            store.list_again(conn, placement_id)
            if not second_try.begin(conn, [found]):
                raise PlacementConflict(f"placement {placement_id} is {found.status}; there is nothing to try again")
            conn.notify()
            return store.find(conn, placement_id)

        return await self._database.write(write)

    async def resolve(self, placement_id: int, choice: PlacementChoice) -> Placement:
        """Say what becomes of a file whose name is taken, or leave one that something else keeps out of its library.

        Raises PlacementNotFound, or PlacementConflict where there is no such choice.
        """

        def write(conn: Connection) -> Placement:
            found = store.find(conn, placement_id)
            is_taken = found.status is FilingStatus.FAILED and found.error_code is ErrorCode.TARGET_EXISTS
            if not is_taken and choice is not PlacementChoice.LEAVE:
                raise PlacementConflict(
                    f"no other file is in the way of placement {placement_id}, so there is no choice"
                )
            match choice:
                case PlacementChoice.LEAVE:
                    if found.error_code is None or not store.leave(conn, placement_id):
                        raise PlacementConflict(
                            f"placement {placement_id} is {found.status}, and nothing is in its way"
                        )
                case PlacementChoice.KEEP_BOTH:
                    store.retry(conn, placement_id, _free_name(conn, found))
                case PlacementChoice.REPLACE:
                    _replace(conn, found)
            conn.notify()
            return store.find(conn, placement_id)

        return await self._database.write(write)

    async def undo(self, placement_id: int) -> Placement:
        """Have the file back whose place another took, and that one in the trash; the placement that does so.

        Raises PlacementNotFound, or PlacementConflict when it took no place, or what it replaced is not in the trash any more.
        """

        def write(conn: Connection) -> Placement:
            store.find(conn, placement_id)
            made = store.undo(conn, placement_id, uuid4().hex)
            if made is None:
                raise PlacementConflict(
                    f"placement {placement_id} replaced no file that is still in the trash, or its own file is not there any more"
                )
            conn.notify()
            return store.find(conn, made)

        return await self._database.write(write)

    async def retry_failed(self) -> int:
        """Try every placement again that failed, and at once what waits for a disk or a path; how many failed."""

        def write(conn: Connection) -> int:
            found = store.failed_ids(conn)
            store.list_again(conn)
            second_try.begin(conn, [store.find(conn, placement_id) for placement_id in found])
            store.hurry(conn)
            conn.notify()
            return len(found)

        return await self._database.write(write)

    async def count_held_up(self, most: int) -> int:
        """How many files, and downloads whose files are not listed, wait for a disk or a path, up to so many."""
        return await self._database.read(lambda conn: store.count_held_up(conn, most))

    async def count_waiting(self, most: int) -> tuple[int, int]:
        """How many placements failed, and how many files are asked about, each up to so many."""
        return await self._database.read(
            lambda conn: (store.count_failed(conn, most), store.count_questions(conn, most))
        )


def _replace(conn: Connection, placement: Placement) -> None:
    facts = placement.error_facts
    if "size" not in facts or "mtime_ns" not in facts:
        raise PlacementConflict(f"what has the name of placement {placement.id} is no file that could be replaced")
    store.replace(conn, placement, size=facts["size"], mtime_ns=facts["mtime_ns"], trash_id=uuid4().hex)


def numbered(target_path: str, number: int) -> str:
    """The same name with a number behind it.

    >>> numbered("Show/Show S01E01.mkv", 2)
    'Show/Show S01E01 (2).mkv'
    """
    path = PurePosixPath(target_path)
    return str(path.with_name(f"{path.stem} ({number}){path.suffix}"))


def _free_name(conn: Connection, placement: Placement) -> str:
    for number in range(2, _MOST_NAMES):
        if store.is_free(conn, placement.library_id, name := numbered(placement.target_path, number)):
            return name
    raise PlacementConflict(
        f"{placement.target_path} has {_MOST_NAMES} files beside it already; move some of them first"
    )
