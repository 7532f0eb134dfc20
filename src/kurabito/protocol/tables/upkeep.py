"""The tables about the installation: checkpoints of SQLite's log, and the data planes that live."""

from __future__ import annotations

from typing import Final

from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.checkpoints import WAL, CheckpointMode, WalStatus
from kurabito.protocol.tables.table import LEASE, MOMENTS, Table

UPKEEP_TABLES: Final = (
    Table(
        "wal_maintenance_jobs",
        "Checkpoints that were asked for: SQLite's log is moved into its file. On PostgreSQL there are none.",
        {
            "id": "the checkpoint's id; at most one is pending, running or retryable",
            "requested_mode": "how thorough it has to be, in the words of `PRAGMA wal_checkpoint`",
            "reason": "why it was asked for: a code and facts as JSON",
            "status": "where it stands",
            "execute_after": "not before this moment",
            "retry_count": "how many attempts had to be given up",
            "retry_after": "not again before this moment, when it is retryable",
            "checkpoint_busy": "what SQLite said last: 1 when a reader or writer was in the way",
            "checkpoint_log_frames": "likewise: how many frames the log had; -1 when it could not be looked at",
            "checkpointed_frames": "likewise: how many of them are in the file now; -1 as above",
            "error_code": "why it failed or has to be done again: a code, see below",
            "error_message": "the same for people",
            **LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when the last attempt ended",
            **MOMENTS,
        },
        {"requested_mode": CheckpointMode, "status": WalStatus, "error_code": ErrorCode},
        WAL,
    ),
    Table(
        "protocol_version",
        "Which version of this protocol the database speaks: one row. Policy: a data plane only reads it.",
        {
            "id": "always 1",
            "major": "another one is another contract",
            "minor": "a larger one only adds",
            "updated_at": "when a migration wrote it; 0 for the first one",
        },
    ),
    Table(
        "data_planes",
        "The data planes that live. A row is believed until `expires_at`.",
        {
            "name": "the first half of what it writes to `worker_id`",
            "lines": "JSON list of the kinds of work it does",
            "version": "of the program",
            "protocol": "the version of this protocol that it speaks, as `major.minor`",
            "capabilities": "JSON list of what of the protocol it can do",
            "started_at": "when it began",
            "heartbeat_at": "when it last said that it lives",
            "expires_at": "until when that is believed",
        },
    ),
)
