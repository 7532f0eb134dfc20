"""A placement that this process holds the lease of, with what is about to get its final name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, Final

from kurabito.dataplane.files.walk import signed
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.removal.file_refs import FileStamp
from kurabito.db import Connection
from kurabito.db.leases import Columns, Given
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import (
    FINISH_COLUMNS,
    FINISH_VALUES,
    PLACED_COLUMNS,
    PLACED_VALUES,
    PlacedBy,
)
from kurabito.protocol.leased.retries import FINISH, FilingStatus

LIBRARY: Final = "library"
SOURCE: Final = "source"
"""The folders that a placement is about, by these keys."""

_NOTHING: Final = (None,) * len(PLACED_VALUES)


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
