"""The tables about files on their way from a download into a library."""

from __future__ import annotations

from typing import Final

from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import INSPECTIONS
from kurabito.protocol.leased.placements import PLACEMENTS, PlacedBy, PlacementMode
from kurabito.protocol.leased.retries import RETRY_MEANINGS, FilingStatus
from kurabito.protocol.tables.table import LEASE, MOMENTS, Table

FILING_TABLES: Final = (
    Table(
        "inspections",
        "Folders that the control plane wants to know the files of. A data plane that does not see the folder leaves it to others.",
        {
            "id": "the inspection's id",
            "kind": "what is looked at: `arrival`, the files of a download that is complete; `media`, what is in some files of a library",
            "download_id": "the download whose files these are, of a batch the first",
            "folder": "the folder, absolute, as the core sees it; nothing above it is looked at",
            "paths": "JSON list of the files in it that are looked at, see *Paths*; NULL for everything below it",
            "status": "where it stands",
            **RETRY_MEANINGS,
            "file_count": "how many files were found",
            "total_bytes": "their sizes together",
            "planned_at": "when the control plane decided what becomes of them; NULL until then",
            **LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when it ended",
            **MOMENTS,
        },
        {"status": FilingStatus, "error_code": ErrorCode},
        INSPECTIONS,
    ),
    Table(
        "inspected_files",
        "The files that an inspection found: regular files only, no link is followed.",
        {
            "inspection_id": "the inspection",
            "position": "its place among them, in the order of the paths",
            "relative_path": "its path below the folder, see *Paths*",
            "size_bytes": "its size",
            "mtime_ns": "when its content was last changed, in nanoseconds",
            "inode": "its inode as a signed number of 64 bits",
            "device": "its device, likewise",
        },
    ),
    Table(
        "inspected_media",
        "What an inspection of the kind `media` read in files: one row for each that was there, and did not change meanwhile.",
        {
            "inspection_id": "the inspection",
            "relative_path": "the file, as `paths` names it",
            "size_bytes": "its size when it was read",
            "mtime_ns": "its mtime, likewise",
            "facts": "JSON object of what is in it, see *Inspections*; NULL when it could not be read",
            "error_code": "why it could not be read",
        },
        {"error_code": ErrorCode},
    ),
    Table(
        "placements",
        "Files on their way into a library: which file, where to, and how, as the control plane decided.",
        {
            "id": "the placement's id",
            "download_id": "the download that brought it; NULL when none did",
            "inspection_id": "the inspection that found it; NULL when none did",
            "library_id": "the library it goes into",
            "mode": "how it comes into its place",
            "fallbacks": "JSON list of modes that do as well, the best first, where `mode` is not possible",
            "source_root": "the folder that the source lies in, absolute; NULL for the library's own folder",
            "source_path": "the source, below that folder; NULL for `write`",
            "size_bytes": "its size",
            "source_mtime_ns": "its mtime when it was decided; NULL when that is not known",
            "target_path": "where it goes, below the library's folder, see *Paths*",
            "content": "what `write` writes",
            "reserve_bytes": "so much room stays free on the disk of the library",
            "replaces_path": "the file of the library whose place it takes, see *Paths*; NULL when it takes none's",
            "replaces_size_bytes": "the size of that file when it was decided",
            "replaces_mtime_ns": "its mtime, likewise",
            "trash_id": "the name that file gets in the trash: 32 hex digits",
            "is_placed": "1 when the file has its place already, and only the name of the source goes, see PLACE-12",
            "named_by": "what the control plane named it by",
            "renaming_id": "the renaming that it is part of; NULL when it is part of none",
            "status": "where it stands",
            **RETRY_MEANINGS,
            "method": "how it really came into its place, or is about to",
            "placed_device": "the device of the file that has the final name, or is about to get it",
            "placed_inode": "its inode, likewise",
            "placed_mtime_ns": "its mtime, likewise",
            "content_hash": "the BLAKE3 of its content, when a copy made one",
            "noted_at": "when the control plane noted that the file is in its place; NULL until then",
            **LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when it ended",
            **MOMENTS,
        },
        {"mode": PlacementMode, "status": FilingStatus, "method": PlacedBy, "error_code": ErrorCode},
        PLACEMENTS,
    ),
)
