"""What Kurabito keeps is for its owner alone, whatever the folder and the umask say."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key that is long enough for everybody"
PASSKEY = "0123456789abcdef0123456789abcdef"
OPEN_TO_ALL = {"KURABITO_UMASK": "000"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_of(database: Path) -> list[Path]:
    return sorted(database.parent.glob(f"{database.name}*"))


def readable_by_others(path: Path, below: Path) -> bool:
    """Whether another user comes to this file, through the folders down from one that is open to all."""
    folders = [folder for folder in path.parents if folder.is_relative_to(below)]
    return bool(mode(path) & 0o044) and all(mode(folder) & 0o011 for folder in folders)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A folder that every user of the machine may read."""
    folder = tmp_path / "wide"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def test_a_new_database_is_its_owners_alone_in_any_folder(commands: Commands, wide: Path) -> None:
    database = wide / "shared.db"
    with commands.serving("--no-dataplane", KURABITO_DATABASE=f"sqlite:///{database}", **OPEN_TO_ALL) as served:
        assert httpx2.get(f"{served.url}/health", verify=False).status_code == 200
        assert {path.name for path in files_of(database)} >= {"shared.db", "shared.db-wal", "shared.db-shm"}
        assert {path.name: mode(path) & 0o077 for path in files_of(database)} == {
            path.name: 0 for path in files_of(database)
        }


def test_an_old_database_that_others_can_read_is_closed_to_them(commands: Commands, wide: Path) -> None:
    database = wide / "shared.db"
    given = {"KURABITO_DATABASE": f"sqlite:///{database}", **OPEN_TO_ALL}
    assert commands.run("db", "migrate", **given).returncode == 0
    assert mode(database) == 0o600
    database.chmod(0o664)
    with closing(sqlite3.connect(database)) as left:
        # As a process that was killed leaves them.
        left.execute("PRAGMA journal_mode = WAL").fetchone()
        left.execute("CREATE TABLE left_over (number)")
        kept = {path: path.read_bytes() for path in files_of(database) if path.is_file()}
    for path, content in kept.items():
        path.write_bytes(content)
        path.chmod(0o664)
    assert len(kept) == 3
    assert commands.run("db", "migrate", **given).returncode == 0
    assert [path.name for path in files_of(database) if path.is_file() and mode(path) & 0o077] == []


def test_copies_are_their_owners_alone(commands: Commands, wide: Path) -> None:
    database = commands.state / "kurabito.db"
    assert commands.run("db", "migrate", **OPEN_TO_ALL).returncode == 0
    assert commands.run("db", "backup", **OPEN_TO_ALL).returncode == 0
    assert commands.run("db", "backup", str(wide / "copy.db"), **OPEN_TO_ALL).returncode == 0
    database.chmod(0o644)
    assert commands.run("db", "restore", str(wide / "copy.db"), **OPEN_TO_ALL).returncode == 0
    copies = [wide / "copy.db", *(commands.state / "backups").iterdir(), *commands.state.glob("kurabito.db*")]
    assert len(copies) >= 4
    assert [path for path in copies if mode(path) & 0o077] == []


def test_a_worker_makes_the_database_for_its_owner_alone(commands: Commands, tmp_path: Path) -> None:
    commands.state.mkdir(mode=0o755)
    program = tmp_path / "program.py"
    program.write_text(
        'from kurabito.runtime import Registry\nregistry = Registry()\n\n@registry.task("nothing")\ndef nothing(order: str) -> None: ...\n'
    )
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    with commands.started("worker", "program:registry", **environment) as (process, log):
        while '"working"' not in log.read_text():
            assert process.poll() is None, log.read_text()
        assert mode(commands.state / "kurabito.db") == 0o600


def test_no_other_user_reads_a_token_out_of_the_state_folder_or_the_log(commands: Commands, tmp_path: Path) -> None:
    commands.state.mkdir()
    commands.state.chmod(0o755)
    secrets = [PASSKEY, "proxy-hunter2", "tmdb-hunter2", KEY]
    environment = {
        "KURABITO_API_KEY": KEY,
        "KURABITO_PROXY": "http://me:proxy-hunter2@127.0.0.1:9",
        "KURABITO_TMDB_KEY": "tmdb-hunter2",
        **OPEN_TO_ALL,
    }
    with (
        commands.serving(**environment) as served,
        httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, verify=False, timeout=PATIENCE) as api,
    ):
        for url in (
            f"https://127.0.0.1:9/rss?passkey={PASSKEY}",
            f"https://127.0.0.1:9/rss?torrent_pass={PASSKEY}&page=2",
            f"https://127.0.0.1:9/{PASSKEY}/rss",
        ):
            order = {"url": url, "allows_private": True}
            assert api.post("/api/v1/subscriptions", json=order).status_code == 201
            assert api.post("/api/v1/subscriptions/preview", json=order).status_code >= 400
        errors: list[str] = []
        while len(errors) < 3:
            read = api.get("/api/v1/subscriptions").json()["items"]
            errors = [each["error_message"] for each in read if each["error_message"]]
        assert PASSKEY not in str(errors)
        token = (commands.state / "downloaders" / "built-in" / "credentials.json").read_text()
        found = [path for path in commands.state.rglob("*") if path.is_file()]
        told = [path for path in found if any(secret.encode() in path.read_bytes() for secret in [*secrets, token])]
        # In the log of SQLite, or in the file when a checkpoint came in between.
        assert {path.name for path in told} & {"kurabito.db", "kurabito.db-wal"}
        assert [path for path in found if path in told and readable_by_others(path, commands.state)] == []
        log = served.log.read_text()
    assert [secret for secret in secrets if secret in log] == []


def test_the_doctor_names_a_file_with_a_secret_that_others_can_read(commands: Commands) -> None:
    commands.state.mkdir(mode=0o700)
    file = commands.state / "kurabito.toml"
    file.write_text('tmdb_key = "hunter2"\n')
    file.chmod(0o644)
    told = commands.run("doctor").stdout
    assert f"other users may read tmdb_key in {file}" in told
    assert f"chmod 600 {file}" in told
    file.chmod(0o600)
    assert "other users may read" not in commands.run("doctor").stdout


def test_the_folders_of_a_downloader_service_are_its_owners_alone(commands: Commands, tmp_path: Path) -> None:
    arguments = ["downloader", "--client", "embedded", "--core", "http://127.0.0.1:9", "--port", "0"]
    environment = {"KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"), **OPEN_TO_ALL}
    with commands.started(*arguments, **environment) as (process, _):
        assert process.stdout is not None
        process.stdout.readline()
        service = commands.state / "downloaders" / "embedded"
        assert [mode(folder) for folder in (commands.state, service.parent, service)] == [0o700] * 3
        assert mode(service / "credentials.json") == 0o600
