"""A placement that this process holds the lease of, with what is about to get its final name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from kurabito.dataplane.files.walk import signed
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.removal.file_refs import FileStamp
from kurabito.db import Connection, leases
from kurabito.db.leases import Columns, Given
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import (
    FINISH_COLUMNS,
    FINISH_VALUES,
    PLACED_COLUMNS,
    PLACED_VALUES,
    PlacedBy,
    PlacementMode,
)
from kurabito.protocol.leased.retries import FINISH, FilingStatus

LIBRARY: Final = "library"
SOURCE: Final = "source"
"""The folders that a placement is about, by these keys."""

_NOTHING: Final = (None,) * len(PLACED_VALUES)


@dataclass(frozen=True, slots=True, eq=False)
class MoreRow:
    """Another placement, claimed to be done together with others."""

    id: int
    owner: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MoreWanted:
    """Which placements are claimed to be done together."""

    only: str
    """The condition on them, in SQL."""
    params: Mapping[str, Any]
    most: int


class LeasedPlacement(LeasedRow):
    """The right to work on one placement."""

    progress_values: ClassVar[Given] = PLACED_VALUES
    progress_columns: ClassVar[Columns] = PLACED_COLUMNS
    _intent: tuple[Any, ...] | None = None

    @property
    def source_root(self) -> str:
        """The key of the folder that the source lies in."""
        return LIBRARY if self.values["source_root"] is None else SOURCE

    @property
    def is_written(self) -> bool:
        """Whether the row itself has the content, so that there is no source."""
        return bool(self.values["mode"] == PlacementMode.WRITE)

    @property
    def leaves_trash(self) -> bool:
        """Whether the source lies in the trash of the library, from where it comes back."""
        path = self.values["source_path"]
        return self.values["source_root"] is None and path is not None and TRASH_FOLDER in path.split("/")

    def progress(self) -> tuple[Any, ...]:
        """What is about to get the final name; what an earlier owner was about to give it, until then."""
        return self._intent or tuple(self.values[name] for name in PLACED_VALUES)

    def see_that_it_is_ours(self) -> None:
        """Renew the lease, or raise LeaseLost before the disk is touched."""
        self.write(lambda _: None)

    def intend(self, method: PlacedBy, seen: FileStamp, content_hash: bytes | None, *, durable: bool = True) -> None:
        """Write down which file is about to get the final name; raises LeaseLost when that is for another to do."""
        self._intent = (method.value, *_identity(seen), content_hash)
        self.write(lambda _: None, durable=durable)

    def claim_more(self, wanted: MoreWanted) -> list[MoreRow]:
        """Claim more placements, which are done at once: no thread keeps their leases."""
        return self._database.write_blocking(lambda conn: self._claim_more(conn, wanted))

    def intend_more(self, intents: Mapping[MoreRow, tuple[PlacedBy, FileStamp]]) -> set[MoreRow]:
        """Write down which files are about to get their final names; those whose rows are still ours."""
        rows = [(row.id, row.owner, method.value, *_identity(seen), None) for row, (method, seen) in intents.items()]

        def write(conn: Connection) -> set[MoreRow]:
            lost = leases.heartbeat(
                conn, self._spec, rows, lease=self._lease, given=PLACED_VALUES, columns=PLACED_COLUMNS
            )
            gone = {key for key, _ in lost}
            return {row for row in intents if row.id not in gone}

        return self._database.write_blocking(write, durable=False) if rows else set()

    def settle_more(
        self,
        rows: Sequence[MoreRow],
        placed: Mapping[MoreRow, tuple[PlacedBy, FileStamp]],
        record: Callable[[Connection, set[MoreRow]], None],
        wanted: MoreWanted | None,
    ) -> list[MoreRow]:
        """Write down which files are in their place, and give the other rows back, to be done in their turn.

        In the same transaction more are claimed; none when rows were given back, which would be claimed again.
        """
        done = FilingStatus.COMPLETED.value, None, None, None
        ended = [
            (row.id, row.owner, *done, method.value, *_identity(seen), None) for row, (method, seen) in placed.items()
        ]

        def write(conn: Connection) -> list[MoreRow]:
            lost = leases.finish(conn, self._spec, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)
            gone = {key for key, _ in lost}
            record(conn, {row for row in placed if row.id not in gone})
            left = [(row.id, row.owner) for row in rows if row not in placed]
            leases.release(conn, self._spec, left)
            return [] if left or wanted is None else self._claim_more(conn, wanted)

        return self._database.write_blocking(write)

    def _claim_more(self, conn: Connection, wanted: MoreWanted) -> list[MoreRow]:
        owner = leases.new_owner(self.owner.partition("#")[0])
        found = leases.claim(
            conn, self._spec, owner, lease=self._lease, limit=wanted.most, only=wanted.only, params=wanted.params
        )
        rows = [dict(zip(self._spec.returns, row, strict=True)) for row in found]
        return [MoreRow(values["id"], owner, values) for values in rows]

    def begun(self, seen: FileStamp) -> PlacedBy | None:
        """How an earlier owner brought this very file into its place; None when it did not."""
        values = self.values
        begun = values["placed_device"], values["placed_inode"], values["placed_mtime_ns"]
        if values["method"] is None or begun != _identity(seen) or seen.size != values["size_bytes"]:
            return None
        return PlacedBy(values["method"])

    def complete(
        self, method: PlacedBy, seen: FileStamp, content_hash: bytes | None, record: Callable[[Connection], None]
    ) -> None:
        """Write down that the file is in its place, and what follows from that."""
        self._intent = (method.value, *_identity(seen), content_hash)
        ended = (FilingStatus.COMPLETED.value, None, None, None, *self._intent)
        self.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS, record=record)

    def refuse(self, status: FilingStatus, code: ErrorCode, facts: dict[str, Any], delay: int | None) -> None:
        """Write down why the file is not in its place, and when that may have passed."""
        # What was made to take the place of another file is found again by what was intended.
        self._intent = self.progress() if self.values["replaces_path"] is not None else _NOTHING
        ended = (status.value, code.value, json.dumps(facts, ensure_ascii=False), delay, *self._intent)
        self.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)


def _identity(seen: FileStamp) -> tuple[int, int, int]:
    return signed(seen.device), signed(seen.inode), seen.mtime_ns
