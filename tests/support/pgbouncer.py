"""A real PgBouncer in transaction mode before the tests' PostgreSQL."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.waiting import PATIENCE

Bouncer = Callable[[str], str]


@pytest.fixture(scope="session")
def bouncer(postgres_dsn: str) -> Iterator[Bouncer]:
    """From the DSN of a database to its URL through PgBouncer."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed: apt-get install pgbouncer")
    server = conninfo_to_dict(postgres_dsn)
    with tempfile.TemporaryDirectory(prefix="kurabito-bouncer-") as name, _free_port() as port:
        folder = Path(name)
        reached = " ".join(f"{key}={value}" for key, value in server.items() if key in ("host", "port", "password"))
        user = server["user"]
        (folder / "users.txt").write_text(f'"{user}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = user={user} {reached}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\nauth_type = any\nauth_file = {folder}/users.txt\npool_mode = transaction\n"
            # Few, so that programs do meet one another's sessions.
            f"default_pool_size = 3\nmax_client_conn = 200\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
            f"server_reset_query =\n"
        )
        command = [program, *_as_another(folder, str(server.get("host", ""))), str(folder / "pgbouncer.ini")]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            _until_listening(port, process)
            yield lambda dsn: f"postgresql://{user}@127.0.0.1:{port}/{conninfo_to_dict(dsn)['dbname']}"
            process.terminate()


def _as_another(folder: Path, host: str) -> list[str]:
    """PgBouncer refuses to run as root; and it must be able to come to the server's socket."""
    if os.getuid() != 0:
        return []
    user = pwd.getpwuid(Path(host).stat().st_uid) if host.startswith("/") else pwd.getpwnam("nobody")
    for path in (folder, *folder.iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    return ["-u", user.pw_name]


@contextmanager
def _free_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    yield port


def _until_listening(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, "pgbouncer ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.02)
