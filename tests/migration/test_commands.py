"""An earlier database, met by the commands that people type."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import commands
from tests.support.commands import KURABITO, Command
from tests.support.waiting import PATIENCE

from kurabito.db import open_database
from kurabito.db.migrate import PRODUCT, RUNTIME, available, migrate
from kurabito.db.port import Dialect
from kurabito.maintenance.backups import forget_old, fresh_name, name_of_earlier

if TYPE_CHECKING:
    from tests.migration.conftest import Workshop


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def environment(state: Path) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "KURABITO_STATE": str(state), "KURABITO_BGM_URL": "http://127.0.0.1:9"}


def run(state: Path, *arguments: str, **further: str) -> subprocess.CompletedProcess[str]:
    return commands.run([*KURABITO, *arguments], env={**environment(state), **further}, timeout=PATIENCE)


def rows(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as raw:
        return int(raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_migrate_takes_it_over_says_what_came_and_leaves_a_way_back(workshop: Workshop, state: Path) -> None:
    earlier = workshop.Earlier(columns={"library_files": {"last_seen_scan_id": "INTEGER REFERENCES scan_sessions(id)"}})
    earlier.further = "UPDATE library_files SET last_seen_scan_id = 3;"
    file = earlier.write(state / "kurabito.db")
    before = run(state, "db", "check")
    assert before.returncode == 1
    assert "has the tables of the earlier system; `kurabito db migrate` takes them over" in before.stderr
    doctor = run(state, "doctor", KURABITO_PORT="0")
    assert (doctor.returncode, "warning  database: " in doctor.stdout) == (0, True), doctor.stdout

    done = run(state, "db", "migrate")
    assert done.returncode == 0, done.stderr
    assert (
        "Taken over from the earlier system: 2 rows of library_roots, 4 rows of jobs, 3 rows of scan_sessions, "
        in done.stdout
    )
    assert "60 rows of library_files" in done.stdout
    kept = "earlier_library_files keeps 60 rows of library_files as before, because: Kurabito has no column for last_seen_scan_id"
    assert kept in done.stdout
    with closing(sqlite3.connect(file)) as raw:
        raw.row_factory = sqlite3.Row
        workshop.assert_all_there(raw, earlier.expected())
    assert run(state, "db", "check").returncode == 0
    doctor = run(state, "doctor", KURABITO_PORT="0")
    assert "earlier system: earlier_library_files: " in doctor.stdout
    assert run(state, "db", "migrate").stdout == "The tables are up to date.\n"

    # The copy that was made before is not one of those that go after a while, and it can be put back.
    (copy,) = (state / "backups").iterdir()
    assert copy.name.startswith("earlier-")
    assert run(state, "db", "restore", str(copy)).returncode == 0
    assert rows(file, "library_files") == 60
    with closing(sqlite3.connect(file)) as raw:
        assert not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'kurabito_migrations'").fetchall()
    again = run(state, "db", "migrate")
    assert "60 rows of library_files" in again.stdout, again.stderr


def test_the_way_back_stays_when_old_copies_go(state: Path) -> None:
    way_back = name_of_earlier(state, 1_700_000_000_000_000)
    copies = [fresh_name(state, 1_700_000_000_000_000 + number) for number in range(8)]
    for copy in (way_back, *copies):
        copy.touch()
    assert forget_old(state, keep=5) == 3
    assert sorted(state.iterdir()) == sorted([way_back, *copies[3:]])


def test_serve_takes_it_over_and_answers(workshop: Workshop, state: Path, tmp_path: Path) -> None:
    earlier = workshop.Earlier()
    # Nothing that a schedule or a recovery of the server would touch.
    earlier.rows["jobs"] = [row for row in earlier.rows["jobs"] if row["status"] == "completed"]
    earlier.rows["scan_sessions"] = [row for row in earlier.rows["scan_sessions"] if row["status"] != "running"]
    for row in (*earlier.rows["thumbnails"], *earlier.rows["thumbnail_cleanup_jobs"]):
        row["status"] = "failed"
    # What has another hash than its library's is read again.
    for row in earlier.rows["library_files"]:
        row["hash_algorithm"] = row["hash_algorithm"] and "blake3"
    file = earlier.write(state / "kurabito.db")
    log = tmp_path / "serve.log"
    with log.open("wb") as stream:
        served = Command(
            [*KURABITO, "serve", "--port", "0", "--no-dataplane"],
            env=environment(state),
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        )
    assert served.stdout is not None
    assert served.stdout.readline().startswith("Kurabito listens on"), log.read_text()
    served.terminate()
    served.communicate(timeout=PATIENCE)
    assert "table of the earlier system taken over" in log.read_text()
    assert rows(file, "library_files") == 60
    with closing(sqlite3.connect(file)) as raw:
        raw.row_factory = sqlite3.Row
        expected = earlier.expected()
        # What it finds to do it has asked for already: jobs may be more, and thumbnails may be asked for again.
        for table in ("library_roots", "scan_sessions", "library_files"):
            workshop.assert_all_there(raw, {table: expected[table]})
        assert {row["id"] for row in raw.execute("SELECT id FROM jobs")} >= {row["id"] for row in expected["jobs"]}
    assert rows(file, "thumbnails") == 4
    assert len(list((state / "backups").glob("earlier-*.db"))) == 1


def test_what_an_older_version_emptied_comes_back_from_its_copy(workshop: Workshop, state: Path) -> None:
    """It took the tables over with foreign keys on, said nothing, and had made a copy before."""
    file = state / "kurabito.db"
    database = open_database(f"sqlite:///{file}")
    database.open()
    migrate(database, RUNTIME)
    migrate(database, PRODUCT)
    database.close()
    (state / "backups").mkdir()
    copy = workshop.Earlier().write(state / "backups" / "kurabito-20240506T070809.000000Z.db")
    doctor = run(state, "doctor", KURABITO_PORT="0")
    assert "has 60: an older version of Kurabito lost them" in doctor.stdout
    assert f"`kurabito db restore {copy}`" in doctor.stdout
    assert run(state, "db", "restore", str(copy)).returncode == 0
    done = run(state, "db", "migrate")
    assert (done.returncode, rows(file, "library_files")) == (0, 60), done.stderr
    assert "an older version" not in run(state, "doctor", KURABITO_PORT="0").stdout


def test_what_an_older_version_gave_up_in_the_middle_is_gone_on_with(workshop: Workshop, state: Path) -> None:
    """It had made the tables of its queue, and then met a table that was there already."""
    earlier = workshop.Earlier()
    file = earlier.write(state / "kurabito.db")
    database = open_database(f"sqlite:///{file}")
    database.open()
    migrate(database, RUNTIME)
    database.close()
    done = run(state, "db", "migrate")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(file)) as raw:
        raw.row_factory = sqlite3.Row
        workshop.assert_all_there(raw, earlier.expected())
    (copy,) = (state / "backups").iterdir()
    assert copy.name.startswith("earlier-")
    assert len(available(Dialect.SQLITE, PRODUCT)) == rows(file, "kurabito_migrations") - 1


@pytest.mark.parametrize("arguments", [("db", "migrate"), ("serve", "--port", "0")])
def test_a_table_of_another_program_stops_it_before_anything_is_changed(
    workshop: Workshop, state: Path, arguments: tuple[str, ...]
) -> None:
    earlier = workshop.Earlier(further="CREATE TABLE sessions (id INTEGER); INSERT INTO sessions VALUES (1);")
    file = earlier.write(state / "kurabito.db")
    listed = "SELECT name, sql FROM sqlite_master ORDER BY name"
    with closing(sqlite3.connect(file)) as raw:
        was = raw.execute(listed).fetchall()
    refused = run(state, *arguments)
    assert refused.returncode == 1
    assert "the database has sessions already" in refused.stderr
    assert "Traceback" not in refused.stderr
    with closing(sqlite3.connect(file)) as raw:
        assert raw.execute(listed).fetchall() == was
    assert rows(file, "library_files") == 60


def test_a_reference_that_would_lead_nowhere_stops_it(workshop: Workshop, state: Path) -> None:
    earlier = workshop.Earlier(
        further="CREATE TABLE job_locks (lock_key TEXT PRIMARY KEY, job TEXT REFERENCES jobs(id) ON DELETE CASCADE);"
        "INSERT INTO job_locks SELECT 'mutex', id FROM jobs WHERE kind = 'DELETE';"
        "UPDATE jobs SET kind = 'REINDEX' WHERE kind = 'DELETE';"
    )
    file = earlier.write(state / "kurabito.db")
    refused = run(state, "db", "migrate")
    assert refused.returncode == 1
    assert "row 1 of job_locks, which refers to jobs" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert [rows(file, table) for table in ("jobs", "job_locks", "library_files", "thumbnails")] == [4, 1, 60, 4]
    with closing(sqlite3.connect(file)) as raw:
        there = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert there - {"sqlite_sequence"} == {*earlier.tables, "job_locks"}


def test_postgresql_refuses_tables_of_these_names(state: Path, fresh_postgres: str) -> None:
    import psycopg

    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE jobs (id varchar(36) PRIMARY KEY, kind text, status text)")
        connection.execute("CREATE TABLE thumbnails (id bigint PRIMARY KEY, file_id bigint, status text)")
        connection.execute("INSERT INTO jobs VALUES ('a', 'SCAN', 'RUNNING')")
    refused = run(state, "db", "migrate", KURABITO_DATABASE=fresh_postgres)
    assert refused.returncode == 1
    assert "the database has jobs, thumbnails already" in refused.stderr
    assert "taken over from its SQLite file only" in refused.stderr
    assert "Traceback" not in refused.stderr
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        assert names == [("jobs",), ("thumbnails",)]
        assert connection.execute("SELECT * FROM jobs").fetchall() == [("a", "SCAN", "RUNNING")]
