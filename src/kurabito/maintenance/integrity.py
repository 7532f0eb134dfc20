"""Is the database whole?"""

from __future__ import annotations

from kurabito.db import Connection, Database


def damages(database: Database, *, thorough: bool = False) -> list[str]:
    """What is wrong inside the file, as SQLite says it; nothing for a server, which checks itself.

    A thorough check also compares every index with its table, and takes several times as long.
    """
    if database.dialect.has_server:
        return []
    return database.read_blocking(lambda conn: _look(conn, "integrity_check" if thorough else "quick_check"))


def _look(conn: Connection, pragma: str) -> list[str]:
    found = [str(problem) for (problem,) in conn.all(f"PRAGMA {pragma}(20)")]
    astray = [
        f"a row of {table} refers to a row of {parent} that is missing"
        for table, _, parent, _ in conn.all("PRAGMA foreign_key_check")
    ]
    return [problem for problem in found if problem != "ok"] + astray[:20]
