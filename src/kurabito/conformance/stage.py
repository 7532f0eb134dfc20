"""A database, some folders, and the control plane's part in a scenario."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from kurabito.clock import SECOND
from kurabito.conformance import journal, reference
from kurabito.conformance.errors import NotApplicable, ScenarioStuck
from kurabito.conformance.journal import BY_KIT, NotedWrite
from kurabito.conformance.recording import Recording, Row
from kurabito.conformance.subject import Subject
from kurabito.conformance.surroundings import look_around
from kurabito.db import Connection, Database, Dialect
from kurabito.db.grace import planes_folder
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.protocol.tables import TABLES

T = TypeVar("T")

_LOOK_EVERY: Final = 0.03
_LOOK_CLOSELY: Final = 0.003
"""Where a plane is caught in the middle of what it does."""
_EARLIER: Final = 120 * SECOND
"""What the kit writes was written a while ago, so that a time that a plane does not renew is seen to be old."""
_COLUMNS: Final = {table.name: tuple(table.columns) for table in TABLES}
_OVER: Final = ("completed", "failed", "cancelled", "retryable")


class ScenarioStage:
    """Where one scenario happens."""

    def __init__(
        self,
        database: Database,
        url: str,
        folder: Path,
        command: Sequence[str],
        *,
        capabilities: frozenset[str] = frozenset(),
        patience: float = 60.0,
        seed: int = 0,
        rounds: int = 1,
        holes: Path | None = None,
    ) -> None:
        self.database = database
        self.folder = folder
        self._holes = holes or folder
        self.state = folder / "state"
        self.state.mkdir(parents=True)
        self.capabilities = capabilities
        """What the plane said that it can do."""
        self.seed = seed
        self.rounds = rounds
        """How often what depends on chance is tried."""
        self.patience = patience
        self.recording = Recording()
        self.recording.seen["has locks"] = self.locks is not None
        self.recording.seen["reads everything"] = self.locks is None and os.geteuid() == 0
        self._url = url
        self._command = command
        self._subjects: list[Subject] = []

    def close(self) -> None:
        """Leave no process behind, and take the writes into the recording."""
        for subject in self._subjects:
            if not subject.has_ended:
                subject.kill()
            self.recording.output = subject.output
        if self._subjects:
            self.recording.surroundings.append(self.read(look_around))
        self.recording.writes = self.written()

    def start_plane(self, **environment: str) -> Subject:
        """Start the plane that is examined, with more in its environment."""
        if not self._subjects:
            self.recording.surroundings.append(self.read(look_around))
        log = self.folder / f"plane-{len(self._subjects)}.log"
        # A server may have its socket in a folder of another user.
        subject = Subject(self._command, self._url, self.state, log, environment, obeys_modes=self.locks is not None)
        self._subjects.append(subject)
        return subject

    def needs(self, *capabilities: str) -> None:
        """Raise NotApplicable when the plane does not list one of these."""
        if lacking := [word for word in capabilities if word not in self.capabilities]:
            raise NotApplicable(f"the plane does not list {', '.join(lacking)}")

    def write(self, sql: str, **values: Any) -> int:
        """Run a statement as the control plane; how many rows it changed."""

        def run(conn: Connection) -> int:
            if conn.dialect is Dialect.POSTGRES:
                conn.run(f"SELECT set_config('{BY_KIT}', 'yes', true)")
            return conn.run(sql, values)

        return self.database.write_blocking(run)

    def insert(self, table: str, **values: Any) -> None:
        """Insert a row as the control plane."""
        self.write(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(f':{name}' for name in values)})", **values
        )

    def read(self, fn: Callable[[Connection], T]) -> T:
        """Ask the database."""
        return self.database.read_blocking(fn)

    def rows(self, table: str, where: str = "1 = 1", **values: Any) -> list[Row]:
        """Rows by the names of their columns."""
        columns = _COLUMNS[table]
        found = self.read(
            lambda conn: conn.all(f"SELECT {', '.join(columns)} FROM {table} WHERE {where} ORDER BY 1", values)
        )
        return [{name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in found]

    def written(self, after: int = 0) -> list[NotedWrite]:
        """What the plane wrote since a note."""
        return self.read(lambda conn: journal.written(conn, after))

    def now(self) -> int:
        """The time of the database."""
        return self.read(lambda conn: conn.now())

    def library(self, number: int, *, folder: Path | None = None, has_holes: bool = False, **values: Any) -> Path:
        """Make a library and its folder; one that has large holes lies where they take no room."""
        place = folder or (self._holes if has_holes else self.folder) / f"library-{number}"
        if folder is None:
            place.mkdir(parents=True)
        earlier = self.now() - _EARLIER
        self.insert(
            "library_roots",
            id=number,
            name=f"library {number}",
            root_path=str(place),
            created_at=earlier,
            updated_at=earlier,
            **values,
        )
        self.recording.folders[number] = place
        return place

    def job(self, name: str, kind: str, library: int | None, **values: Any) -> str:
        """Make a job that waits."""
        earlier = self.now() - _EARLIER
        values = {"payload": "{}", **values}
        self.insert("jobs", id=name, kind=kind, library_id=library, created_at=earlier, updated_at=earlier, **values)
        return name

    def file(self, library: int, path: str, **values: Any) -> None:
        """Make a row of a file, as an earlier scan would have."""
        earlier = self.now() - _EARLIER
        known = {"size_bytes": 1, "mtime_ns": 1, "needs_hash": 0, "created_at": earlier, "updated_at": earlier}
        self.insert("library_files", library_id=library, relative_path=path, **{**known, **values})

    def plan(self, mode: str, steps: Sequence[Mapping[str, Any]]) -> int:
        """Make a plan of deletion; its id."""
        number = len(self.rows("deletion_plans")) + 1
        counts = {"group_count": 1, "file_count": len(steps), "freed_bytes": 1, "is_complete": 1}
        self.insert("deletion_plans", id=number, mode=mode, rules="{}", created_at=self.now() - _EARLIER, **counts)
        for position, step in enumerate(steps, start=1):
            self.insert("deletion_steps", plan_id=number, position=position, **step)
        return number

    def let_reference_work(self) -> None:
        """Have our own plane do what waits. What it writes is not the examined plane's."""
        reference.work(self.database, self.state)
        self.write("DELETE FROM conformance_writes")

    def wait_for(
        self,
        condition: Callable[[], T],
        rule: str,
        what: str,
        *,
        every: float = _LOOK_EVERY,
        patience: float | None = None,
    ) -> T:
        """Wait until something is so, and give it; raises ScenarioStuck with the rule that is broken when it never is."""
        patience = patience or self.patience
        until = time.monotonic() + patience
        while not (found := condition()):
            if time.monotonic() > until:
                said = self._subjects[-1].output if self._subjects else ""
                raise ScenarioStuck(rule, f"{what} did not happen within {patience:g} s; the plane said: {said!r}")
            time.sleep(every)
        return found

    def wait_for_job(self, name: str, rule: str = "JOB-3", what: str | None = None) -> str:
        """Wait until a job is over; its status. `what` says for people what is waited for."""

        def status() -> str | None:
            found = self.read(lambda conn: conn.value("SELECT status FROM jobs WHERE id = :id", {"id": name}))
            return found if found in _OVER else None

        return str(self.wait_for(status, rule, what or f"an end of the job {name!r}"))

    def wait_for_claim(self, name: str) -> Row:
        """Wait until a plane has a job."""
        return self.wait_for(
            lambda: self.rows("jobs", "id = :id AND status = 'running'", id=name),
            "LEASE-1",
            f"a claim of {name!r}",
            every=_LOOK_CLOSELY,
        )[0]

    def freeze(self, subject: Subject) -> None:
        """Have a plane stand still at a moment at which it keeps no other from writing."""
        subject.freeze()
        while not self._may_write():
            subject.thaw()
            time.sleep(_LOOK_CLOSELY)
            subject.freeze()

    def _may_write(self) -> bool:
        if isinstance(self.database, SqliteDatabase):
            with closing(self.database.connect()) as raw:
                return _begin(raw)
        rows = self.database.write_blocking(lambda conn: conn.all("SELECT 1 FROM jobs FOR UPDATE SKIP LOCKED"))
        return len(rows) == len(self.rows("jobs"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other program from writing; raises NotApplicable where others need not wait for that."""
        if not isinstance(self.database, SqliteDatabase):
            raise NotApplicable("on PostgreSQL a writer waits for a row, and not for all others")
        with closing(self.database.connect()) as raw:
            self.wait_for(lambda: _begin(raw), "PLANE-6", "an end of the transactions that write")
            yield
            raw.execute("ROLLBACK")

    @property
    def locks(self) -> Path | None:
        """Where planes hold their locks; None where there are none."""
        return planes_folder(self.database.workers_folder) if isinstance(self.database, SqliteDatabase) else None

    def reach(self, moment: str) -> None:
        """Keep all rows under a name."""
        self.recording.moments[moment] = {name: self.rows(name) for name in _COLUMNS}
        self.recording.reached[moment] = self.read(journal.last_seq)


def listed(values: Sequence[str]) -> str:
    """A list as columns keep it."""
    return json.dumps(list(values))


def _begin(raw: sqlite3.Connection) -> bool:
    try:
        raw.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes | memoryview) else value
