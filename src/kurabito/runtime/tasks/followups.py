"""What follows what: tasks that are enqueued because another one succeeded.

The whole way of a program's work is declared in one table:

    FOLLOW_UPS = (
        FollowUp(after="scan", then="hash", why="only files that a scan found are worth reading"),
        FollowUp(after="scan", then="thumbnail", why="a new picture has none yet", payloads=new_pictures),
    )
    declare(registry, FOLLOW_UPS)

A follow-up is stored in the same transaction as the success that it follows: there is never one without the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kurabito.errors import InvalidInput
from kurabito.runtime.outcomes import Snooze
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.tasks.registry import Registry


def _the_result(result: Any) -> Iterable[Any]:
    return (result,)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """One task type follows another."""

    after: str
    then: str
    """It need not be registered here: another worker may run it."""
    why: str
    payloads: Callable[[Any], Iterable[Any]] = _the_result
    """The payload of each task to enqueue, made of what the handler returned: none, one (that very result), or many."""
    unique_key: Callable[[Any], str] | None = None
    """The unique key of each task, made of its payload."""
    priority: int = 0

    def __post_init__(self) -> None:
        if not self.why.strip():
            raise InvalidInput("why", f"say why {self.then!r} follows {self.after!r}")


def declare(registry: Registry, follow_ups: Iterable[FollowUp]) -> None:
    """Have the handlers of a registry enqueue what follows them. Call it once, when every task is registered."""
    following: defaultdict[str, list[FollowUp]] = defaultdict(list)
    for link in follow_ups:
        following[link.after].append(link)
    for after, links in following.items():
        handler = registry.handler(after)
        if handler is None:
            raise InvalidInput("after", f"{after!r} is not registered, so nothing can follow it")
        registry.replace(_followed(handler, links))


def _followed(handler: Handler, links: Sequence[FollowUp]) -> Handler:
    """The same handler, which then asks for what follows it."""

    def own(ctx: TaskContext, payload: tuple[Any, ...]) -> tuple[Any, ...]:
        if not handler.takes_context:
            return payload
        return (ctx, *payload) if handler.context_first else (*payload, ctx)

    async def run(ctx: TaskContext, *payload: Any) -> Any:
        result = await handler.fn(*own(ctx, payload))
        _ask_for(links, result, ctx)
        return result

    def run_in_thread(ctx: TaskContext, *payload: Any) -> Any:
        result = handler.fn(*own(ctx, payload))
        _ask_for(links, result, ctx)
        return result

    return replace(handler, fn=run if handler.is_async else run_in_thread, takes_context=True, context_first=True)


def _ask_for(links: Sequence[FollowUp], result: Any, ctx: TaskContext) -> None:
    if isinstance(result, Snooze):
        # It has not done its work yet.
        return
    for link in links:
        for payload in link.payloads(result):
            unique_key = None if link.unique_key is None else link.unique_key(payload)
            _ = ctx.enqueue(link.then, payload, unique_key=unique_key, priority=link.priority)
