"""A queue live: a table that redraws itself, or a line for each event."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from kurabito.cli import display
from kurabito.runtime.states import TaskState

if TYPE_CHECKING:
    from rich.console import Console

    from kurabito.runtime import Queue, TaskRecord

_REDRAW: Final = 0.2
_LOOK_AGAIN: Final = 2.0
_HEADING: Final = 4


async def print_events(queue: Queue, *, as_json: bool) -> None:
    """Print what happens, a line each, until cancelled."""
    async for event in queue.events():
        line = json.dumps(display.event_as_json(event), ensure_ascii=False) if as_json else display.event_line(event)
        # At once, also into a pipe.
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


async def live_table(queue: Queue) -> None:
    """Draw the queue whenever something happens, at most a few times a second, until cancelled.

    An event only says that it is time to look: what is drawn is what the queue says, so nothing can be missed.
    """
    console = display.console()
    happened = asyncio.Event()
    listening = asyncio.create_task(_listen(queue, happened))
    try:
        with Live(await _picture(queue, console), console=console, auto_refresh=False) as live:
            while not listening.done():
                with suppress(TimeoutError):
                    # Ages, and whether a type has a worker, change without an event.
                    async with asyncio.timeout(_LOOK_AGAIN):
                        await happened.wait()
                happened.clear()
                live.update(await _picture(queue, console), refresh=True)
                await asyncio.sleep(_REDRAW)
        await listening
    finally:
        listening.cancel()


async def _listen(queue: Queue, happened: asyncio.Event) -> None:
    try:
        async for _ in queue.events():
            happened.set()
    finally:
        happened.set()


async def _picture(queue: Queue, console: Console) -> RenderableType:
    room = max(1, console.height - _HEADING)
    counts = await queue.counts_by_state()
    running = await queue.list(state=TaskState.RUNNING, limit=room)
    newest = await queue.list(limit=room)
    tasks: list[TaskRecord] = [*running, *(task for task in newest if task.state is not TaskState.RUNNING)][:room]
    return Group(display.counts_text(counts), Text(), display.task_table(tasks, bars=True))
