"""Checkpoints of SQLite's log: asked for here, done by a data plane."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from kurabito.api.bodies import ShortText, StrictBody
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.maintenance.wal import CheckpointReason, WalJob, WalMaintenance
from kurabito.protocol.leased.checkpoints import CheckpointMode, WalStatus
from kurabito.reasons import Reason, in_other_words
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class CheckpointOrder(StrictBody):
    """A checkpoint that is asked for."""

    mode: CheckpointMode = Field(CheckpointMode.PASSIVE, strict=False, description="as SQLite calls it")
    reason: ShortText = Field("asked for", description="why; it is shown beside the checkpoint")
    force: bool = Field(False, description="even if the last one has only just ended")


class CheckpointAnswer(BaseModel):
    """A checkpoint at one moment. Times are UTC."""

    id: int
    mode: CheckpointMode
    reason: str
    why: WhyAnswer | None = Field(description="the reason as a code with facts")
    status: WalStatus
    execute_after: datetime
    retry_count: int = Field(description="how many attempts had to be given up")
    retry_after: datetime | None
    checkpoint_busy: int | None = Field(description="what SQLite said last: 1 when another connection was in the way")
    checkpoint_log_frames: int | None = Field(description="how many frames the log had")
    checkpointed_frames: int | None = Field(description="how many of them are in the file")
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    worker: str | None = Field(description="the data plane that has it, or had it last")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None = Field(description="when the last attempt ended")

    @classmethod
    def of(cls, job: WalJob) -> Self:
        values = {name: getattr(job, name) for name in cls.model_fields if name not in ("reason", "why")}
        return cls(**values, reason=sentence_of(job.reason) or "", why=WhyAnswer.of(job.reason))


class WalMetricsAnswer(BaseModel):
    """How SQLite's log is."""

    wal_bytes: int = Field(description="the size of the log's file")
    limit_bytes: int = Field(description="a checkpoint starts automatically above this size")
    counts: dict[WalStatus, int] = Field(description="the checkpoints that are remembered, by status")
    last_completed_at: datetime | None


def router(maintenance: WalMaintenance) -> Router:
    """The routes of the checkpoints."""
    routes = Router(prefix="/api/v1/maintenance/wal", tags=["system"])

    @routes.post("/checkpoint", status_code=202, responses=documented(409, 429, *WITH_BODY))
    async def request_checkpoint(order: CheckpointOrder) -> CheckpointAnswer:
        """Have SQLite's log moved into its file. One that is under way already is given instead of a second.

        409 when the log may not be truncated, and on PostgreSQL; 429 when the last one has only just ended.
        """
        is_given = "reason" in order.model_fields_set
        reason = in_other_words(CheckpointReason, order.reason) if is_given else Reason(CheckpointReason.ASKED)
        return CheckpointAnswer.of(await maintenance.request(order.mode, reason, force=order.force))

    @routes.get("/latest", responses=documented(404, 409))
    async def get_latest_checkpoint() -> CheckpointAnswer:
        """The checkpoint that was asked for last."""
        return CheckpointAnswer.of(await maintenance.latest())

    @routes.get("/metrics", responses=documented(409))
    async def get_wal_metrics() -> WalMetricsAnswer:
        """How large the log is, and how its checkpoints are doing."""
        found = await maintenance.metrics()
        return WalMetricsAnswer(
            wal_bytes=found.wal_bytes,
            limit_bytes=found.limit_bytes,
            counts=found.counts,
            last_completed_at=found.last_completed_at,
        )

    return routes
