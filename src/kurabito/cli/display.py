"""Tasks as a person reads them, and as JSON."""

from __future__ import annotations

import base64
import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.payloads import plain

if TYPE_CHECKING:
    from kurabito.runtime.events import TaskEvent
    from kurabito.runtime.model import Progress, TaskRecord

STYLES: Final = {
    TaskState.QUEUED: "cyan",
    TaskState.RUNNING: "bold blue",
    TaskState.RETRY_SCHEDULED: "yellow",
    TaskState.SUCCEEDED: "green",
    TaskState.DEAD: "bold red",
    TaskState.CANCELLED: "dim",
}
_PIPE_WIDTH: Final = 240


def console() -> Console:
    """Where tables go. Stored text is never markup, and a pipe gets wide lines."""
    out = Console(markup=False, highlight=False, emoji=False)
    if not out.is_terminal:
        out.width = _PIPE_WIDTH
    return out


def safe(text: str) -> str:
    """The text without characters that a terminal would obey."""
    return "".join(
        char if char.isprintable() else " " if char in "\t\r\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def state_text(task: TaskRecord) -> Text:
    waiting = " (no worker)" if task.no_worker else ""
    return Text(f"{task.state}{waiting}", STYLES.get(task.state, "bold magenta"))


def progress_text(progress: Progress | None) -> str:
    if progress is None:
        return ""
    return f"{progress.done}/{progress.total}" if progress.total is not None else str(progress.done)


def progress_bar(progress: Progress | None) -> RenderableType:
    """A bar with its numbers; without a total only the number."""
    if progress is None or not progress.total:
        return progress_text(progress)
    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=progress.total, completed=progress.done, width=20), progress_text(progress))
    return row


def task_table(tasks: list[TaskRecord], *, bars: bool = False) -> Table:
    """One line per task."""
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True, min_width=36)
    # What a narrow terminal must not squeeze away; the rest gives way first.
    table.add_column("type", no_wrap=True, min_width=12)
    table.add_column("state", no_wrap=True, min_width=8)
    for name in ("attempts", "progress", "updated"):
        table.add_column(name, no_wrap=True)
    table.add_column("error", no_wrap=True, overflow="ellipsis")
    for task in tasks:
        table.add_row(
            str(task.id),
            safe(task.task_type),
            state_text(task),
            f"{task.attempts}/{task.max_attempts}",
            progress_bar(task.progress) if bars else progress_text(task.progress),
            ago(task.updated_at),
            # A task that succeeded in the end has nothing left to explain; `show` tells of the attempts before.
            safe(task.last_error or "") if task.state != "succeeded" else "",
        )
    return table


def counts_text(counts: dict[TaskState, int]) -> Text:
    return Text("   ").join(Text(f"{state} {counts[state]:,}", STYLES[state]) for state in TaskState)


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that says something."""
    seconds = max(0.0, ((now or datetime.now(UTC)) - moment).total_seconds())
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def local(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def pretty(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes: {value[:200]!r}"
    return json.dumps(value, indent=2, ensure_ascii=False)


def as_json(task: TaskRecord) -> dict[str, Any]:
    """Everything about a task; a payload that is not JSON is base64."""
    shown = {field.name: getattr(task, field.name) for field in fields(task)}
    del shown["envelope"], shown["stored_result"]
    payload = _plain(task)
    return {
        **{name: _json(value) for name, value in shown.items()},
        "task_type": task.task_type,
        "content_type": task.content_type,
        "payload": base64.b64encode(payload).decode() if isinstance(payload, bytes) else payload,
        "progress": {"done": task.progress.done, "total": task.progress.total} if task.progress else None,
        "result": base64.b64encode(task.result).decode() if isinstance(task.result, bytes) else task.result,
        "unreadable": list(task.unreadable),
        "errors": [
            {"attempt": one.attempt, "at": _json(one.at), "error": one.error, "traceback": one.traceback}
            for one in task.errors
        ],
    }


def event_as_json(event: TaskEvent) -> dict[str, Any]:
    return {"event": event.name, **{field.name: _json(getattr(event, field.name)) for field in fields(event)}}


def event_line(event: TaskEvent) -> str:
    """One event on one line."""
    facts = {field.name: getattr(event, field.name) for field in fields(event)}
    for name in ("task_id", "task_type", "at", "cursor"):
        del facts[name]
    if "next_run_at" in facts:
        facts["next_run_at"] = local(facts["next_run_at"])
    shown_facts = " ".join(f"{name}={value}" for name, value in facts.items() if value is not None)
    return safe(f"{local(event.at)} {event.name:<14} {event.task_id} {event.task_type} {shown_facts}".rstrip())


def payload_text(task: TaskRecord) -> str:
    return pretty(_plain(task))


def _plain(task: TaskRecord) -> Any:
    try:
        return plain(task.payload, task.content_type)
    except (ValueError, RecursionError):
        # It claims to be JSON and is not: shown as it is, to help find the fault.
        return task.payload


def _json(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case UUID():
            return str(value)
        case _:
            return value
