"""Migrations: numbered files, applied once, in order, under a lock, and never changed afterwards.

They come in two sets. `runtime` is all that `open_queue` creates in a builder's own database; `product` is the rest. A
`.sql` file is a script; a `.py` file has a function `apply(conn)` and is for what depends on what it finds.

On SQLite the rows of every table are counted before and after, and what would lose some is undone. A migration that is to
remove rows says from where, in a comment of one line: `removes rows of: sessions, login_links`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, cast

from kurabito.db.adoption import Aside, EarlierSource, TakenTable, names_made_by, refuse_foreign, sources_in
from kurabito.db.dialect import Dialect
from kurabito.db.errors import DatabaseTooNew, MigrationChanged
from kurabito.db.ledger import Ledger
from kurabito.db.locks import AdvisoryLock
from kurabito.db.port import Connection, Database
from kurabito.db.sqlite.tally import refuse_losses, tally
from kurabito.db.table_names import TableNames, names_of

RUNTIME: Final = "runtime"
PRODUCT: Final = "product"

_FILE: Final = re.compile(r"(\d{4})_(\w+)\.(sql|py)")
_CREATES: Final = re.compile(r"\bCREATE\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|VIEW|TRIGGER)\s+(?!IF\b)(\w+)", re.IGNORECASE)
_REMOVES: Final = re.compile(r"^\s*(?:--|#) removes rows of: (.+)$", re.MULTILINE)
_OF_THE_QUEUE: Final = 'give the queue names of its own: open_queue(url, schema="jobs"), or ?schema=jobs in the URL'
_OF_THE_PRODUCT: Final = "give Kurabito a database of its own, or rename what is in the way"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of a set."""

    number: int
    name: str
    kind: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def creates(self) -> set[str]:
        """The names of what it makes."""
        return {name.lower() for name in _CREATES.findall(self.text)}

    @property
    def removes(self) -> set[str]:
        """Tables from which it says that it removes rows."""
        return {name.strip() for listed in _REMOVES.findall(self.text) for name in listed.split(",")}

    def apply(self, conn: Connection, names: TableNames) -> None:
        if self.kind == "sql":
            conn.script(names(self.text))
            return
        scope: dict[str, Any] = {"__name__": f"migration_{self.number:04}_{self.name}"}
        exec(compile(self.text, f"{self.number:04}_{self.name}.py", "exec"), scope)  # noqa: S102 (our own files)
        cast("Callable[[Connection], None]", scope["apply"])(conn)


def migrate(
    database: Database,
    set_name: str,
    migrations: list[Migration] | None = None,
    *,
    schema: str | None = None,
    tell: Callable[[list[TakenTable]], None] | None = None,
) -> list[str]:
    """Bring the database up to date; the names of what was applied. Processes that start together take turns.

    `tell` hears what became of the tables of the earlier system, if there were any.
    """
    steps = available(database.dialect, set_name) if migrations is None else migrations
    return _migrate(database, {set_name: steps}, _ledger(database, schema), tell)


def migrate_together(
    database: Database, set_names: Iterable[str], *, tell: Callable[[list[TakenTable]], None] | None = None
) -> list[str]:
    """As `migrate`, for several sets in one transaction: where one cannot be applied, none is."""
    steps = {name: available(database.dialect, name) for name in set_names}
    return _migrate(database, steps, _ledger(database), tell)


def has_set(database: Database, set_name: str, *, schema: str | None = None) -> bool:
    """Whether any migration of the set was applied."""
    ledger = _ledger(database, schema)
    return database.read_blocking(lambda conn: bool(ledger.applied(conn, set_name)))


def pending(database: Database, set_name: str) -> list[str]:
    """The names of what `migrate` would apply; raises when the database is not one that this version can bring on."""
    steps, ledger = available(database.dialect, set_name), _ledger(database)

    def look(conn: Connection) -> list[str]:
        missing = _missing(conn, ledger, set_name, steps)
        _find_earlier(conn, ledger.names, set_name, steps, missing)
        return [f"{step.number:04}_{step.name}" for step in missing]

    return database.read_blocking(look)


def unknown(database: Database, set_name: str) -> list[str]:
    """The names of what the database has and this version does not know: a newer one was there."""
    known, ledger = {step.number for step in available(database.dialect, set_name)}, _ledger(database)
    applied = database.read_blocking(lambda conn: ledger.applied(conn, set_name))
    return [f"{number:04}_{name}" for number, (name, _) in applied.items() if number not in known]


def available(dialect: Dialect, set_name: str) -> list[Migration]:
    """The migrations that this program brings, in order."""
    return list(_shipped(dialect, set_name))


@cache
def _shipped(dialect: Dialect, set_name: str) -> tuple[Migration, ...]:
    # Read once: whether a newer version was at the database is asked again and again while Kurabito runs.
    folder = files("kurabito.db").joinpath("migrations", dialect.name, set_name)
    found = _read(folder) if folder.is_dir() else ()
    return tuple(sorted(found, key=lambda migration: migration.number))


def _ledger(database: Database, schema: str | None = None) -> Ledger:
    return Ledger(names_of(database.dialect, schema))


def _migrate(
    database: Database,
    sets: dict[str, list[Migration]],
    ledger: Ledger,
    tell: Callable[[list[TakenTable]], None] | None,
) -> list[str]:
    behind = {name: steps for name, steps in sets.items() if not _is_current(database, ledger, name, steps)}
    if not behind:
        return []
    names, taken = database.rebuild_blocking(lambda conn: _bring_on(conn, ledger, behind))
    if taken and tell is not None:
        tell(taken)
    return names


def _read(folder: Traversable) -> Iterator[Migration]:
    for file in folder.iterdir():
        if found := _FILE.fullmatch(file.name):
            yield Migration(int(found[1]), found[2], found[3], file.read_text(encoding="utf-8"))


def _is_current(database: Database, ledger: Ledger, set_name: str, steps: list[Migration]) -> bool:
    """True when there is nothing to do, asked without taking the lock: opening a database is then only a read."""

    def look(conn: Connection) -> bool:
        if not ledger.exists(conn):
            return False
        done = ledger.applied(conn, set_name)
        _check(done, set_name, steps)
        return len(done) == len(steps)

    return database.read_blocking(look)


def _bring_on(conn: Connection, ledger: Ledger, sets: dict[str, list[Migration]]) -> tuple[list[str], list[TakenTable]]:
    names: list[str] = []
    taken: list[TakenTable] = []
    conn.lock(AdvisoryLock.MIGRATIONS)
    if not ledger.exists(conn):
        ledger.create(conn)
    for set_name, steps in sets.items():
        missing = _missing(conn, ledger, set_name, steps)
        taken += _apply(conn, ledger, set_name, steps, missing)
        names += [f"{step.number:04}_{step.name}" for step in missing]
    return names, taken


def _missing(conn: Connection, ledger: Ledger, set_name: str, steps: list[Migration]) -> list[Migration]:
    """What is to be applied. Raises when the database is not one that this version can bring on."""
    done = ledger.applied(conn, set_name)
    _check(done, set_name, steps)
    return [step for step in steps if step.number not in done]


def _apply(
    conn: Connection, ledger: Ledger, set_name: str, steps: list[Migration], missing: list[Migration]
) -> list[TakenTable]:
    """Apply migrations, with the tables of the earlier system out of their way, and count what there is before and after."""
    sources = _find_earlier(conn, ledger.names, set_name, steps, missing)
    if conn.dialect is Dialect.POSTGRES:
        _apply_steps(conn, ledger, set_name, missing)
        return []
    before = tally(conn)
    aside = Aside(conn, sources)
    aside.move()
    _apply_steps(conn, ledger, set_name, missing)
    taken = aside.take_over()
    refuse_losses(before, tally(conn), accounted=aside.names.union(*(step.removes for step in missing)))
    return taken


def _find_earlier(
    conn: Connection, names: TableNames, set_name: str, steps: list[Migration], missing: list[Migration]
) -> list[EarlierSource]:
    """The earlier tables in whose place ours will be. Raises ForeignTables where another program has a name that is needed."""
    # What an applied one made is ours: a migration that rebuilds a table makes its indexes again under their names.
    needed = _names(set_name, missing) - _names(set_name, [step for step in steps if step not in missing])
    is_product_file = set_name == PRODUCT and conn.dialect is Dialect.SQLITE
    sources = sources_in(conn.raw, {step.number for step in missing}) if is_product_file else []
    refuse_foreign(
        conn,
        {names.of_relation(name) for name in needed},
        sources,
        _OF_THE_QUEUE if set_name == RUNTIME else _OF_THE_PRODUCT,
    )
    return sources


def _names(set_name: str, steps: list[Migration]) -> set[str]:
    """The names of all that migrations make."""
    names = set[str]().union(*(step.creates for step in steps))
    # One of them puts the names of its tables into its statements while it runs.
    return names | names_made_by({step.number for step in steps}) if set_name == PRODUCT else names


def _apply_steps(conn: Connection, ledger: Ledger, set_name: str, steps: list[Migration]) -> None:
    for step in steps:
        step.apply(conn, ledger.names)
        ledger.note(conn, set_name, step.number, step.name, step.checksum)


def _check(done: dict[int, tuple[str, str]], set_name: str, steps: list[Migration]) -> None:
    known = {step.number: step for step in steps}
    for number, (name, checksum) in done.items():
        step = known.get(number)
        if step is None:
            raise DatabaseTooNew(
                f"the database has the {set_name} migration {number:04}_{name}, which this version does not know; "
                "install the version that wrote it, or a newer one"
            )
        if step.checksum != checksum:
            raise MigrationChanged(
                f"the {set_name} migration {number:04}_{name} was applied with other contents; "
                "restore the file as it was released and write a new migration for the change"
            )
