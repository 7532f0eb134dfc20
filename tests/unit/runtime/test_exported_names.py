"""The public face of the runtime is a list, and changing it is a decision."""

from __future__ import annotations

import re
from pathlib import Path

import kurabito.runtime

PUBLIC = [
    "Exponential",
    "Fixed",
    "LeaseLost",
    "NewTask",
    "PermanentError",
    "Priority",
    "Queue",
    "Registry",
    "RetryPolicy",
    "Snooze",
    "TaskConflict",
    "TaskContext",
    "TaskEnvelope",
    "TaskFinished",
    "TaskNotFound",
    "TaskRecord",
    "TaskState",
    "Worker",
    "open_queue",
]


def test_exactly_these_names_are_public() -> None:
    assert sorted(kurabito.runtime.__all__) == PUBLIC


def test_every_public_name_exists() -> None:
    assert [name for name in PUBLIC if not hasattr(kurabito.runtime, name)] == []


def test_every_public_name_is_in_the_documentation() -> None:
    docs = Path(__file__).parents[3] / "docs"
    words = {word for page in docs.rglob("*.md") for word in re.findall(r"\w+", page.read_text())}
    assert [name for name in PUBLIC if name not in words] == []
