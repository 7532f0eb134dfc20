"""Is the database whole?"""

from __future__ import annotations

from kurabito.db import Connection, Database, Dialect


def damages(database: Database, *, thorough: bool = False) -> list[str]:
    """What is wrong inside the file, as SQLite says it; nothing for a server, which checks itself.

    A thorough check also compares every index with its table, and takes several times as long.
    """
    if database.dialect is not Dialect.SQLITE:
        return []
    return database.read_blocking(lambda conn: _look(conn, "integrity_check" if thorough else "quick_check"))


def _look(conn: Connection, pragma: str) -> list[str]:
    found = [str(row[0]) for row in conn.all(f"PRAGMA {pragma}(20)")]
    astray = [
        f"a row of {row[0]} refers to a row of {row[2]} that is missing" for row in conn.all("PRAGMA foreign_key_check")
    ]
    return [problem for problem in found if problem != "ok"] + astray[:20]
