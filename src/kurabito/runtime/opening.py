"""From a URL to a queue."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from kurabito.clock import Clock
from kurabito.errors import ConfigError
from kurabito.runtime.intake import MAX_PAYLOAD
from kurabito.runtime.memory import MemoryQueue
from kurabito.runtime.port import Queue


def open_queue(
    url: str,
    *,
    clock: Clock | None = None,
    max_payload: int = MAX_PAYLOAD,
    keep: float = 86_400.0,
    create: bool = True,
) -> AbstractAsyncContextManager[Queue]:
    """The queue at `memory://`, `sqlite:///file.db` or `postgresql://user@host/database`; use it with `async with`.

    A database gets the runtime's tables if it has none, unless `create` is false: then that is an error. `keep` is how
    many seconds finished tasks are kept.
    """
    scheme = url.partition("://")[0] if isinstance(url, str) else ""
    if scheme == "memory":
        return MemoryQueue(clock=clock, max_payload=max_payload, keep=keep)
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise ConfigError(f"a queue's URL begins with memory://, sqlite:/// or postgresql://, got {url!r}")
    from kurabito.runtime.sql import sql_queue

    return sql_queue(url, clock=clock, max_payload=max_payload, keep=keep, create=create)
