"""Copies of a SQLite database, and the way back.

A copy is taken with SQLite's own means, so it is of one moment even while others write. It is a single file that appears
under its name only when it is whole.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.clock import to_datetime
from kurabito.db.adoption import holds_earlier_tables
from kurabito.db.errors import NotADatabase
from kurabito.db.sqlite.privacy import close_to_others
from kurabito.errors import DatabaseUnavailable, InvalidInput
from kurabito.maintenance.kept_access import keep_access

KEPT: Final = 5
"""How many copies stay when old ones are removed."""

_STEM: Final = "kurabito-"
_EARLIER: Final = "earlier-"
_COLUMNS: Final = (
    "SELECT one.name, its.name FROM sqlite_master AS one, pragma_table_info(one.name) AS its WHERE one.type = 'table'"
)
_LEDGER: Final = "SELECT 1 FROM sqlite_master WHERE name = 'kurabito_migrations'"
# What SQLite may have left beside the file of a process that died.
_COMPANIONS: Final = ("-wal", "-shm")


class BackupFile(NamedTuple):
    """A copy as it is shown."""

    path: Path
    size_bytes: int
    made_at: datetime

    @property
    def name(self) -> str:
        return self.path.name


def described(folder: Path) -> list[BackupFile]:
    """The copies in a folder, also those of the earlier system, the youngest first."""
    found = []
    for path in (*copies_in(folder), *folder.glob(f"{_EARLIER}*.db")):
        if path.is_symlink() or not path.is_file():
            continue
        about = path.stat()
        found.append(BackupFile(path, about.st_size, datetime.fromtimestamp(about.st_mtime, UTC)))
    return sorted(found, key=lambda copy: copy.made_at, reverse=True)


def fresh_name(folder: Path, now: int) -> Path:
    """A name for a copy that is taken now; names sort by age."""
    return folder / f"{_STEM}{_stamp(now)}.db"


def name_of_earlier(folder: Path, now: int) -> Path:
    """A name for a copy of a database of the earlier system. It is the way back, so it is not removed with old copies."""
    return folder / f"{_EARLIER}{_stamp(now)}.db"


def holds_earlier(file: Path) -> bool:
    """Whether a database has tables of the earlier system that were not taken over yet."""
    with closing(_connect(file, "ro")) as reader:
        return holds_earlier_tables(reader)


def copies_in(folder: Path) -> list[Path]:
    """The copies in a folder, the oldest first."""
    return sorted(folder.glob(f"{_STEM}*.db"))


def back_up(database: Path, copy: Path) -> None:
    """Write a copy of the database; an existing file is never written over."""
    if copy.exists():
        raise InvalidInput("file", f"{copy} is there already; give another name, or move it away")
    try:
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _copy_whole(database, copy)
    except (OSError, sqlite3.Error) as problem:
        raise DatabaseUnavailable(
            f"{database} cannot be copied to {copy}: {problem}; see that there is room and that this user may write there"
        ) from problem


def restore(copy: Path, database: Path, now: int) -> Path | None:
    """Put a copy in the database's place; where the old file is kept now, if there was one.

    Who may come in stays as it is (`kept_access.py`). No process may have the database open: it would continue to write to
    the old file.
    """
    check_copy(copy)
    _check_unused(database)
    part = database.with_name(f"{database.name}.restoring")
    try:
        part.unlink(missing_ok=True)
        _copy_whole(copy, part)
        if _has_ledger(part):
            keep_access(part, database)
            _sync(part)
        kept = _keep_beside(database, now)
        # At no moment is there no database.
        part.replace(database)
    except (OSError, sqlite3.Error) as problem:
        raise DatabaseUnavailable(f"{copy} cannot be copied to {database}: {problem}") from problem
    return kept


def forget_old(folder: Path, keep: int = KEPT) -> int:
    """Remove all but the youngest copies; says how many."""
    old = copies_in(folder)[:-keep]
    for copy in old:
        copy.unlink(missing_ok=True)
    return len(old)


def _copy_whole(source: Path, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    # Made before SQLite writes to it: hashes of passwords and keys are in there.
    part.touch(mode=0o600)
    try:
        with closing(_connect(source, "ro")) as reader, closing(_connect(part, "rw")) as writer:
            reader.backup(writer)
            # One file, and no log beside it.
            writer.execute("PRAGMA journal_mode = DELETE").fetchone()
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _stamp(now: int) -> str:
    return f"{to_datetime(now):%Y%m%dT%H%M%S.%fZ}"


def check_copy(copy: Path) -> None:
    """Raises KurabitoError unless this is a whole database of ours."""
    if not copy.is_file():
        raise InvalidInput("file", f"there is no file {copy}")
    try:
        with closing(_connect(copy, "ro")) as reader:
            (found,) = reader.execute("PRAGMA quick_check(1)").fetchone()
            is_usable = reader.execute(_LEDGER).fetchone() is not None or holds_earlier_tables(reader)
    except sqlite3.Error as problem:
        raise NotADatabase(f"{copy} is no SQLite database that can be read: {problem}") from problem
    if found != "ok":
        raise NotADatabase(f"{copy} is damaged ({found}); take another copy")
    if not is_usable:
        raise NotADatabase(f"{copy} is a database of another program")


def check_tables(copy: Path, trial: Path, new: Path) -> None:
    """Raises KurabitoError unless a copy that was brought up to date has every table and column of a new database."""
    missing = sorted(_columns(new) - _columns(trial))
    if missing:
        named = ", ".join(".".join(one) for one in missing[:3])
        raise NotADatabase(f"{copy} lacks what it should have ({named}); take another copy")


def _columns(file: Path) -> set[tuple[str, str]]:
    with closing(_connect(file, "ro")) as reader:
        return set(reader.execute(_COLUMNS))


def _has_ledger(file: Path) -> bool:
    """Whether the tables are ours, and not those of the earlier system."""
    with closing(_connect(file, "ro")) as reader:
        return reader.execute(_LEDGER).fetchone() is not None


def _check_unused(database: Path) -> None:
    if not database.exists():
        return
    try:
        with closing(_connect(database, "rw")) as alone:
            # Leaving WAL needs the file for itself, in whatever process the others are.
            alone.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return
        raise DatabaseUnavailable(
            f"{database} is open in another process; stop `kurabito serve` and every worker first"
        ) from problem
    except sqlite3.DatabaseError:
        # It is damaged, which may be the reason for the restore.
        return


def _keep_beside(database: Path, now: int) -> Path | None:
    if not database.exists():
        return None
    kept = database.with_name(f"{database.name}.before-{_stamp(now)}")
    # A log that was left by a crash would be taken for the new file's own.
    for companion in _COMPANIONS:
        left = database.with_name(database.name + companion)
        if left.exists():
            left.replace(kept.with_name(kept.name + companion))
    try:
        os.link(database, kept)
    except OSError:
        # A file system without hard links.
        shutil.copy2(database, kept)
    close_to_others(kept)
    return kept


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=5)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
