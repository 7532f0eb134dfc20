"""`kurabito tasks`: list the tasks of a queue; cancel, retry and delete them."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kurabito.cli.queues import QueueUrl, existing_queue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kurabito.runtime import Queue, TaskRecord
    from kurabito.runtime.events import TaskEvent

app = typer.Typer(no_args_is_help=True, help="List, cancel, retry and delete the tasks of a queue.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TaskId = Annotated[str, typer.Argument(help="Full ID of a task.", show_default=False)]
TaskIds = Annotated[list[str], typer.Argument(help="Full IDs of tasks.", show_default=False)]
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


class State(StrEnum):
    """The states of a task, written here again so that `--help` loads nothing."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRY_SCHEDULED = "retry_scheduled"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


@app.command("list")
def list_tasks(
    queue: QueueUrl = None,
    state: Annotated[State | None, typer.Option(help="Only tasks in this state.")] = None,
    task_type: Annotated[str | None, typer.Option("--type", help="Only tasks of this type.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Tasks per page.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Continue after an earlier page.")] = None,
    every_page: Annotated[bool, typer.Option("--all", help="All pages.")] = False,
    as_json: AsJson = False,
) -> None:
    """List tasks, newest first.

    Examples:

        kurabito tasks list --state dead

        kurabito tasks list --queue sqlite:///tasks.db --type send_email --all --json
    """
    import asyncio

    async def work() -> tuple[list[TaskRecord], str | None]:
        async with existing_queue(queue) as opened:
            found: list[TaskRecord] = []
            after = cursor
            while True:
                page = await opened.list(
                    state=state.value if state else None, task_type=task_type, limit=limit, cursor=after
                )
                found += page.items
                after = page.next_cursor
                if after is None or not every_page:
                    return found, after

    tasks, following = asyncio.run(work())
    from kurabito.cli import display

    if as_json:
        typer.echo(display.pretty({"items": [display.as_json(task) for task in tasks], "next_cursor": following}))
        return
    if tasks:
        display.console().print(display.task_table(tasks))
    else:
        typer.echo("No tasks.")
    if following is not None:
        typer.echo(f"There are more: --cursor {following}, or --all")


@app.command()
def show(task_id: TaskId, queue: QueueUrl = None, as_json: AsJson = False) -> None:
    """Show everything about a task: payload, events and errors.

    Examples:

        kurabito tasks show 0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11
    """
    import asyncio

    async def work() -> tuple[TaskRecord, list[TaskEvent]]:
        async with existing_queue(queue) as opened:
            return await opened.get(task_id), await opened.history(task_id)

    task, history = asyncio.run(work())
    from kurabito.cli import display

    if as_json:
        past = [display.event_as_json(event) for event in history]
        typer.echo(display.pretty({**display.as_json(task), "history": past}))
        return
    _print_task(task, history)


@app.command()
def cancel(task_ids: TaskIds, queue: QueueUrl = None) -> None:
    """Cancel waiting or running tasks.

    Examples:

        kurabito tasks cancel 0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11
    """
    _move(queue, task_ids, lambda opened, task_id: opened.cancel(task_id))


@app.command()
def retry(task_ids: TaskIds, queue: QueueUrl = None) -> None:
    """Put dead or cancelled tasks back into the queue; their attempts begin again.

    Examples:

        kurabito tasks retry 0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11
    """
    _move(queue, task_ids, lambda opened, task_id: opened.retry(task_id))


@app.command()
def purge(
    older_than: Annotated[str, typer.Option(help="Minimum age since they finished: 30m, 24h, 7d.")],
    queue: QueueUrl = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete finished tasks: succeeded, dead and cancelled.

    Examples:

        kurabito tasks purge --older-than 7d

        kurabito tasks purge --older-than 0s --yes
    """
    import asyncio

    age = _duration(older_than)

    async def work() -> int:
        async with existing_queue(queue) as opened:
            # Asked once the queue is known to be there, and before anything changes.
            if not yes:
                typer.confirm(f"Delete every task that finished more than {older_than} ago?", abort=True)
            return await opened.purge(older_than=age)

    deleted = asyncio.run(work())
    typer.echo(f"{deleted:,} {'task' if deleted == 1 else 'tasks'} deleted.")


@app.command()
def watch(queue: QueueUrl = None, as_json: AsJson = False) -> None:
    """Watch the queue live, until Ctrl-C. Without a terminal, or with --json, print one line per event.

    Examples:

        kurabito tasks watch

        kurabito tasks watch --json | jq .event
    """
    import asyncio
    import sys

    from kurabito.cli import watch

    async def work() -> None:
        async with existing_queue(queue) as opened:
            if as_json or not sys.stdout.isatty():
                await watch.print_events(opened, as_json=as_json)
            else:
                await watch.live_table(opened)

    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        # The usual way to leave.
        return
    except BrokenPipeError:
        # The reader of the pipe has gone; without this Python would complain once more while it closes stdout.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _move(url: str | None, task_ids: list[str], move: Callable[[Queue, str], Awaitable[TaskRecord]]) -> None:
    """Move each task; one that cannot be moved does not keep the others from it."""
    import asyncio

    from kurabito.runtime.errors import TaskError

    async def work() -> bool:
        good = True
        async with existing_queue(url) as opened:
            for task_id in task_ids:
                try:
                    task = await move(opened, task_id)
                except TaskError as problem:
                    typer.echo(f"error: {problem}", err=True)
                    good = False
                else:
                    typer.echo(f"{task.id} {task.state}")
        return good

    if not asyncio.run(work()):
        raise typer.Exit(1)


def _duration(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([smhdw])", text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"{text!r} is no duration; use 30m, 24h or 7d", param_hint="--older-than")
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]])


def _print_task(task: TaskRecord, history: list[TaskEvent]) -> None:
    from kurabito.cli import display

    lines: list[tuple[str, object]] = [
        ("id", task.id),
        ("type", task.task_type),
        ("state", display.state_text(task).plain),
        ("priority", task.priority),
        ("unique key", task.unique_key),
        ("attempts", f"{task.attempts} of {task.max_attempts}"),
        ("lost leases", task.lost_leases or None),
        ("progress", display.progress_text(task.progress) or None),
        ("worker", task.worker),
        ("created", display.local(task.created_at)),
        ("started", display.local(task.started_at) if task.started_at else None),
        ("finished", display.local(task.finished_at) if task.finished_at else None),
        ("next run", display.local(task.next_run_at) if task.next_run_at else None),
        ("unreadable", ", ".join(task.unreadable) or None),
        ("lease until", display.local(task.lease_expires_at) if task.lease_expires_at else None),
    ]
    for name, value in lines:
        if value is not None:
            typer.echo(f"{name:<12} {display.safe(str(value))}")
    typer.echo(f"\npayload ({task.content_type})\n{display.payload_text(task)}")
    if task.stored_result is not None:
        typer.echo(f"\nresult\n{display.pretty(task.result)}")
    typer.echo("\nhistory")
    for event in history:
        typer.echo(f"  {display.event_line(event)}")
    for error in task.errors:
        typer.echo(f"\nerror of attempt {error.attempt}, {display.local(error.at)}")
        typer.echo("\n".join(f"  {display.safe(line)}" for line in error.error.splitlines()))
        if error.traceback is not None:
            typer.echo("\n".join(f"    {display.safe(line)}" for line in error.traceback.splitlines()))
