"""What we count about ourselves.

What happened is counted from the moment this process began: tasks from the events that `Live` reads, whichever process
made them, requests as they are answered. How many tasks wait, and since when, is asked of the queue.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kurabito.api.system.prometheus import Counter, Histogram, gauge
from kurabito.clock import SECOND, Clock, from_datetime
from kurabito.runtime import Queue, TaskState
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.events import Cancelled, Dead, Failed, RetryScheduled, Started, Succeeded, TaskEvent
from kurabito.runtime.model import Depth
from kurabito.runtime.outcomes import POISON
from kurabito.runtime.paging import MAX_PAGE
from kurabito.runtime.states import ACTIVE

_TASK_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 7200)
_HTTP_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ASK_EVERY: Final = 5 * SECOND
_MOST_RUNNING: Final = 10_000


class TaskMeter:
    """Counts what happens to tasks."""

    def __init__(self) -> None:
        self.durations = Histogram(
            "kurabito_task_duration_seconds", "Time that attempts took.", ["task_type"], _TASK_SECONDS
        )
        self.failures = Counter("kurabito_task_failures_total", "Attempts that failed.", ["task_type"])
        self.retries = Counter("kurabito_task_retries_total", "Tasks that were put off to run again.", ["task_type"])
        self.dead = Counter("kurabito_tasks_dead_total", "Tasks that were given up.", ["task_type"])
        self.recovered = Counter("kurabito_leases_recovered_total", "Tasks taken from workers that were lost.")
        self._running: dict[UUID, datetime] = {}
        self._restarted: dict[UUID, int] = {}

    def note(self, event: TaskEvent) -> None:
        """Count an event."""
        match event:
            case Started():
                self._note_start(event)
            case Succeeded() | Failed():
                self._note_end(event)
                if isinstance(event, Failed):
                    self.failures.add(event.task_type)
            case RetryScheduled():
                self._running.pop(event.task_id, None)
                self.retries.add(event.task_type)
            case Dead():
                self._running.pop(event.task_id, None)
                self.dead.add(event.task_type)
                if event.last_error.startswith(POISON):
                    self.recovered.add()
            case Cancelled():
                self._running.pop(event.task_id, None)

    async def take_stock(self, queue: Queue) -> None:
        """Know what was running before this process began, so that what becomes of it is counted."""
        for task in await queue.list(state=TaskState.RUNNING, limit=MAX_PAGE):
            if task.started_at is not None:
                self._running.setdefault(task.id, task.started_at)

    async def look_up_recovered(self, queue: Queue) -> None:
        """Count the tasks that started again without having ended, if a lost worker was why."""
        restarted, self._restarted = self._restarted, {}
        for task_id, times in restarted.items():
            try:
                task = await queue.get(task_id)
            except TaskNotFound:
                continue
            # The others were put back by workers that stopped in good order.
            self.recovered.add(amount=min(times, task.lost_leases))

    def lines(self) -> Iterator[str]:
        """Everything as text."""
        for each in (self.durations, self.failures, self.retries, self.dead, self.recovered):
            yield from each.lines()

    def _note_start(self, event: Started) -> None:
        if self._running.pop(event.task_id, None) is not None and len(self._restarted) < _MOST_RUNNING:
            self._restarted[event.task_id] = self._restarted.get(event.task_id, 0) + 1
        self._running[event.task_id] = event.at
        if len(self._running) > _MOST_RUNNING:
            # The oldest was put back by its worker long ago, and nothing else was told of it.
            self._running.pop(next(iter(self._running)))

    def _note_end(self, event: TaskEvent) -> None:
        started = self._running.pop(event.task_id, None)
        if started is not None:
            self.durations.observe((event.at - started).total_seconds(), event.task_type)


class HttpMeter:
    """Counts requests: an ASGI middleware around the application whose routes it names."""

    def __init__(self) -> None:
        labels = ["method", "route", "status"]
        self.requests = Counter("kurabito_http_requests_total", "Requests that were answered.", labels)
        self.durations = Histogram(
            "kurabito_http_request_duration_seconds", "Time until the answer began.", ["method", "route"], _HTTP_SECONDS
        )

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, its requests counted."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            began = time.perf_counter()
            answered = False

            async def answer(message: Message) -> None:
                nonlocal answered
                if message["type"] == "http.response.start":
                    answered = True
                    self._note(scope, message["status"], time.perf_counter() - began)
                await send(message)

            try:
                await app(scope, receive, answer)
            except Exception:
                if not answered:
                    self._note(scope, 500, time.perf_counter() - began)
                raise

        return counted

    def lines(self) -> Iterator[str]:
        """Everything as text."""
        yield from self.requests.lines()
        yield from self.durations.lines()

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # The template and not the path: one number for a route, whatever ids are in its paths.
        route = getattr(scope.get("route"), "path", None) or "none"
        # A client may make methods up.
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self.requests.add(method, route, str(status))
        self.durations.observe(seconds, method, route)


class QueueDepth:
    """What waits in the queue, asked for at most every few seconds however often it is looked at."""

    def __init__(self, queue: Queue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._depths: list[Depth] = []
        self._asked_at: int | None = None

    async def lines(self) -> list[str]:
        """Counts and ages as text."""
        now = self._clock.now()
        if self._asked_at is None or now - self._asked_at >= _ASK_EVERY:
            self._depths, self._asked_at = await self._queue.depths(), now
        labelled = [([("task_type", each.task_type), ("state", each.state.value)], each) for each in self._depths]
        counts = [(labels, each.count) for labels, each in labelled]
        ages = [
            (labels, max(0.0, (now - from_datetime(each.oldest)) / SECOND))
            for labels, each in labelled
            if each.state in ACTIVE
        ]
        return [
            *gauge("kurabito_queue_tasks", "Tasks in the queue.", counts),
            *gauge("kurabito_queue_oldest_seconds", "Age of the oldest task that is not finished.", ages),
        ]
