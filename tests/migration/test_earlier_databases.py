"""A database of the earlier system is taken over row by row, whichever of its shapes it has."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from kurabito.db import migrate, open_database
from kurabito.db.errors import RowsWouldBeLost
from kurabito.db.migrate import PRODUCT, RUNTIME, available
from kurabito.db.port import Dialect

if TYPE_CHECKING:
    from tests.migration.conftest import Earlier, Workshop

WITHOUT_HASHES = dict.fromkeys(("is_missing", "needs_hash", "hash_algorithm", "content_hash", "hashed_at"), "")
# What its own versions had that ours does not.
OF_ITS_OWN = {
    "library_files": {
        "last_seen_scan_id": "INTEGER REFERENCES scan_sessions(id) ON DELETE SET NULL",
        "hash_claim_token": "VARCHAR(64)",
    },
    "thumbnails": {"version": "INTEGER NOT NULL DEFAULT 1"},
    "wal_maintenance_jobs": {"requested_by": "VARCHAR(64)"},
}
INDEXES = """
CREATE UNIQUE INDEX ix_jobs_single_active_scan_hash ON jobs (status) WHERE status = 'RUNNING';
CREATE INDEX ix_jobs_created_id ON jobs (created_at, id);
CREATE INDEX ix_library_files_dedup_group ON library_files (is_missing, needs_hash, hash_algorithm, content_hash, id);
CREATE INDEX ix_library_files_needs_hash ON library_files (needs_hash);
CREATE INDEX ix_thumbnails_group ON thumbnails (group_key, status);
CREATE INDEX ix_thumbnails_file ON thumbnails (file_id);
CREATE UNIQUE INDEX ux_wal_maintenance_jobs_active ON wal_maintenance_jobs (id);
CREATE TRIGGER tr_library_files_inserted AFTER INSERT ON library_files BEGIN UPDATE jobs SET progress = 1; END;
CREATE TRIGGER tr_thumbnails_kept AFTER DELETE ON thumbnails BEGIN DELETE FROM library_files; END;
"""
OTHERS = """
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL, applied_at DATETIME);
INSERT INTO schema_migrations VALUES (1, 'baseline', '2024-05-06'), (11, 'duplicate_group_query_indexes', '2024-05-07');
CREATE TABLE job_locks (
    lock_key VARCHAR(100) PRIMARY KEY, owner_job_id VARCHAR(36) NOT NULL REFERENCES jobs(id) ON DELETE CASCADE
);
INSERT INTO job_locks SELECT 'scan_hash_mutex', id FROM jobs WHERE kind = 'SCAN' LIMIT 1;
CREATE TABLE notes (file_id INTEGER REFERENCES library_files(id) ON DELETE CASCADE, note TEXT);
INSERT INTO notes SELECT id, 'mine' FROM library_files;
CREATE VIEW missing_files AS SELECT relative_path FROM library_files WHERE is_missing = 1;
CREATE TRIGGER tr_notes AFTER INSERT ON notes BEGIN UPDATE library_files SET updated_at = 1 WHERE id = new.file_id; END;
"""


def in_turn(workshop: Workshop) -> Callable[[int], Any]:
    """Times as several programs wrote them into one column."""
    styles: Iterator[Callable[[int], Any]] = itertools.cycle(
        [
            workshop.iso,
            workshop.iso_with_zone,
            lambda moment: workshop.iso(moment).replace(" ", "T") + "Z",
            lambda moment: workshop.iso(moment) + " +00:00",
            lambda moment: workshop.iso(moment) + " UTC",
            lambda moment: moment,
            str,
            lambda moment: moment * 1000,
        ]
    )

    def write(moment: int) -> Any:
        return next(styles)(moment)

    return write


def numbered(workshop: Workshop) -> Callable[[str], int]:
    return lambda job: workshop.jobs.index(job) + 1


INTEGER_IDS = {
    "jobs": {"id": "INTEGER PRIMARY KEY AUTOINCREMENT"},
    "scan_sessions": {"job_id": "INTEGER REFERENCES jobs(id) ON DELETE CASCADE"},
}
FIRST_TABLES = ("library_roots", "jobs", "scan_sessions", "library_files")
VARIANTS: dict[str, Callable[[Workshop], Earlier]] = {
    "as its ORM made it": lambda shop: shop.Earlier(),
    "lowercase words": lambda shop: shop.Earlier(spell=str),
    "mixed case": lambda shop: shop.Earlier(spell=str.capitalize),
    "names of an enum": lambda shop: shop.Earlier(spell=lambda word: f"JobStatus.{word.upper()}"),
    "seconds": lambda shop: shop.Earlier(time=lambda moment: moment // 1_000_000, precision=1_000_000),
    "milliseconds": lambda shop: shop.Earlier(time=lambda moment: moment // 1000, precision=1000),
    "microseconds": lambda shop: shop.Earlier(time=lambda moment: moment),
    "times of every kind": lambda shop: shop.Earlier(time=in_turn(shop)),
    "integer job ids": lambda shop: shop.Earlier(job_id=numbered(shop), columns=INTEGER_IDS),
    "hashes as hexadecimal text": lambda shop: shop.Earlier(digest=lambda found: found.hex().upper()),
    "hashes with their name": lambda shop: shop.Earlier(digest=lambda found: f"blake3:{found.hex()}"),
    "flags as text": lambda shop: shop.Earlier(flag=lambda yes: "true" if yes else "false"),
    "its first version": lambda shop: shop.Earlier(tables=FIRST_TABLES, columns={"library_files": WITHOUT_HASHES}),
    "only one of the hash columns": lambda shop: shop.Earlier(
        columns={"library_files": {**WITHOUT_HASHES, "is_missing": "BOOLEAN NOT NULL DEFAULT 0"}}
    ),
    "jobs and nothing else": lambda shop: shop.Earlier(tables=("jobs",)),
    # This one was emptied, and the command said that all was well.
    "only files refer to libraries": lambda shop: shop.Earlier(
        tables=FIRST_TABLES, columns={"scan_sessions": {"job_id": "", "library_id": ""}}
    ),
    "thumbnails and no checkpoints": lambda shop: shop.Earlier(tables=(*FIRST_TABLES, "thumbnails")),
    "columns that we lack": lambda shop: shop.Earlier(columns=OF_ITS_OWN),
    "columns with names that are hard to say": lambda shop: shop.Earlier(
        columns={"library_files": {'"we""ird, col"': "TEXT DEFAULT 'x'", "is_carried": "TEXT", "kept_because": "TEXT"}}
    ),
    "columns that are computed": lambda shop: shop.Earlier(
        columns={"library_files": {"loud": "TEXT GENERATED ALWAYS AS (upper(relative_path)) VIRTUAL"}}
    ),
    "columns in capitals": lambda shop: shop.Earlier(
        further="ALTER TABLE jobs RENAME COLUMN status TO STATUS; ALTER TABLE library_files RENAME COLUMN id TO Id;"
    ),
    "names of tables in capitals": lambda shop: shop.Earlier(
        named={name: name.upper() for name in ("jobs", "library_files", "thumbnails")}
    ),
    "indexes and triggers with names of ours": lambda shop: shop.Earlier(further=INDEXES),
    "tables of other programs beside it": lambda shop: shop.Earlier(further=OTHERS),
    "libraries under another name": lambda shop: shop.Earlier(
        named={"library_roots": "libraries"},
        columns={
            "scan_sessions": {"library_id": "INTEGER REFERENCES libraries(id) ON DELETE CASCADE"},
            "library_files": {"library_id": "INTEGER NOT NULL REFERENCES libraries(id) ON DELETE CASCADE"},
        },
    ),
    "nothing in it": lambda shop: shop.Earlier(rows={table: [] for table in shop.columns}),
    "a step was interrupted before it filled the new table": lambda shop: shop.Earlier(
        further="CREATE TABLE jobs__new (id VARCHAR(36) PRIMARY KEY, kind VARCHAR(16), status VARCHAR(16));"
    ),
    "a step was interrupted before it dropped the old table": lambda shop: shop.Earlier(
        further="CREATE TABLE jobs__new AS SELECT * FROM jobs; CREATE TABLE library_files_before AS SELECT * FROM library_files;"
    ),
    "a step was interrupted after it dropped the old table": lambda shop: shop.Earlier(
        further="CREATE TABLE jobs__new AS SELECT * FROM jobs; DROP TABLE jobs;"
    ),
    "a step was interrupted after it renamed the old table": lambda shop: shop.Earlier(
        further=f"{INDEXES} PRAGMA legacy_alter_table = ON; ALTER TABLE library_files RENAME TO library_files_before;"
    ),
    "a step was interrupted while it filled the new table": lambda shop: shop.Earlier(
        further="ALTER TABLE library_files RENAME TO library_files_before;"
        "CREATE TABLE library_files AS SELECT * FROM library_files_before WHERE id < 130;"
    ),
    "a step was interrupted and its names are ours": lambda shop: shop.Earlier(
        further="CREATE TABLE kurabito_aside_jobs AS SELECT * FROM jobs; CREATE TABLE earlier_jobs (id); "
    ),
}


@pytest.fixture(params=VARIANTS)
def earlier(request: pytest.FixtureRequest, workshop: Workshop) -> Earlier:
    return VARIANTS[request.param](workshop)


def test_every_row_is_taken_over(earlier: Earlier, workshop: Workshop, tmp_path: Path) -> None:
    path = earlier.write(tmp_path / "old.db")
    raw, told = workshop.taken_over(path)
    with closing(raw):
        workshop.assert_all_there(raw, earlier.expected())
        assert sum(table.carried for table in told) == sum(len(rows) for rows in earlier.expected().values())
        groups = raw.execute("SELECT * FROM duplicate_groups ORDER BY 1, 2").fetchall()
        counted = raw.execute(
            "SELECT hash_algorithm, content_hash, count(*), sum(size_bytes), count(DISTINCT device || ':' || inode) "
            "FROM hashed_files GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
        assert [tuple(group) for group in groups] == [tuple(group) for group in counted]
    again, told = workshop.taken_over(path)
    with closing(again):
        workshop.assert_all_there(again, earlier.expected())
        assert told == []


def test_a_database_that_was_taken_over_has_the_tables_of_a_new_one(workshop: Workshop, tmp_path: Path) -> None:
    listed = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE 'earlier%' ORDER BY 1, 2"
    old, _ = workshop.taken_over(workshop.Earlier(columns=OF_ITS_OWN, further=INDEXES).write(tmp_path / "old.db"))
    new, _ = workshop.taken_over(tmp_path / "new.db")
    with closing(old), closing(new):
        assert [tuple(row) for row in old.execute(listed)] == [tuple(row) for row in new.execute(listed)]


def test_what_we_have_no_column_for_is_kept_and_told(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(
        columns=OF_ITS_OWN,
        further="UPDATE library_files SET last_seen_scan_id = 3 WHERE id < 111; UPDATE library_files SET hash_claim_token = 'x' WHERE id = 101;",
    )
    raw, told = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        kept = raw.execute("SELECT * FROM earlier_library_files ORDER BY id").fetchall()
        assert [(row["id"], row["last_seen_scan_id"], row["is_carried"]) for row in kept] == [
            (number, 3, 1) for number in range(101, 111)
        ]
        assert kept[0]["kept_because"] == "Kurabito has no column for last_seen_scan_id, hash_claim_token"
        assert kept[0]["relative_path"] == "Show 1/ä 101.mkv"
        (files,) = [table for table in told if table.name == "library_files"]
        assert (files.rows, files.carried, files.kept, files.kept_in) == (60, 60, 10, "earlier_library_files")
        # Nothing of ours is held back by what is kept.
        raw.execute("PRAGMA foreign_keys = ON")
        assert raw.execute("DELETE FROM library_roots").rowcount == 2
        assert raw.execute("SELECT count(*) FROM earlier_library_files").fetchone()[0] == 10


def test_tables_of_other_programs_are_left_as_they_are(workshop: Workshop, tmp_path: Path) -> None:
    path = workshop.Earlier(further=OTHERS).write(tmp_path / "old.db")
    names = "('schema_migrations', 'job_locks', 'notes', 'missing_files', 'tr_notes')"
    listed = f"SELECT name, sql FROM sqlite_master WHERE name IN {names} ORDER BY name"
    asked = ("SELECT * FROM schema_migrations", "SELECT * FROM job_locks", "SELECT * FROM notes", listed)
    with closing(sqlite3.connect(path)) as before:
        was = [before.execute(question).fetchall() for question in asked]
    raw, _ = workshop.taken_over(path)
    with closing(raw):
        assert [[tuple(row) for row in raw.execute(question)] for question in asked] == was
        assert [row[0] for row in raw.execute("SELECT * FROM missing_files")] == ["Show 0/ä 150.mkv"]
        # What referred to their rows refers to ours now.
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("DELETE FROM library_files WHERE id = 101")
        assert raw.execute("SELECT count(*) FROM notes").fetchone()[0] == 59


def test_of_several_active_rows_one_stays_and_the_others_say_why(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier()
    scan, hash_, delete, done = workshop.jobs
    jobs = {row["id"]: row for row in earlier.rows["jobs"]}
    jobs[scan].update(status="pending", created_at=workshop.moment - 1)
    jobs[hash_].update(status="running", worker_id="rust-1")
    jobs[done].update(status="running", created_at=workshop.moment + 1, error_message="was slow", worker_id="rust-2")
    for number in (1, 2):
        earlier.rows["thumbnail_cleanup_jobs"][number].update(status="running", group_key="file:1")
        earlier.rows["wal_maintenance_jobs"][number - 1].update(status="pending")
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        found = {row["id"]: row for row in raw.execute("SELECT * FROM jobs")}
        assert [found[job]["status"] for job in (scan, hash_, delete, done)] == [
            "retryable", "running", "pending", "retryable",
        ]  # fmt: skip
        assert [found[job]["error_code"] for job in (scan, hash_, done)] == ["SUPERSEDED", None, "SUPERSEDED"]
        assert found[scan]["error_message"]
        assert found[done]["error_message"] == "was slow"
        assert [found[job]["worker_id"] for job in (hash_, done)] == ["rust-1", None]
        active = "SELECT status, error_code FROM {} ORDER BY id"
        cleanups = [tuple(row) for row in raw.execute(active.format("thumbnail_cleanup_jobs"))]
        assert cleanups == [("failed", "SUPERSEDED"), ("running", None), ("failed", "SUPERSEDED")]
        checkpoints = [tuple(row) for row in raw.execute(active.format("wal_maintenance_jobs"))]
        assert checkpoints == [("pending", None), ("failed", "SUPERSEDED")]


def test_what_cannot_be_ours_is_kept_as_it_was(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(
        columns={"library_files": {"relative_path": "VARCHAR(4096)"}},
        further="""
        UPDATE library_files SET hash_algorithm = 'MD5' WHERE id = 101;
        UPDATE library_files SET hashed_at = 'yesterday' WHERE id = 102;
        UPDATE library_files SET relative_path = NULL WHERE id = 103;
        UPDATE library_files SET relative_path = 'Show 0/ä 104.mkv', library_id = 9 WHERE id = 104;
        UPDATE library_files SET relative_path = 'Show 0/ä 104.mkv', library_id = 9 WHERE id = 106;
        UPDATE library_files SET relative_path = CAST(x'ff6162' AS TEXT) WHERE id = 108;
        UPDATE jobs SET kind = 'REINDEX' WHERE kind = 'DELETE';
        UPDATE thumbnails SET output_path = '/etc/passwd' WHERE id = 1;
        UPDATE thumbnails SET output_path = '../../kurabito.db' WHERE id = 2;
        UPDATE thumbnails SET output_path = '/state/thumbs/bb/key-3.webp', group_key = NULL WHERE id = 3;
        """,
    )
    raw, told = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        kept = {row["id"]: dict(row) for row in raw.execute("SELECT * FROM earlier_library_files")}
        carried = {number: row["is_carried"] for number, row in kept.items()}
        assert carried == {101: 1, 102: 1, 103: 0, 106: 0, 108: 0}
        assert (kept[101]["hash_algorithm"], kept[102]["hashed_at"]) == ("MD5", "yesterday")
        assert (kept[103]["relative_path"], kept[108]["relative_path"]) == (None, b"\xffab")
        assert "UNIQUE" in kept[106]["kept_because"]
        files = {row["id"]: row for row in raw.execute("SELECT * FROM library_files")}
        assert sorted(files) == sorted({*range(101, 161)} - {103, 106, 108})
        # It is read again, for nothing that we know says what it holds.
        assert (files[101]["hash_algorithm"], files[101]["needs_hash"]) == (None, 1)
        assert files[102]["hashed_at"] is None
        (job,) = raw.execute("SELECT * FROM earlier_jobs").fetchall()
        assert (job["kind"], job["is_carried"]) == ("REINDEX", 0)
        paths = dict(raw.execute("SELECT id, output_path FROM thumbnails"))
        assert [paths[number] for number in (1, 2, 3, 4)] == [
            "earlier/1", "earlier/2", "bb/key-3.webp", "aa/key-4.webp",
        ]  # fmt: skip
        assert raw.execute("SELECT group_key FROM thumbnails WHERE id = 3").fetchone()[0] == "file:103"
        by_name = {table.name: table for table in told}
        assert (by_name["jobs"].rows, by_name["jobs"].carried, by_name["jobs"].kept) == (4, 3, 1)
        assert by_name["jobs"].reasons == ("kind: 'REINDEX' is none of scan, hash, delete, thumbnail",)


def test_a_plan_of_the_earlier_system_is_never_taken_for_one_of_ours(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier()
    (delete,) = [row for row in earlier.rows["jobs"] if row["kind"] == "delete"]
    delete.update(payload='{"plan": 1, "library_id": 7}', dry_run=0)
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        payload, library = raw.execute("SELECT payload, library_id FROM jobs WHERE kind = 'delete'").fetchone()
        assert json.loads(payload) == {"earlier": {"plan": 1, "library_id": 7}}
        assert library == 7
        assert raw.execute("SELECT payload FROM earlier_jobs").fetchone()[0] == delete["payload"]


def test_files_of_an_unknown_library_get_one_that_can_be_seen(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(further="DELETE FROM library_roots WHERE id = 9;")
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        roots = {row["id"]: (row["name"], row["root_path"]) for row in raw.execute("SELECT * FROM library_roots")}
        assert roots == {
            7: ("shows", "/libraries/shows"),
            9: ("earlier library 9", "/unknown/earlier-library-9"),
        }
        assert raw.execute("SELECT count(*) FROM library_files").fetchone()[0] == 60


@pytest.mark.parametrize(
    ("further", "says"),
    [
        (
            """
            CREATE TABLE pairs (a, b, FOREIGN KEY (a, b) REFERENCES library_files (inode, device));
            CREATE UNIQUE INDEX theirs ON library_files (inode, device);
            """,
            "pairs refers to columns of library_files that are no key",
        ),
        (
            """
            CREATE TABLE files (id TEXT PRIMARY KEY, library_id INTEGER, relative_path TEXT);
            INSERT INTO files SELECT 'f' || id, library_id, relative_path FROM library_files;
            DROP TABLE library_files;
            ALTER TABLE files RENAME TO library_files;
            """,
            "none of the rows of library_files can be taken over",
        ),
    ],
)
def test_what_cannot_be_taken_over_well_is_refused_and_left_as_it_was(
    workshop: Workshop, tmp_path: Path, further: str, says: str
) -> None:
    path = workshop.Earlier(further=further).write(tmp_path / "old.db")
    with closing(sqlite3.connect(path)) as raw:
        was = list(raw.iterdump())
    database = open_database(f"sqlite:///{path}")
    database.open()
    with closing(database), pytest.raises(RowsWouldBeLost, match=says):
        migrate(database, PRODUCT)
    with closing(sqlite3.connect(path)) as raw:
        assert list(raw.iterdump()) == was


def test_two_libraries_of_one_name_both_come(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(columns={"library_roots": {"name": "VARCHAR(255)"}})
    earlier.rows["library_roots"][1]["name"] = "shows"
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        assert [row["name"] for row in raw.execute("SELECT * FROM library_roots ORDER BY id")] == ["shows", "shows (9)"]


@pytest.mark.parametrize("folder", ["", "relative/shows"])
def test_a_library_without_an_absolute_folder_has_none_that_is_there(
    workshop: Workshop, tmp_path: Path, folder: str
) -> None:
    """It would be looked for below the folder that the server was started in, and that one be scanned."""
    earlier = workshop.Earlier()
    path = earlier.write(tmp_path / "old.db")
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("UPDATE library_roots SET root_path = ? WHERE id = 9", (folder,))
    raw, _ = workshop.taken_over(path)
    with closing(raw):
        (found,) = raw.execute("SELECT root_path FROM library_roots WHERE id = 9").fetchone()
        assert found == "/unknown/earlier-library-9"
        (kept,) = raw.execute("SELECT * FROM earlier_library_roots WHERE id = 9").fetchall()
        assert (kept["root_path"], kept["is_carried"]) == (folder, 1)


def test_a_row_that_an_interrupted_step_left_otherwise_is_kept(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(
        further="CREATE TABLE library_files_before AS SELECT * FROM library_files;"
        "UPDATE library_files_before SET size_bytes = 1 WHERE id = 105;"
    )
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        workshop.assert_all_there(raw, earlier.expected())
        (kept,) = raw.execute("SELECT * FROM earlier_library_files_before").fetchall()
        assert (kept["id"], kept["size_bytes"], kept["is_carried"]) == (105, 1, 0)
        assert not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'library_files_before'").fetchall()


def test_job_ids_that_were_bytes_are_written_as_text(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(
        job_id=lambda job: UUID(job).bytes,
        columns={"jobs": {"id": "BLOB PRIMARY KEY"}, "scan_sessions": {"job_id": "BLOB REFERENCES jobs(id)"}},
    )
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        assert {row["id"] for row in raw.execute("SELECT id FROM jobs")} == set(workshop.jobs)
        assert {row["job_id"] for row in raw.execute("SELECT job_id FROM scan_sessions")} <= set(workshop.jobs)


def test_numbers_of_rows_that_are_gone_are_not_given_again(workshop: Workshop, tmp_path: Path) -> None:
    earlier = workshop.Earlier(further="DELETE FROM library_files WHERE id > 150;")
    raw, _ = workshop.taken_over(earlier.write(tmp_path / "old.db"))
    with closing(raw):
        raw.execute(
            "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
            "VALUES (7, 'new', 1, 1, 1, 1)"
        )
        assert raw.execute("SELECT max(id) FROM library_files").fetchone()[0] == 161


@pytest.mark.parametrize("last", [2, 47, 80])
def test_what_an_older_version_of_ours_left_standing_is_taken_over_too(
    workshop: Workshop, tmp_path: Path, last: int
) -> None:
    """It took the first tables over and knew nothing of thumbnails and checkpoints yet."""
    path, earlier = tmp_path / "old.db", workshop.Earlier()
    database = open_database(f"sqlite:///{path}")
    database.open()
    migrate(database, RUNTIME)
    migrate(database, PRODUCT, [step for step in available(Dialect.SQLITE, PRODUCT) if step.number <= last])
    database.close()
    with closing(sqlite3.connect(path)) as raw:
        there = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    beside = workshop.Earlier(
        tables=tuple(table for table in earlier.tables if table not in there),
        columns={"thumbnails": {"file_id": "INTEGER NOT NULL"}},
    )
    beside.write(path)
    found, told = workshop.taken_over(path)
    with closing(found):
        workshop.assert_all_there(found, beside.expected())
        assert {table.name for table in told} == set(beside.tables)
