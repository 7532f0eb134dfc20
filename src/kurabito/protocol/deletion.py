"""What a `delete` job is told, and what it writes down.

The payload of the job is one of

    {"plan": 7}                 take the steps of this plan; on a dry run only check them
    {"discard": [{…}, …]}       move these files to the trash, whether copies of them are there or not
    {"restore": ["5f…", …]}     put these entries of the trash back
    {"purge": ["5f…", …]}       remove these entries of the trash for good

Plans and their steps are the control plane's, and so is `deletion_policy`: while that does not allow it, no plan is taken and
nothing is purged, whatever jobs there are. `deletion_log` and `trash_entries` are the data plane's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

TRASH_FOLDER: Final = ".kurabito-trash"
"""Lies at the top of each file system below a library's folder. What is in it belongs to no library."""


class DeleteMode(StrEnum):
    """What becomes of a file that is not needed twice."""

    TRASH = "trash"
    """It is moved to the trash, and can be put back."""
    HARDLINK = "hardlink"
    """It becomes another name of the kept file."""
    REFLINK = "reflink"
    """It stays a file of its own and shares its blocks with the kept one, where the file system can do that."""


class LogAction(StrEnum):
    """What is done to a file."""

    TRASH = "trash"
    HARDLINK = "hardlink"
    REFLINK = "reflink"
    RESTORE = "restore"
    PURGE = "purge"


class LogState(StrEnum):
    """How far it is."""

    INTENT = "intent"
    """Written before the disk is touched: a worker that finds it later looks at the disk to see what had happened."""
    DONE = "done"
    REFUSED = "refused"
    """Nothing was changed; `error_code` says why."""
    CHECKED = "checked"
    """A dry run found that it could be done."""


class TrashExit(StrEnum):
    """How something left the trash."""

    RESTORED = "restored"
    PURGED = "purged"


MAY_REMOVE: Final = "EXISTS (SELECT 1 FROM deletion_policy WHERE allow_delete = 1)"
"""SQL: whether the keeper lets anything be removed. Where nothing is stored, nothing is."""

JOB_REMOVES: Final = """(jobs.kind = 'delete' AND jobs.dry_run = 0 AND jobs.payload NOT LIKE '{"restore"%')"""
"""SQL: whether a job removes something. What is not understood does."""

JOB_MAY_RUN: Final = f"(NOT {JOB_REMOVES} OR {MAY_REMOVE})"
"""SQL: whether a job may be claimed or taken up again."""

STEP_IS_STALE: Final = """
(file.id IS NULL OR file.is_missing = 1 OR file.needs_hash = 1 OR file.library_id <> step.library_id
 OR file.relative_path <> step.relative_path OR file.size_bytes <> step.size_bytes OR file.mtime_ns <> step.mtime_ns
 OR file.hash_algorithm IS NULL OR file.hash_algorithm <> step.hash_algorithm
 OR file.content_hash IS NULL OR file.content_hash <> step.content_hash)
"""
"""SQL: whether the `file` that a `step` removes is no longer the one that it was decided about."""

KEPT_IS_STALE: Final = """
(kept.id IS NULL OR kept.is_missing = 1 OR kept.needs_hash = 1 OR kept.library_id <> step.kept_library_id
 OR kept.relative_path <> step.kept_path OR kept.size_bytes <> step.size_bytes OR kept.mtime_ns <> step.kept_mtime_ns
 OR kept.hash_algorithm IS NULL OR kept.hash_algorithm <> step.hash_algorithm
 OR kept.content_hash IS NULL OR kept.content_hash <> step.content_hash)
"""
"""SQL: the same about the copy that it keeps."""
