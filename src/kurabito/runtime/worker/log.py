"""What happened to tasks, as lines of the log: the same words and values as the events."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from kurabito.logs import get_logger
from kurabito.runtime.events import FACTS, Fact

_NAME: Final = "kurabito.runtime"
_log: Final = get_logger(_NAME)
_gate: Final = logging.getLogger(_NAME)

_LEVELS: Final = {
    "Enqueued": logging.DEBUG,
    "Started": logging.DEBUG,
    "Progressed": logging.DEBUG,
    "Succeeded": logging.DEBUG,
    "Cancelled": logging.INFO,
    "RetryScheduled": logging.INFO,
    "Failed": logging.WARNING,
    "Dead": logging.WARNING,
}


def log_events(name: str, facts: Sequence[Fact]) -> None:
    """Log each fact of a batch, after the move was stored."""
    level = _LEVELS[name]
    # Asked once for the whole batch: at full speed most of these lines are read by nobody.
    if not _gate.isEnabledFor(level):
        return
    own = FACTS[name]
    for task_id, task_type, *values in facts:
        _log.log(
            level, name, task_id=str(UUID(hex=task_id)), task_type=task_type, **dict(zip(own, values, strict=True))
        )
