"""The tables of the protocol, told column by column: what `docs/protocol.md` is written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.db.leases import LeaseSpec
from kurabito.protocol.deletion import DeleteMode, LogAction, LogState, TrashExit
from kurabito.protocol.enums import (
    CleanupStatus,
    HashAlgorithm,
    HashPolicy,
    JobKind,
    JobStatus,
    MediaType,
    ScanFinding,
    ScanStatus,
    ThumbnailFormat,
    ThumbnailStatus,
)
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.checkpoints import WAL, CheckpointMode, WalStatus
from kurabito.protocol.leased.jobs import JOBS
from kurabito.protocol.leased.thumbnails import CLEANUPS, THUMBNAILS


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the protocol."""

    name: str
    purpose: str
    columns: Mapping[str, str]
    """What each column means, in the order in which they are told."""
    values: Mapping[str, type[StrEnum]] = field(default_factory=dict)
    """The legal values of its enum-like columns."""
    lease: LeaseSpec | None = None


_MOMENTS: Final = {"created_at": "when the row was made", "updated_at": "when it was last written"}
_LEASE: Final = {
    "worker_id": "the owner: `name#token`, the token made anew at each claim",
    "worker_heartbeat_at": "when the owner last wrote",
    "lease_expires_at": "until when the owner has it",
}

TABLES: Final = (
    Table(
        "library_roots",
        "The libraries. Policy: a data plane reads them and never writes them.",
        {
            "id": "the library's id",
            "name": "what the keeper calls it",
            "root_path": "its folder, absolute",
            "scan_interval": "microseconds between scans that nobody asked for; NULL for none",
            "next_scan_at": "when the next of those is due",
            "watched": "1 when changes of its files are to be noticed as they happen",
            "algorithm": "how its files are hashed",
            "hash_policy": "which of its files are hashed: `candidates`, those that share their size with another, or `all`",
            "ignored": "JSON list of patterns that a scan passes over",
            "last_scanned_at": "when the last scan ended well",
            "removing_since": "since when it is being removed; no job is made for it any more",
            "created_at": _MOMENTS["created_at"],
            "updated_at": "when the keeper last changed any of this; scans and their schedule leave it alone",
        },
        {"algorithm": HashAlgorithm, "hash_policy": HashPolicy},
    ),
    Table(
        "jobs",
        "Units of disk work. The control plane makes them, a data plane claims, does and ends them.",
        {
            "id": "a UUID as text",
            "kind": "what is to be done",
            "status": "where it stands",
            "library_id": "the library it is about",
            "task_id": "the task of the control plane that wants it",
            "dry_run": "1 when nothing may be changed on the disks",
            "payload": "JSON object with what else the kind needs",
            "total_items": "how many items there are, when that is known beforehand",
            "processed_items": "how many items are done",
            "progress": "how much of it is done, from 0 to 1",
            "error_code": "why it failed or has to be done again: a code, see below",
            "error_message": "the same for people",
            "lost_leases": "how many workers were lost on it; the control plane counts",
            **_LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when it ended",
            **_MOMENTS,
        },
        {"kind": JobKind, "status": JobStatus, "error_code": ErrorCode},
        JOBS,
    ),
    Table(
        "scan_sessions",
        "One row for each scan: how far it came, and what it found. A scan that is taken up again goes on with its row.",
        {
            "id": "the session's id",
            "job_id": "the job it belongs to",
            "library_id": "the library that is scanned",
            "status": "where it stands",
            "total_paths": "how many entries are expected; NULL while nobody knows",
            "files_seen": "files so far",
            "directories_seen": "folders so far",
            "bytes_seen": "the sizes of those files together",
            "added_count": "files that were not known",
            "changed_count": "files that are not as they were",
            "moved_count": "files that are known under another path",
            "removed_count": "files that are not there any more",
            "error_count": "files and folders that could not be looked at",
            "resume_after": "everything up to this path is stored: here a successor goes on",
            "error_code": "why it failed",
            "error_message": "the same for people",
            "started_at": "when it began",
            "finished_at": "when it ended",
        },
        {"status": ScanStatus, "error_code": ErrorCode},
    ),
    Table(
        "scan_findings",
        "What a scan noted and decides about at its end: only then it is known whether a file was moved or is gone.",
        {"session_id": "the scan", "finding": "what was noted", "file_id": "about which file"},
        {"finding": ScanFinding},
    ),
    Table(
        "library_files",
        "Every file that was ever seen, as it was when it was last looked at.",
        {
            "id": "the file's id; it stays when the file is moved",
            "library_id": "the library it is in",
            "relative_path": "its path below the library's folder, see *Paths*",
            "size_bytes": "its size",
            "mtime_ns": "when its content was last changed, in nanoseconds",
            "inode": "its inode as a signed number of 64 bits",
            "device": "its device, likewise",
            "shared_inode": "the inode of the file whose blocks it uses, when a plan made it share them; else NULL",
            "is_missing": "1 when the last whole scan did not see it",
            "needs_hash": "1 when its content has to be hashed",
            "edge_hash": "a sample of its beginning and end; decides what is worth reading whole, never what is equal",
            "hash_algorithm": "how `content_hash` was made",
            "content_hash": "32 bytes; NULL when it was not hashed",
            "hashed_size_bytes": "its size when it was hashed",
            "hashed_mtime_ns": "its mtime when it was hashed",
            "hashed_at": "when it was hashed",
            "hash_error_count": "how often reading it failed",
            "hash_last_error": "why it failed last",
            "hash_last_error_at": "when that was",
            "hash_retry_after": "before this moment it is not tried again",
            **_MOMENTS,
        },
        {"hash_algorithm": HashAlgorithm},
    ),
    Table(
        "duplicate_groups",
        "One row for each content that was hashed. Triggers on `library_files` keep it; nobody else writes it.",
        {
            "hash_algorithm": "how it was hashed",
            "content_hash": "the hash",
            "file_count": "how many files have it, over the rows of the view `hashed_files`",
            "total_size_bytes": "their sizes together",
            "copies": "how many of them are neither hard links of one another nor share their blocks",
        },
        {"hash_algorithm": HashAlgorithm},
    ),
    Table(
        "deletion_policy",
        "Whether anything may be removed. Policy: a data plane only reads it. Without a row nothing may.",
        {
            "id": "always 1",
            "allow_delete": "1 when plans may be taken and the trash may be purged; restores and dry runs always may",
            "updated_at": _MOMENTS["updated_at"],
        },
    ),
    Table(
        "deletion_plans",
        "What is to be deleted, decided and shown before anything is touched. Policy: a data plane only reads it.",
        {
            "id": "the plan's id",
            "mode": "what becomes of the files that are not needed twice",
            "rules": "JSON object of the rules that chose what is kept",
            "group_count": "how many groups of duplicates it is about",
            "file_count": "how many files it removes",
            "freed_bytes": "how much room that makes",
            "is_complete": "1 when all its steps are written",
            "created_at": "when it was made",
            "applied_at": "when it was ordered; NULL while it is only shown",
            "job_id": "the job that takes its steps",
        },
        {"mode": DeleteMode},
    ),
    Table(
        "deletion_steps",
        "One row for each file that a plan removes, as it and the copy that stays were when that was decided. Policy likewise.",
        {
            "plan_id": "the plan",
            "position": "its place in the plan; steps are taken in this order",
            "file_id": "the file that goes",
            "library_id": "its library",
            "relative_path": "its path",
            "size_bytes": "its size, and that of the copy that stays",
            "mtime_ns": "its mtime",
            "hash_algorithm": "how both were hashed",
            "content_hash": "the hash that both have",
            "kept_file_id": "the copy that stays",
            "kept_library_id": "its library",
            "kept_path": "its path",
            "kept_mtime_ns": "its mtime",
            "reason": "why the one stays and the other goes, as a code",
        },
        {"hash_algorithm": HashAlgorithm},
    ),
    Table(
        "deletion_log",
        "What a data plane is about to do to a file, written before it is done, and what became of it.",
        {
            "id": "a UUID as hex digits",
            "job_id": "the job that does it",
            "plan_id": "the plan that wants it; NULL for what is done to the trash",
            "position": "which step of the plan, or which entry of the payload",
            "action": "what is done",
            "state": "how far it is",
            "library_id": "the library of the file",
            "relative_path": "the file",
            "kept_library_id": "the library of the copy that stays",
            "kept_path": "that copy",
            "trash_path": "where in the trash the file comes to lie, below the library's folder",
            "error_code": "why it was refused",
            "error_message": "the same for people",
            "created_at": "when the intent was written",
            "finished_at": "when it was known what became of it",
        },
        {"action": LogAction, "state": LogState, "error_code": ErrorCode},
    ),
    Table(
        "trash_entries",
        "What was moved to the trash. An entry has the id of the row of `deletion_log` that moved it.",
        {
            "id": "the entry's id",
            "file_id": "the file it was",
            "library_id": "its library",
            "relative_path": "its path before",
            "trash_path": "where it lies, below the library's folder",
            "size_bytes": "its size",
            "hash_algorithm": "how it was hashed",
            "content_hash": "its hash",
            "trashed_at": "when it was moved there",
            "left_as": "how it left the trash",
            "left_at": "when it did; NULL while it is there",
        },
        {"hash_algorithm": HashAlgorithm, "left_as": TrashExit},
    ),
    Table(
        "thumbnails",
        "Pictures of files. The control plane admits a row with all that decides what is drawn and where; a data plane draws it.",
        {
            "id": "the thumbnail's id",
            "thumb_key": "names what it shows and how: a file that changed has another key",
            "file_id": "the file that it is a picture of",
            "group_key": "which thumbnails go together when they are removed",
            "media_type": "what it is drawn from",
            "format": "how it is encoded",
            "max_dimension": "the longer side has at most so many pixels, from 16 to 4096; nothing is made larger than it is",
            "source_size_bytes": "the size of the file that was meant; one of another size is not drawn",
            "source_mtime_ns": "its mtime likewise",
            "output_path": "where the picture goes, below `thumbs` in the state folder; rules as for `relative_path`",
            "status": "where it stands",
            "width": "of the picture",
            "height": "of the picture",
            "bytes_size": "its size as a file",
            "error_code": "why it failed",
            "error_message": "the same for people",
            "error_count": "how often it failed, or its worker was lost, since it was last ready",
            "retry_after": "before this moment the control plane does not ask again",
            **_LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when it ended",
            **_MOMENTS,
        },
        {
            "media_type": MediaType,
            "format": ThumbnailFormat,
            "status": ThumbnailStatus,
            "error_code": ErrorCode,
        },
        THUMBNAILS,
    ),
    Table(
        "thumbnail_cleanup_jobs",
        "Groups whose thumbnails are to be removed: rows that are ready or failed, and their files. At most one for a group waits or runs.",
        {
            "id": "the id",
            "group_key": "the group",
            "status": "where it stands",
            "execute_after": "before this moment it is not begun",
            "error_code": "why it failed",
            "error_message": "the same for people",
            **_LEASE,
            "finished_at": "when it ended",
            **_MOMENTS,
        },
        {"status": CleanupStatus, "error_code": ErrorCode},
        CLEANUPS,
    ),
    Table(
        "io_rate_limits",
        "When the next read may begin, for everybody who reads under the same limit. The limit itself is a setting.",
        {
            "bucket_key": "which limit; there is one, `thumbnail_io_global`",
            "next_available_at_ms": "when, in milliseconds since the epoch",
            **_MOMENTS,
        },
    ),
    Table(
        "wal_maintenance_jobs",
        "Checkpoints that were asked for: SQLite's log is moved into its file. On PostgreSQL there are none.",
        {
            "id": "the checkpoint's id; at most one is pending, running or retryable",
            "requested_mode": "how thorough it is to be, in the words of `PRAGMA wal_checkpoint`",
            "reason": "why it was asked for: a code and facts as JSON",
            "status": "where it stands",
            "execute_after": "not before this moment",
            "retry_count": "how many attempts had to be given up",
            "retry_after": "not again before this moment, when it is retryable",
            "checkpoint_busy": "what SQLite said last: 1 when somebody was in the way",
            "checkpoint_log_frames": "likewise: how many frames the log had; -1 when it could not be looked at",
            "checkpointed_frames": "likewise: how many of them are in the file now; -1 as above",
            "error_code": "why it failed or has to be done again: a code, see below",
            "error_message": "the same for people",
            **_LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when the last attempt ended",
            **_MOMENTS,
        },
        {"requested_mode": CheckpointMode, "status": WalStatus, "error_code": ErrorCode},
        WAL,
    ),
    Table(
        "data_planes",
        "The data planes that live. A row is believed until `expires_at`.",
        {
            "name": "the first half of what it writes to `worker_id`",
            "lines": "JSON list of the kinds of work it does",
            "version": "of the program",
            "started_at": "when it began",
            "heartbeat_at": "when it last said that it lives",
            "expires_at": "until when that is believed",
        },
    ),
)
