"""The tables about what is deleted: what may be, what is planned, what was done, and what is in the trash."""

from __future__ import annotations

from typing import Final

from kurabito.protocol.deletion import DeleteMode, LogAction, LogState, TrashExit
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.tables.table import MOMENTS, Table

DELETION_TABLES: Final = (
    Table(
        "deletion_policy",
        "Whether anything may be removed. Policy: a data plane only reads it. Without a row nothing may.",
        {
            "id": "always 1",
            "allow_delete": "1 when plans may be taken and the trash may be purged; restores and dry runs always may",
            "updated_at": MOMENTS["updated_at"],
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
            "plan_id": "the plan that wants it; NULL for what is discarded, and for what is done to the trash",
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
        "What was moved to the trash. An entry has the id of the row of `deletion_log`, or the `trash_id` of the placement, that "
        "moved it.",
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
            "successor_path": "the file of the library that took its place; NULL when a plan or its keeper removed it",
            "is_discarded": "1 when its keeper deleted it: it is purged without another copy",
        },
        {"hash_algorithm": HashAlgorithm, "left_as": TrashExit},
    ),
)
