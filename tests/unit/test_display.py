"""How the command line shows what happens."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from kurabito.cli.display import event_as_json, event_line
from kurabito.runtime.events import EVENTS, TaskEvent

MOMENT = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
VALUES: dict[str, Any] = {
    "task_id": UUID(int=7),
    "task_type": "feed.poll",
    "at": MOMENT,
    "cursor": "12.1",
    "attempt": 2,
    "attempts": 2,
    "done": 3,
    "total": None,
    "error": "it\x1b[31m did not answer",
    "last_error": "it did not answer",
    "next_run_at": MOMENT,
    "backoff": 4.0,
}


@pytest.mark.parametrize("kind", EVENTS.values(), ids=EVENTS)
def test_every_event_has_its_line(kind: type[TaskEvent]) -> None:
    event = kind(**{field.name: VALUES[field.name] for field in fields(kind)})
    line = event_line(event)
    assert kind.__name__ in line
    assert "feed.poll" in line
    assert "\x1b" not in line
    assert event_as_json(event)["event"] == kind.__name__
