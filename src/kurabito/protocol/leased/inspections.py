"""`inspections` as a leased table: folders that a data plane looks into for the control plane, which sees no disk."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.protocol.leased import retries
from kurabito.protocol.leased.retries import filing_spec


class InspectionKind(StrEnum):
    """What is looked at."""

    ARRIVAL = "arrival"
    """The files of a download that is complete."""
    MEDIA = "media"
    """Films and sound in a library: how long they are, and which tracks they have."""


MOST_INSPECTED: Final = 20_000
"""Files of one folder; with more of them nothing is listed."""

MOST_READ: Final = 50
"""Files that one inspection has read, so that a plane has few of them in hand at once."""

LONGEST_FACTS: Final = 1 << 16
"""Characters of the facts of one file; a plane that writes more is not believed."""

FOUND_VALUES: Final = ("file_count", "total_bytes")
FINISH_COLUMNS: Final = {**retries.finish_columns("inspections"), **{name: f":{name}" for name in FOUND_VALUES}}
FINISH_VALUES: Final = (*retries.FINISH_VALUES, *FOUND_VALUES)

INSPECTIONS: Final = filing_spec(
    "inspections",
    found=FOUND_VALUES,
    returns=("id", "kind", "folder", "paths", "tries"),
    types={"file_count": "integer", "total_bytes": "bigint"},
)
