"""`kurabito serve`: starts, answers, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from importlib.metadata import version
from pathlib import Path

import httpx2
import pytest
from tests.integration.serve.conftest import Commands
from tests.support.waiting import Until

from kurabito.access import Sessions
from kurabito.db import open_database
from kurabito.protocol import planes


@pytest.fixture
def commands_anew(tmp_path: Path) -> Commands:
    """Commands that load what they need, as everywhere else."""
    (tmp_path / "logs").mkdir()
    return Commands(tmp_path / "state", tmp_path / "logs", start=subprocess.Popen)


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def living_planes(url: str) -> list[planes.PlaneRecord]:
    database = open_database(url, create=False)
    database.open()
    try:
        return database.read_blocking(planes.living)
    finally:
        database.close()


def sqlite(commands: Commands) -> str:
    return f"sqlite:///{commands.state / 'kurabito.db'}"


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_and_stops_with_nothing_left_running(
    commands_anew: Commands, until: Until, stop: signal.Signals
) -> None:
    with commands_anew.serving() as served:
        answer = httpx2.get(f"{served.url}/health")
        assert answer.json() == {"status": "ok", "version": version("kurabito"), "database": "sqlite"}
        assert stat.S_IMODE(commands_anew.state.stat().st_mode) == 0o700
        until(lambda: living_planes(sqlite(commands_anew)))
        (child,) = children_of(served.process.pid)
        served.process.send_signal(stop)
        code, out, log = served.leave()
    assert (code, out) == (0, "")
    assert '"event": "stopped"' in log
    assert '"event": "data plane stopped"' in log
    assert "Traceback" not in log
    assert not alive(child)
    assert living_planes(sqlite(commands_anew)) == []


async def test_the_link_that_is_printed_logs_in_once_and_is_not_in_the_log(commands: Commands) -> None:
    with commands.serving("--no-dataplane") as served:
        base, _, token = served.login.partition("/login?token=")
        assert base == served.url
        database = open_database(sqlite(commands), create=False)
        database.open()
        try:
            sessions = Sessions(database)
            session = await sessions.redeem(token)
            assert session is not None
            assert await sessions.holder(session) is not None
            assert await sessions.redeem(token) is None
        finally:
            database.close()
        served.process.terminate()
        code, _, log = served.leave()
    assert code == 0
    assert token not in log


def test_serve_works_on_postgresql(commands: Commands, until: Until, fresh_postgres: str) -> None:
    with commands.serving(KURABITO_DATABASE=fresh_postgres) as served:
        assert httpx2.get(f"{served.url}/health").json()["database"] == "postgresql"
        until(lambda: living_planes(fresh_postgres))
        served.process.terminate()
        code, _, log = served.leave()
    assert code == 0, log
    assert living_planes(fresh_postgres) == []


def test_a_base_path_may_be_in_the_request_or_taken_away_by_a_proxy(commands: Commands) -> None:
    with commands.serving("--no-dataplane", KURABITO_BASE_PATH="/kurabito") as served:
        assert served.url.endswith("/kurabito")
        assert httpx2.get(f"{served.url}/health").status_code == 200
        assert httpx2.get(f"{served.url.removesuffix('/kurabito')}/health").status_code == 200


def test_a_second_serve_says_who_has_the_state_and_leaves(commands: Commands) -> None:
    with commands.serving("--no-dataplane") as served:
        second = commands.run("serve", "--port", "0")
        assert second.returncode == 1
        assert second.stderr.startswith(f"error: the state folder {commands.state} is in use by process ")
        assert f"process {served.process.pid};" in second.stderr
        assert httpx2.get(f"{served.url}/health").status_code == 200


def test_a_killed_serve_leaves_no_lock_and_no_orphan(commands_anew: Commands, until: Until) -> None:
    with commands_anew.serving() as served:
        until(lambda: living_planes(sqlite(commands_anew)))
        (child,) = children_of(served.process.pid)
        served.process.kill()
        served.process.wait()
        until(lambda: not alive(child))
    assert living_planes(sqlite(commands_anew)) == []
    with commands_anew.serving("--no-dataplane") as served:
        assert httpx2.get(f"{served.url}/health").status_code == 200


def test_a_killed_data_plane_is_started_again(commands_anew: Commands, until: Until) -> None:
    with commands_anew.serving() as served:
        until(lambda: living_planes(sqlite(commands_anew)))
        (first,) = living_planes(sqlite(commands_anew))
        (child,) = children_of(served.process.pid)
        os.kill(child, signal.SIGKILL)
        until(lambda: [plane.name for plane in living_planes(sqlite(commands_anew))] not in ([], [first.name]))
        # The dead one is known to be dead at once, not when its time is over.
        assert first.name not in {plane.name for plane in living_planes(sqlite(commands_anew))}
        assert httpx2.get(f"{served.url}/health").status_code == 200


def test_without_a_data_plane_there_is_no_other_process(commands: Commands) -> None:
    with commands.serving("--no-dataplane") as served:
        assert children_of(served.process.pid) == []


def test_other_machines_come_in_only_with_a_password(commands: Commands, tmp_path: Path) -> None:
    assert commands.run("db", "migrate").returncode == 0
    refused = commands.run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: host cannot be 0.0.0.0: other machines may connect only with a password")
    assert "kurabito user password" in refused.stderr
    assert "KURABITO_PASSWORD_FILE" in refused.stderr
    password = tmp_path / "password"
    password.write_text("correct horse battery staple\n")
    with commands.serving("--host", "0.0.0.0", "--no-dataplane", KURABITO_PASSWORD_FILE=str(password)) as served:
        assert served.url.startswith("http://127.0.0.1:")
        assert httpx2.get(f"{served.url}/health", headers={"Host": "127.0.0.1"}).status_code == 200


def test_a_database_that_ends_with_the_process_is_refused(commands: Commands) -> None:
    refused = commands.run("serve", "--port", "0", KURABITO_DATABASE="memory://")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: database cannot be memory://")
    assert not commands.state.exists()


def test_an_unreachable_database_is_one_clear_line(commands: Commands) -> None:
    outcome = commands.run("serve", "--port", "0", KURABITO_DATABASE="postgresql://me:hunter2@127.0.0.1:1/none")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("error: ")
    assert "hunter2" not in outcome.stderr
