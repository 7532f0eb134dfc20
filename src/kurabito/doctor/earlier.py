"""What is left of the earlier system whose database was taken over."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from kurabito.app.database import BACKUPS, sqlite_file
from kurabito.db.adoption import KEPT, holds_earlier_tables
from kurabito.doctor.findings import CheckResult, ok, warning
from kurabito.settings import Settings

_KEPT: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, length(?)) = ? ORDER BY name"
_FILES: Final = "SELECT count(*) FROM library_files"
_OURS: Final = "SELECT 1 FROM sqlite_master WHERE name = 'kurabito_migrations'"


def taken_over(settings: Settings) -> CheckResult | None:
    """Everything came over, or is known to be kept."""
    file = sqlite_file(settings)
    if file is None or not file.exists():
        return None
    try:
        with closing(_reading(file)) as reader:
            if reader.execute(_OURS).fetchone() is None or _count(reader) is None:
                return None
            kept = [name for (name,) in reader.execute(_KEPT, (KEPT, KEPT))]
            if not _count(reader) and (lost := _emptied(settings.state / BACKUPS)):
                return lost
    except sqlite3.DatabaseError:
        # Another check says what is wrong with the file.
        return None
    if kept:
        return ok(f"{', '.join(kept)}: what the earlier system kept and Kurabito has no place for; drop it at will")
    return None


def _emptied(backups: Path) -> CheckResult | None:
    """An older version lost the files of a database while it took it over; the copy that it made before has them."""
    for copy in sorted(backups.glob("*.db")):
        try:
            with closing(_reading(copy)) as reader:
                files = _count(reader) if holds_earlier_tables(reader) else None
        except sqlite3.DatabaseError:
            continue
        if files:
            return warning(
                f"no file is known, and {copy}, a copy of the earlier system's database, has {files}: an older version of "
                "Kurabito lost them while it took it over",
                f"stop Kurabito, `kurabito db restore {copy}`, then `kurabito db migrate`",
            )
    return None


def _count(reader: sqlite3.Connection) -> int | None:
    try:
        (count,) = reader.execute(_FILES).fetchone()
    except sqlite3.OperationalError:
        return None
    return int(count)


def _reading(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
