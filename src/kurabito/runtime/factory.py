"""From a URL to a queue."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from kurabito.clock import Clock
from kurabito.errors import ConfigError
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.memory import MemoryQueue
from kurabito.runtime.port import Queue
from kurabito.runtime.tasks.intake import MAX_PAYLOAD


def open_queue(
    url: str,
    *,
    clock: Clock | None = None,
    max_payload: int = MAX_PAYLOAD,
    keep: float = 86_400.0,
    create: bool = True,
    schema: str | None = None,
) -> AbstractAsyncContextManager[Queue]:
    """The queue at `memory://`, `sqlite:///file.db` or `postgresql://user@host/database`; use it with `async with`.

    A database gets the runtime's tables if it has none, unless `create` is false: then that is an error. `keep` is how
    many seconds finished tasks are kept. With a `schema`, which the URL may also name as `?schema=jobs`, the tables are in
    it (PostgreSQL), or have it before their names (SQLite): for a database that has tables of the same names.
    """
    scheme = url.partition("://")[0] if isinstance(url, str) else ""
    if scheme == "memory":
        return MemoryQueue(clock=clock, max_payload=max_payload, keep=keep)
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise ConfigError(f"a queue's URL begins with memory://, sqlite:/// or postgresql://, got {url!r}")
    from kurabito.runtime.sql import sql_queue

    url, named = _split_schema(url)
    return sql_queue(
        url,
        clock=clock,
        max_payload=max_payload,
        keep=keep,
        create=create,
        schema=schema if schema is not None else named,
    )


def open_delegated(
    url: str, *, clock: Clock | None = None, create: bool = True, delegate: Iterable[str] = ()
) -> AbstractAsyncContextManager[DelegatedTasks]:
    """The queue in a database, for a program that has rows of its own there; its workers claim no task of these types."""
    opened: Any = open_queue(url, clock=clock, create=create)
    if isinstance(opened, MemoryQueue):
        raise ConfigError(
            "a queue at memory:// has no database for a program's own rows; use sqlite:/// or postgresql://"
        )
    queue: AbstractAsyncContextManager[DelegatedTasks] = opened
    opened.delegate(delegate)
    return queue


def _split_schema(url: str) -> tuple[str, str | None]:
    """The URL without `schema=…`, and what it said."""
    base, mark, query = url.partition("?")
    pairs = query.split("&") if mark else []
    named = [pair.removeprefix("schema=") for pair in pairs if pair.startswith("schema=")]
    if not named:
        return url, None
    kept = "&".join(pair for pair in pairs if not pair.startswith("schema="))
    return (f"{base}?{kept}" if kept else base), named[-1]
