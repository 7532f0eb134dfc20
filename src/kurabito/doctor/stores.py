"""The database, and its file system."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kurabito.access import Passwords
from kurabito.app.database import check_kept, is_new, missing_role, pending_migrations, sqlite_file
from kurabito.app.listener import is_loopback, refuse_strangers
from kurabito.clock import SECOND, SystemClock
from kurabito.db import Database, open_database
from kurabito.db.errors import EarlierDatabase
from kurabito.db.migrate import PRODUCT, has_set
from kurabito.doctor.findings import CheckResult, broken, ok, warning
from kurabito.errors import ConfigError, DatabaseError
from kurabito.maintenance.integrity import damages
from kurabito.settings import Settings

_MOUNTS: Final = Path("/proc/self/mountinfo")
# Where another machine may not see a lock, or share a memory map: SQLite needs both.
_SHARED: Final = re.compile(r"nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|virtiofs|fuse\..*")
_OLDEST_SERVER: Final = 13
_SKEW: Final = 5 * SECOND


def file_system(settings: Settings) -> CheckResult | None:
    """SQLite lies on a disk of this machine."""
    file = sqlite_file(settings)
    if file is None or not _MOUNTS.exists():
        return None
    kind = kind_of_file_system(file.absolute(), _MOUNTS.read_text(encoding="utf-8", errors="replace"))
    if _SHARED.fullmatch(kind):
        return warning(
            f"{file} lies on a shared file system ({kind}), where SQLite can be damaged",
            "move the state to a disk of this machine (KURABITO_STATE), or use PostgreSQL (KURABITO_DATABASE)",
        )
    return ok(f"{file} lies on a disk of this machine ({kind})")


def kind_of_file_system(path: Path, mounts: str) -> str:
    """The type of the file system that holds the path, from the text of a mountinfo file."""
    longest, kind = "", "unknown"
    for line in mounts.splitlines():
        place, _, source = line.partition(" - ")
        mounted_at = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), place.split()[4])
        # Of two at the same place the later one hides the earlier.
        if path.is_relative_to(mounted_at) and len(mounted_at) >= len(longest):
            longest, kind = mounted_at, source.split()[0]
    return kind


def opens(settings: Settings) -> CheckResult:
    """It is there and answers."""
    try:
        database = _open(settings)
    except EarlierDatabase:
        return warning(
            f"{sqlite_file(settings)} has the tables of the earlier system",
            "`kurabito serve` or `kurabito db migrate` takes them over, after a backup",
        )
    if database is None:
        return ok(f"{sqlite_file(settings)} is not there yet; `kurabito serve` makes it")
    database.close()
    return ok(f"{database.dialect.title} answers")


def integrity(settings: Settings) -> CheckResult | None:
    """The file is whole."""
    with _opened(settings) as database:
        if database is None or database.dialect.has_server:
            return None
        if found := damages(database):
            return broken(
                f"the database is damaged: {'; '.join(found[:3])}",
                "stop Kurabito and put a backup in its place: `kurabito db restore FILE`",
            )
        return ok("the database is whole")


def migrations(settings: Settings) -> CheckResult | None:
    """Its tables are those of this version."""
    with _opened(settings) as database:
        if database is None:
            return None
        if missing := pending_migrations(database):
            return warning(f"it lacks {', '.join(missing)}", "`kurabito serve` or `kurabito db migrate` applies them")
        return ok("its tables are those of this version")


def data_plane_role(settings: Settings) -> CheckResult | None:
    """PostgreSQL holds data planes to their rights."""
    with _opened(settings) as database:
        if database is None or not database.dialect.has_server or pending_migrations(database):
            return None
        if missing_role(settings, database) is not None:
            return warning(
                f"data planes can write everything: the role {settings.dataplane_role} is missing or lacks rights",
                "`kurabito db migrate` creates it, or prints the SQL for a user who may create roles",
            )
        return ok(f"data planes are {settings.dataplane_role}, which may write no policy")


def server_version(settings: Settings) -> CheckResult | None:
    """PostgreSQL is one that we can use."""
    with _opened(settings) as database:
        if database is None or not database.dialect.has_server:
            return None
        return judge_version(int(_ask(database, "SELECT current_setting('server_version_num')")))


def judge_version(number: int) -> CheckResult:
    """Whether a server with this number, like 160002, is new enough."""
    major = number // 10_000
    if major < _OLDEST_SERVER:
        return broken(f"PostgreSQL {major} is too old", f"use PostgreSQL {_OLDEST_SERVER} or newer")
    return ok(f"PostgreSQL {major}")


def server_clock(settings: Settings) -> CheckResult | None:
    """The server's clock agrees with this machine's."""
    with _opened(settings) as database:
        if database is None or not database.dialect.has_server:
            return None
        here = SystemClock()
        before = here.now()
        there = int(_ask(database, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
        return judge_skew(before, there, here.now())


def judge_skew(before: int, there: int, after: int) -> CheckResult:
    """Whether a clock is right that was asked between two moments of ours."""
    # Whatever the way took cannot be told from a difference.
    skew = max(before - there, there - after, 0)
    says = f"the database server's clock differs from this machine's by {skew / SECOND:.1f} s"
    return warning(says, "have both machines set their clocks by NTP") if skew > _SKEW else ok(says)


def access(settings: Settings) -> CheckResult:
    """Other machines come in only with a password."""
    if settings.password_file is None and not is_loopback(settings.host):
        with _opened(settings) as database:
            if database is None or not has_set(database, PRODUCT):
                has_password = False
            else:
                has_password = asyncio.run(Passwords(database).is_set())
        try:
            refuse_strangers(settings.host, has_password=has_password)
        except ConfigError as problem:
            return broken(str(problem))
    who = "this machine only" if is_loopback(settings.host) else "other machines too, with a password"
    return ok(f"{settings.host} can be reached from {who}")


def _open(settings: Settings) -> Database | None:
    """The open database; None for a file that does not exist yet, which is not made here."""
    check_kept(settings)
    if is_new(settings):
        return None
    database = open_database(settings.database, create=False)
    database.open()
    return database


@contextmanager
def _opened(settings: Settings) -> Iterator[Database | None]:
    """The open database; None if it cannot be opened, which one check reports for all."""
    try:
        database = _open(settings)
    except (ConfigError, DatabaseError):
        database = None
    try:
        yield database
    finally:
        if database is not None:
            database.close()


def _ask(database: Database, question: str) -> str:
    return str(database.read_blocking(lambda conn: conn.value(question)))
