"""The log says the same as the events, loudly only where somebody should look."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kurabito.runtime.events import EVENTS, log_events

ID = "01890a5d" + "0" * 24


@pytest.mark.parametrize(
    ("name", "values", "level", "shown"),
    [
        ("Enqueued", (), "DEBUG", {}),
        ("Started", (2,), "DEBUG", {"attempt": 2}),
        ("Progressed", (1, 4), "DEBUG", {"done": 1, "total": 4}),
        ("Succeeded", (2,), "DEBUG", {"attempt": 2}),
        ("Cancelled", (), "INFO", {}),
        (
            "RetryScheduled",
            (1_700_000_000_000_000, 2.5),
            "INFO",
            {"next_run_at": 1_700_000_000_000_000, "backoff": 2.5},
        ),
        ("Failed", (2, "broken"), "WARNING", {"attempt": 2, "error": "broken"}),
        ("Dead", (5, "broken"), "WARNING", {"attempts": 5, "last_error": "broken"}),
    ],
)
def test_each_fact_is_a_line_with_its_values(
    caplog: pytest.LogCaptureFixture, name: str, values: tuple[Any, ...], level: str, shown: dict[str, Any]
) -> None:
    with caplog.at_level(logging.DEBUG, "kurabito.runtime"):
        log_events(name, [(ID, "work", *values), (ID, "other", *values)])
    first, second = caplog.records
    assert first.levelname == level
    line: Any = first.msg
    assert line == {"event": name, "task_id": "01890a5d-0000-0000-0000-000000000000", "task_type": "work", **shown}
    assert second.getMessage().startswith(name)


def test_every_event_has_a_level(caplog: pytest.LogCaptureFixture) -> None:
    for name in EVENTS:
        log_events(name, [])
    assert caplog.records == []


def test_what_nobody_reads_is_not_even_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kurabito.runtime"):
        log_events("Started", [("no id at all",)])
    assert caplog.records == []
