"""What went through the gateway: requests of the worker, and what it was answered."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

API: Final = "/api/v1/worker/"
CLAIM: Final = "claim"
ENDS: Final = frozenset({"complete", "fail", "snooze"})


@dataclass(slots=True, eq=False)
class WordExchange:
    """One request, and its answer once there is one."""

    method: str
    path: str
    headers: dict[str, str]
    """By names in small letters."""
    raw: bytes
    asked_at: float = field(default_factory=time.monotonic)
    status: int | None = None
    """None as long as the worker was answered nothing."""
    answer_headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b""
    dropped: bool = False
    """The connection is closed without an answer."""

    @property
    def word(self) -> str | None:
        """`claim`, `heartbeat` or one of the ends; None for what is no word of a worker."""
        return self.path.rsplit("/", 1)[-1] if self.path.startswith(API) else None

    @property
    def task_id(self) -> str | None:
        """The task that the word is about."""
        parts = self.path.removeprefix(API).split("/")
        return parts[1] if parts[0] == "tasks" and len(parts) == 3 else None

    @property
    def body(self) -> Mapping[str, Any]:
        """What the worker said; empty when that is no JSON object."""
        return _read(self.raw)

    @property
    def answered(self) -> Mapping[str, Any]:
        """What it was answered."""
        return _read(self.answer)

    @property
    def token(self) -> str | None:
        """The lease that it speaks of."""
        return self.body.get("lease_token")

    def claimed(self) -> list[Mapping[str, Any]]:
        """The tasks that this brought."""
        return list(self.answered.get("tasks", ())) if self.word == CLAIM and self.status == 200 else []

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.raw[:200].decode(errors='replace')} -> {self.status or 'no answer'}"


def _read(data: bytes) -> Mapping[str, Any]:
    try:
        read = json.loads(data)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
