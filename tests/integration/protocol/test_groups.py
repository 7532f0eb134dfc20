"""The summary of duplicate groups is what a count over all files would give, whoever writes and in whatever order."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kurabito.db import Connection, Database

COUNTED = """
SELECT hash_algorithm, content_hash, count(*), sum(size_bytes),
       count(*) - count(inode) + count(DISTINCT CASE WHEN inode IS NOT NULL THEN device || ':' || inode END)
FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
GROUP BY hash_algorithm, content_hash ORDER BY 1, 2
"""
SHOWN = "SELECT * FROM duplicate_groups ORDER BY 1, 2"
INSERT = """
INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
VALUES (:id, 1, :path, 10, 1, 1, :inode, :is_missing, :needs_hash, :algorithm, :hash, :now, :now)
"""
UPDATE = """
UPDATE library_files SET inode = :inode, is_missing = :is_missing, needs_hash = :needs_hash, hash_algorithm = :algorithm,
                         content_hash = :hash
WHERE id = :id
"""
CONTENTS = st.sampled_from(
    [
        {"algorithm": "blake3", "hash": b"a" * 32},
        {"algorithm": "blake3", "hash": b"a" * 32},
        {"algorithm": "sha256", "hash": b"b" * 32},
        {"algorithm": None, "hash": None},
    ]
)
PLACES = st.fixed_dictionaries(
    {
        "id": st.integers(1, 6),
        "inode": st.sampled_from([None, 1, 2]),
        "is_missing": st.sampled_from([0, 0, 1]),
        "needs_hash": st.sampled_from([0, 0, 1]),
    }
)
FILES = st.builds(lambda place, content: {**place, **content}, PLACES, CONTENTS)
STEPS = st.lists(st.tuples(st.sampled_from(["insert", "update", "delete", "everything gone"]), FILES), max_size=12)


def take(conn: Connection, step: str, file: dict[str, Any]) -> None:
    known = conn.one("SELECT 1 FROM library_files WHERE id = :id", {"id": file["id"]}) is not None
    if step == "everything gone":
        conn.run("UPDATE library_files SET is_missing = 1")
    elif step == "delete":
        conn.run("DELETE FROM library_files WHERE id = :id", {"id": file["id"]})
    elif known:
        conn.run(UPDATE, file)
    else:
        conn.run(INSERT, {**file, "path": f"{file['id']}.mkv"})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_summary_is_what_counting_gives(database: Database, steps: list[tuple[str, dict[str, Any]]]) -> None:
    database.write_blocking(lambda conn: conn.run("DELETE FROM library_files"))
    for step, file in steps:
        database.write_blocking(lambda conn, step=step, file=file: take(conn, step, file))  # type: ignore[misc]
        shown, counted = database.read_blocking(lambda conn: (conn.all(SHOWN), conn.all(COUNTED)))
        assert shown == counted


def test_writers_that_overlap_do_not_miss_each_others_files(database: Database) -> None:
    def add(first: int) -> None:
        for number in range(first, first + 40):
            file = {"id": number, "inode": number, "is_missing": 0, "needs_hash": 0, "algorithm": "blake3"}
            rows = [
                {**file, "id": number * 2 + place, "hash": hashed}
                for place, hashed in enumerate((b"a" * 32, b"b" * 32))
            ]
            # In opposite orders, which would be a deadlock if groups were locked as they come.
            for row in rows if first else rows[::-1]:
                values = {**row, "path": f"{row['id']}.mkv"}
                database.write_blocking(lambda conn, values=values: conn.run(INSERT, values))  # type: ignore[misc]

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shown, counted = database.read_blocking(lambda conn: (conn.all(SHOWN), conn.all(COUNTED)))
    assert shown == counted
    assert [row[2] for row in shown] == [120, 120]
