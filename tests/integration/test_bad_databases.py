"""A queue that cannot be opened says why and what to do, and leaves everything as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from kurabito.db.errors import NotADatabase
from kurabito.errors import ConfigError, DatabaseUnavailable, KurabitoError
from kurabito.runtime import open_queue

NOBODY = 65534


async def refusal(url: str) -> KurabitoError:
    """The error of opening this queue; no thread is left behind."""
    before = set(threading.enumerate())
    with pytest.raises(KurabitoError) as refused:
        async with open_queue(url):
            pass
    left = {thread.name for thread in set(threading.enumerate()) - before}
    # The loop's own threads stay for the next one who needs them.
    assert not {name for name in left if not name.startswith("asyncio")}
    return refused.value


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("content", [b"just some notes\n" * 100, b"\x89PNG\r\n\x1a\n" + bytes(5000), b"short"])
async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    refused = await refusal(f"sqlite:///{file}")
    assert isinstance(refused, NotADatabase)
    assert str(refused) == f"{file} is not a SQLite database; give another path, or move that file away"
    assert files_in(tmp_path) == {"notes.txt": content}


async def test_a_missing_folder_is_named_and_not_created(tmp_path: Path) -> None:
    refused = await refusal(f"sqlite:///{tmp_path / 'missing' / 'tasks.db'}")
    assert isinstance(refused, DatabaseUnavailable)
    assert f"the folder {tmp_path / 'missing'} does not exist; create it" in str(refused)
    assert files_in(tmp_path) == {}


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    refused = await refusal(f"sqlite:///{tmp_path / 'folder'}")
    assert isinstance(refused, DatabaseUnavailable)
    assert "it is a folder; give the path of a file in it" in str(refused)
    assert files_in(tmp_path) == {"folder": b""}


@pytest.fixture
def shelf() -> Iterator[Path]:
    """A folder that every user can reach: pytest's own is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="kurabito-shelf-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions do not bind root, so root becomes nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_folder_that_may_not_be_written_is_named(shelf: Path) -> None:
    shelf.chmod(0o555)
    with ordinary_user():
        refused = await refusal(f"sqlite:///{shelf / 'tasks.db'}")
    assert isinstance(refused, DatabaseUnavailable)
    assert f"cannot open {shelf / 'tasks.db'}" in str(refused)
    assert "this user must be able to write the file and its folder" in str(refused)
    assert files_in(shelf) == {}


async def test_a_database_that_may_only_be_read_is_refused_and_left_alone(shelf: Path) -> None:
    file = shelf / "tasks.db"
    with sqlite3.connect(file) as raw:
        raw.execute("CREATE TABLE theirs (id)")
    raw.close()
    before = files_in(shelf)
    file.chmod(0o444)
    shelf.chmod(0o555)
    with ordinary_user():
        refused = await refusal(f"sqlite:///{file}")
    assert isinstance(refused, DatabaseUnavailable)
    assert "this user must be able to write the file and its folder" in str(refused)
    assert files_in(shelf) == before


async def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    refused = await refusal("postgresql://keeper:s3cret@127.0.0.1:1/shelf")
    assert isinstance(refused, DatabaseUnavailable)
    assert str(refused).startswith("cannot reach PostgreSQL shelf at 127.0.0.1:1: ")
    assert str(refused).endswith("check the DSN and that the server runs")
    assert "s3cret" not in str(refused)


async def test_a_host_that_does_not_exist_is_named() -> None:
    refused = await refusal("postgresql://keeper@host.invalid/shelf")
    assert isinstance(refused, DatabaseUnavailable)
    assert "cannot reach PostgreSQL shelf at host.invalid" in str(refused)


async def test_a_database_that_the_server_does_not_have_is_named(postgres_dsn: str) -> None:
    refused = await refusal(urlunsplit(urlsplit(postgres_dsn)._replace(path="/no_such_shelf")))
    assert isinstance(refused, DatabaseUnavailable)
    assert 'database "no_such_shelf" does not exist' in str(refused)


async def test_a_user_that_the_server_does_not_know_is_told(postgres_dsn: str) -> None:
    parts = urlsplit(postgres_dsn)
    host = parts.netloc.rpartition("@")[2]
    refused = await refusal(urlunsplit(parts._replace(netloc=f"stranger:s3cret@{host}")))
    assert isinstance(refused, DatabaseUnavailable)
    assert "stranger" in str(refused)
    assert "s3cret" not in str(refused)


@pytest.mark.parametrize("dsn", ["postgresql://[bad", "postgresql://host:notaport/db", "postgresql://h/db?nonsense=1"])
async def test_a_dsn_that_cannot_be_read_is_refused(dsn: str) -> None:
    with pytest.raises(KurabitoError):
        async with open_queue(dsn):
            pass


@pytest.mark.parametrize(
    "url",
    [
        "mysql://host/db",
        "redis://host",
        "tasks.db",
        "",
        "/tmp/tasks.db",
        "sqlite",
        "sqlite://",
        "sqlite:///",
        "sqlite:tasks.db",
    ],
)
async def test_a_url_of_another_kind_is_refused_with_the_kinds_there_are(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        async with open_queue(url):
            pass
    assert "sqlite:///" in str(refused.value)
