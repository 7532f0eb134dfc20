"""Backups before migrations, and `kurabito db`."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT, available
from kurabito.db.port import Dialect
from kurabito.runtime import open_queue

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands


@pytest.fixture
def older(commands: Commands) -> Path:
    """A database as a version before this one left it, with a task in it."""
    file = commands.state / "kurabito.db"
    commands.state.mkdir(mode=0o700)

    async def make() -> None:
        async with open_queue(f"sqlite:///{file}") as queue:
            await queue.enqueue("old.task")

    asyncio.run(make())
    database = open_database(f"sqlite:///{file}")
    database.open()
    migrate(database, PRODUCT, available(Dialect.SQLITE, PRODUCT)[:1])
    database.close()
    return file


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as conn:
        return {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def tasks(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as conn:
        return [kind for (kind,) in conn.execute("SELECT task_type FROM tasks WHERE task_type = 'old.task'")]


def backups(commands: Commands) -> list[Path]:
    return sorted((commands.state / "backups").glob("*"))


def test_an_older_database_is_backed_up_before_it_is_changed(commands: Commands, older: Path) -> None:
    with commands.serving("--no-dataplane") as served:
        served.process.terminate()
        _, _, log = served.leave()
    (copy,) = backups(commands)
    assert str(copy) in log
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "data_planes" in tables(older)
    assert "data_planes" not in tables(copy)
    assert tasks(copy) == ["old.task"]


def test_a_new_or_current_database_is_not_backed_up(commands: Commands) -> None:
    for _ in range(2):
        with commands.serving("--no-dataplane") as served:
            served.process.terminate()
            served.leave()
    assert backups(commands) == []


def test_a_migration_without_room_for_its_backup_is_refused(commands: Commands, older: Path) -> None:
    (commands.state / "backups").write_text("a file where the folder should be")
    outcome = commands.run("serve", "--port", "0")
    assert outcome.returncode == 1
    assert "cannot be copied" in outcome.stderr
    assert "data_planes" not in tables(older)


def test_on_postgresql_backups_are_the_servers_business(commands: Commands, fresh_postgres: str) -> None:
    async def make() -> None:
        async with open_queue(fresh_postgres) as queue:
            await queue.enqueue("old.task")

    asyncio.run(make())
    with commands.serving("--no-dataplane", KURABITO_DATABASE=fresh_postgres) as served:
        served.process.terminate()
        _, _, log = served.leave()
    assert "no backup before the migration" in log
    refused = commands.run("db", "backup", KURABITO_DATABASE=fresh_postgres)
    assert refused.returncode == 1
    assert "pg_dump" in refused.stderr
    assert commands.run("db", "check", KURABITO_DATABASE=fresh_postgres).returncode == 0


def test_migrate_says_what_it_did(commands: Commands, older: Path) -> None:
    assert commands.run("db", "migrate").stdout.startswith("Applied 0002_data_planes, 0010_library, ")
    assert len(backups(commands)) == 1
    assert commands.run("db", "migrate").stdout == "The tables are up to date.\n"


def test_a_backup_of_a_served_database_can_be_restored_once_it_is_not_served(commands: Commands, older: Path) -> None:
    with commands.serving("--no-dataplane") as served:
        copy = Path(commands.run("db", "backup").stdout.strip())
        assert copy.parent == commands.state / "backups"
        refused = commands.run("db", "restore", str(copy))
        assert refused.returncode == 1
        assert f"process {served.process.pid};" in refused.stderr
        served.process.terminate()
        served.leave()
    with closing(sqlite3.connect(older)) as conn:
        conn.execute("DELETE FROM tasks")
        conn.commit()
    done = commands.run("db", "restore", str(copy))
    assert done.returncode == 0, done.stderr
    assert tasks(older) == ["old.task"]
    (kept,) = older.parent.glob("kurabito.db.before-*")
    assert str(kept) in done.stdout
    assert tasks(kept) == []


def test_restore_is_refused_while_anybody_has_the_file_open(commands: Commands, older: Path) -> None:
    copy = Path(commands.run("db", "backup").stdout.strip())
    with closing(sqlite3.connect(older)) as somebody:
        somebody.execute("SELECT count(*) FROM tasks").fetchone()
        refused = commands.run("db", "restore", str(copy))
    assert refused.returncode == 1
    assert "open in another process" in refused.stderr
    assert list(older.parent.glob("*.before-*")) == []


def test_a_damaged_database_is_found_and_replaced(commands: Commands, older: Path) -> None:
    copy = Path(commands.run("db", "backup").stdout.strip())
    assert commands.run("db", "check").returncode == 0
    damage(older)
    found = commands.run("db", "check")
    assert found.returncode == 1
    assert commands.run("db", "restore", str(copy)).returncode == 0
    assert commands.run("db", "check").returncode == 0
    assert tasks(older) == ["old.task"]


def damage(file: Path) -> None:
    """Write nonsense over every page but the first, as a dying disk might."""
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("PRAGMA journal_mode = DELETE").fetchone()
        size = conn.execute("PRAGMA page_size").fetchone()[0]
    whole = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(size)
        stream.write(b"\xa5" * (whole - size))


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "there is no file"), (b"nonsense" * 1000, "is no SQLite database"), ("foreign", "of another program")],
)
def test_what_is_no_copy_of_ours_is_not_put_in_place(
    commands: Commands, older: Path, tmp_path: Path, content: bytes | str | None, says: str
) -> None:
    copy = tmp_path / "copy.db"
    if content == "foreign":
        with closing(sqlite3.connect(copy)) as conn:
            conn.execute("CREATE TABLE shelves (id)")
    elif isinstance(content, bytes):
        copy.write_bytes(content)
    refused = commands.run("db", "restore", str(copy))
    assert refused.returncode == 1
    assert says in refused.stderr
    assert tasks(older) == ["old.task"]


def test_a_backup_never_writes_over_a_file(commands: Commands, older: Path, tmp_path: Path) -> None:
    there = tmp_path / "precious"
    there.write_text("precious")
    refused = commands.run("db", "backup", str(there))
    assert refused.returncode == 1
    assert there.read_text() == "precious"
