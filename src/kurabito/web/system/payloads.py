"""Payloads and results as text that a person can read: whatever they hold, and however much."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from kurabito.runtime import TaskRecord
from kurabito.runtime.tasks.payloads import JSON, plain

_MOST_CHARACTERS: Final = 20_000
_MOST_BYTES: Final = 1024
_BYTES_IN_A_LINE: Final = 16


class ShownPayload(NamedTuple):
    """A text, and whether it is only the beginning."""

    text: str
    cut: bool


def shown_payload(task: TaskRecord) -> ShownPayload:
    """JSON is indented; anything else is shown as bytes."""
    if task.content_type != JSON:
        return _as_bytes(task.payload)
    try:
        return _as_json(plain(task.payload))
    except (ValueError, RecursionError):
        # It says JSON and is not: shown as it is, which helps to find the fault.
        return _as_bytes(task.payload)


def shown_result(task: TaskRecord) -> ShownPayload | None:
    """What the handler returned; None while there is nothing."""
    if task.stored_result is None:
        return None
    return _as_bytes(task.stored_result) if isinstance(task.result, bytes) else _as_json(task.result)


def _as_json(value: Any) -> ShownPayload:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return ShownPayload(text[:_MOST_CHARACTERS], len(text) > _MOST_CHARACTERS)


def _as_bytes(data: bytes) -> ShownPayload:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        lines = (data[at : at + _BYTES_IN_A_LINE] for at in range(0, min(len(data), _MOST_BYTES), _BYTES_IN_A_LINE))
        return ShownPayload("\n".join(line.hex(" ") for line in lines), len(data) > _MOST_BYTES)
    return ShownPayload(text[:_MOST_CHARACTERS], len(text) > _MOST_CHARACTERS)
