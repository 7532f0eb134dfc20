"""Who works on an in-memory queue, and which types so have a worker."""

from __future__ import annotations

from dataclasses import dataclass

from kurabito.clock import to_datetime
from kurabito.runtime.model import WorkerRecord
from kurabito.runtime.port import Presence


@dataclass(slots=True)
class _Seen:
    presence: Presence
    started_at: int
    heartbeat_at: int
    alive_until: int


class WorkerTable:
    """The workers that said lately that they are alive."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._types: frozenset[str] = frozenset()
        self._types_until = 0

    def sign(self, presence: Presence, now: int, lease: int) -> None:
        """Hear from a worker; it counts as alive for the length of its lease."""
        known = self._alive(now).get(presence.name)
        self._seen[presence.name] = _Seen(presence, known.started_at if known else now, now, now + lease)
        self._types_until = 0

    def leave(self, worker: str) -> None:
        """Forget a worker."""
        self._seen.pop(worker, None)
        self._types_until = 0

    def types(self, now: int) -> frozenset[str]:
        """The types that a living worker runs."""
        # Kept until a worker comes, goes or falls silent: it is asked for with every task that is enqueued.
        if now >= self._types_until:
            alive = self._alive(now).values()
            self._types = frozenset(kind for seen in alive for kind in seen.presence.task_types)
            self._types_until = min((seen.alive_until for seen in alive), default=now)
        return self._types

    def workers(self, now: int) -> list[WorkerRecord]:
        """The living workers, by name."""
        return [
            WorkerRecord(
                name=name,
                task_types=tuple(seen.presence.task_types),
                concurrency=seen.presence.concurrency,
                started_at=to_datetime(seen.started_at),
                heartbeat_at=to_datetime(seen.heartbeat_at),
            )
            for name, seen in sorted(self._alive(now).items())
        ]

    def _alive(self, now: int) -> dict[str, _Seen]:
        if any(seen.alive_until <= now for seen in self._seen.values()):
            self._seen = {name: seen for name, seen in self._seen.items() if seen.alive_until > now}
        return self._seen
