"""`placements` as a leased table: files on their way into a library, as the control plane decided."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.protocol.leased import retries
from kurabito.protocol.leased.retries import filing_spec


class PlacementMode(StrEnum):
    """How a file comes into its place."""

    LINK = "link"
    """A hard link: one file with two names, so that its torrent goes on seeding."""
    REFLINK = "reflink"
    """A file of its own that shares its blocks with the source."""
    COPY = "copy"
    MOVE = "move"
    """The source is gone afterwards; only for what is not seeded any more."""
    RENAME = "rename"
    """Another name within the library."""
    WRITE = "write"
    """What the row itself has as `content`."""


class PlacedBy(StrEnum):
    """How a file really came into its place."""

    LINK = "link"
    REFLINK = "reflink"
    COPY = "copy"
    MOVE = "move"
    RENAME = "rename"
    WRITE = "write"
    FOUND = "found"
    """Another file with this content had the name already."""


PLACED_VALUES: Final = ("method", "placed_device", "placed_inode", "placed_mtime_ns", "content_hash")
"""Written before a file gets its final name, so that a successor knows what it finds there."""
PLACED_COLUMNS: Final = {name: f":{name}" for name in PLACED_VALUES}
FINISH_COLUMNS: Final = {**retries.finish_columns("placements"), **PLACED_COLUMNS}
FINISH_VALUES: Final = (*retries.FINISH_VALUES, *PLACED_VALUES)

PLACEMENTS: Final = filing_spec(
    "placements",
    found=PLACED_VALUES,
    renewed=PLACED_VALUES,
    returns=(
        "id",
        "library_id",
        "mode",
        "fallbacks",
        "source_root",
        "source_path",
        "size_bytes",
        "source_mtime_ns",
        "target_path",
        "content",
        "reserve_bytes",
        "replaces_path",
        "replaces_size_bytes",
        "replaces_mtime_ns",
        "trash_id",
        "is_placed",
        "tries",
        *PLACED_VALUES,
    ),
    types={
        "method": "text",
        "placed_device": "bigint",
        "placed_inode": "bigint",
        "placed_mtime_ns": "bigint",
        "content_hash": "bytea",
    },
)
