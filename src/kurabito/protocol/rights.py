"""What a data plane may write: the columns of the paths, its findings, and nothing that is policy.

A table that it may insert into holds no policy, because no database can say which columns of a new row were filled.
"""

from __future__ import annotations

from typing import Final

from kurabito.db.leases import LeaseSpec
from kurabito.db.rights import WriteRights
from kurabito.protocol.leased.jobs import JOBS
from kurabito.protocol.tables import TABLES

FINDINGS: Final = {
    "library_files": frozenset(
        {
            "relative_path",
            "size_bytes",
            "mtime_ns",
            "inode",
            "device",
            "shared_inode",
            "is_missing",
            "needs_hash",
            "edge_hash",
            "hash_algorithm",
            "content_hash",
            "hashed_size_bytes",
            "hashed_mtime_ns",
            "hashed_at",
            "hash_error_count",
            "hash_last_error",
            "hash_last_error_at",
            "hash_retry_after",
            "updated_at",
        }
    ),
    "scan_sessions": frozenset(
        {
            "status",
            "total_paths",
            "files_seen",
            "directories_seen",
            "bytes_seen",
            "added_count",
            "changed_count",
            "moved_count",
            "removed_count",
            "error_count",
            "resume_after",
            "error_code",
            "error_message",
            "finished_at",
        }
    ),
}
"""What the data plane found out about files; which library a file is in, and when it was first seen, it cannot change."""

_DELETION: Final = {
    "deletion_log": frozenset({"state", "error_code", "error_message", "finished_at"}),
    "trash_entries": frozenset({"library_id", "relative_path", "trash_path", "left_as", "left_at"}),
}
"""What became of what it was told to delete. Plans and their steps are not here: it cannot write them."""

_PRESENCE: Final = {
    "data_planes": frozenset({"lines", "version", "protocol", "capabilities", "heartbeat_at", "expires_at"})
}

LEASED: Final = tuple(table.lease for table in TABLES if table.lease is not None)
"""The tables that a data plane has leases on."""

_PATHS: Final = {spec.table: frozenset().union(*spec.writes.values()) for spec in LEASED}

_LIMITS: Final = {"io_rate_limits": frozenset({"next_available_at_ms", "updated_at"})}

CONFORMANCE_JOURNAL: Final = "conformance_writes"
"""A table in which triggers note what a data plane writes while it is examined. No other database has it."""

DATA_PLANE: Final = WriteRights(
    update={**_PATHS, **FINDINGS, **_DELETION, **_PRESENCE, **_LIMITS},
    insert=frozenset(
        {
            "library_files",
            "scan_sessions",
            "scan_findings",
            "deletion_log",
            "trash_entries",
            "inspected_files",
            "inspected_media",
            "data_planes",
            "io_rate_limits",
        }
    ),
    # A file that was moved has two rows for a moment; the new one goes and the old one keeps its hash. Of thumbnails only
    # those that are ready or failed go: a trigger keeps the others.
    delete=frozenset(
        {"library_files", "scan_findings", "inspected_files", "inspected_media", "data_planes", "thumbnails"}
    ),
    triggered=frozenset({"duplicate_groups", CONFORMANCE_JOURNAL}),
)

_POLICY: Final = frozenset({"protocol_version", "library_roots", "deletion_plans", "deletion_steps", "deletion_policy"})

READABLE: Final = _POLICY.union(
    {"hashed_files", "kurabito_migrations"},
    DATA_PLANE.update,
    DATA_PLANE.insert,
    DATA_PLANE.delete,
    DATA_PLANE.triggered - {CONFORMANCE_JOURNAL},
)
"""What a data plane reads: nothing about who may come in."""


def rights_of_path(path: str, spec: LeaseSpec = JOBS) -> WriteRights:
    """What one path may write of a leased table, and nothing else."""
    return WriteRights(update={spec.table: spec.writes[path]})
