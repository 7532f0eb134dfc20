"""What a scenario leaves for the checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.journal import NotedWrite
from kurabito.conformance.surroundings import Surroundings
from kurabito.conformance.trees import Planted

Row = Mapping[str, Any]
Snapshot = Mapping[str, list[Row]]
"""The rows of every table of the protocol."""


@dataclass(slots=True)
class Recording:
    """Rows at named moments, every write of the plane, and what was on the disk."""

    moments: dict[str, Snapshot] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    """The number of the last write at each moment."""
    writes: list[NotedWrite] = field(default_factory=list)
    folders: dict[int, Path] = field(default_factory=dict)
    """The folder of each library."""
    planted: list[Planted] = field(default_factory=list)
    """What lay in the folder of the first library when it was scanned first."""
    seen: dict[str, Any] = field(default_factory=dict)
    """What the kit saw outside of the database, by name."""
    surroundings: list[Surroundings] = field(default_factory=list)
    """What is no business of a plane: before it was started, and at the end."""
    exit_code: int | None = None
    output: str = ""

    def rows(self, moment: str, table: str, **having: Any) -> list[Row]:
        """The rows of a table at a moment that have these values; raises NotApplicable when it did not come to that."""
        self._seq_at(moment)
        found = self.moments[moment][table]
        return [row for row in found if all(row[column] == value for column, value in having.items())]

    def files(self, moment: str, library: int = 1) -> dict[str, Row]:
        """The files of a library by their paths."""
        return {row["relative_path"]: row for row in self.rows(moment, "library_files", library_id=library)}

    def job(self, moment: str, name: str) -> Row:
        """A job by its id."""
        return self.rows(moment, "jobs", id=name)[0]

    def writes_to(self, *tables: str, after: str | None = None, before: str | None = None) -> Iterable[NotedWrite]:
        """What the plane wrote to some tables, between two moments; to the end when it did not come to the second one."""
        first = self._seq_at(after) if after else 0
        last = self.reached.get(before or "", 1 << 62)
        return (write for write in self.writes if write.table in tables and first < write.seq <= last)

    def _seq_at(self, moment: str) -> int:
        if moment not in self.reached:
            raise NotApplicable(f"the scenario did not come to the moment {moment!r}")
        return self.reached[moment]
