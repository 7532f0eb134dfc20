"""How a fault is written down, and the ways in which our own data plane is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kurabito.db import Queries, leases
from kurabito.db.sqlite import database as sqlite_database


@dataclass(frozen=True)
class Fault:
    """One thing that a plane does wrong."""

    rule: str
    cause: Callable[[], None]
    on_postgres: bool = False
    """Where it shows: on PostgreSQL alone."""
    check: str = ""
    """Which check has to see it, where the rule has several."""
    scenario: str = ""
    """In which scenario, where the check looks at all."""


FAULTS: dict[str, Fault] = {}


def fault(
    rule: str, *, check: str = "", scenario: str = "", on_postgres: bool = False
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that breaks a rule; its name says how."""

    def register(cause: Callable[[], None]) -> Callable[[], None]:
        FAULTS[cause.__name__.replace("_", " ")] = Fault(rule, cause, on_postgres, check, scenario)
        return cause

    return register


def edit(queries: Queries, name: str, old: str, new: str) -> None:
    """Change the text of a named query."""
    query: Any = queries.__dict__[name]
    assert old in query._sqlite, f"{name} has no {old!r}: {query._sqlite}"
    query._sqlite = query._sqlite.replace(old, new)
    query._postgres = query._postgres.replace(old, new)


def put(where: Any, name: str, value: Any) -> Any:
    """Put something else in the place of a function or a value, also where it may not be changed; what was there."""
    before = getattr(where, name)
    if isinstance(where, type) or not hasattr(where, "__dataclass_fields__"):
        setattr(where, name, value)
    else:
        object.__setattr__(where, name, value)
    return before


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def unrestricted(*pragmas: str) -> None:
    """Have the plane write what it likes, as a program in another language can."""

    def let_go(raw: Any, _: Any) -> None:
        for pragma in pragmas:
            raw.execute(f"PRAGMA {pragma}")

    put(sqlite_database, "restrict", let_go)


def also_at_end(sql: str) -> None:
    """Have a further statement run with the end of each job."""
    unrestricted()
    finish = leases.finish

    def finish_and_more(conn: Any, *args: Any, **kwargs: Any) -> Any:
        conn.run(sql)
        return finish(conn, *args, **kwargs)

    put(leases, "finish", finish_and_more)


class Proxy:
    """A module with some of its functions replaced, for one other module."""

    def __init__(self, module: Any, **replaced: Any) -> None:
        self._module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
