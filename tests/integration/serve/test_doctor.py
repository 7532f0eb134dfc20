"""`kurabito doctor` in good health and in bad."""

from __future__ import annotations

import json
import socket
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from kurabito.doctor.stores import kind_of_file_system

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

Told = dict[str, tuple[str, str]]


def told(outcome: subprocess.CompletedProcess[str]) -> Told:
    assert outcome.stdout, outcome.stderr
    return {row["check"]: (row["verdict"], row["says"]) for row in json.loads(outcome.stdout)}


def ill(outcome: subprocess.CompletedProcess[str]) -> set[str]:
    return {name for name, (verdict, _) in told(outcome).items() if verdict == "broken"}


def test_before_the_first_start_all_is_well_and_nothing_is_made(commands: Commands) -> None:
    outcome = commands.run("doctor", "--json", KURABITO_PORT="0")
    assert (outcome.returncode, ill(outcome)) == (0, set())
    assert "is not there yet" in told(outcome)["database"][1]
    assert not commands.state.exists()


def test_a_served_state_is_well(commands: Commands) -> None:
    with commands.serving("--no-dataplane") as served:
        outcome = commands.run("doctor", "--json", KURABITO_PORT=served.url.rpartition(":")[2])
        found = told(outcome)
        assert outcome.returncode == 0
        assert f"process {served.process.pid}" in found["state lock"][1]
        assert found["port"][1].startswith("Kurabito ")
        assert found["migrations"][0] == "ok"
        assert found["integrity"][0] == "ok"
        # Looking did not take the lock from it.
        assert commands.run("serve", "--port", "0").returncode == 1


def test_postgresql_is_asked_for_its_version_and_its_time(commands: Commands, fresh_postgres: str) -> None:
    with commands.serving("--no-dataplane", KURABITO_DATABASE=fresh_postgres):
        found = told(commands.run("doctor", "--json", KURABITO_DATABASE=fresh_postgres, KURABITO_PORT="0"))
    assert found["server version"][1].startswith("PostgreSQL ")
    assert found["server clock"][0] == "ok"
    assert "integrity" not in found


def test_what_is_broken_is_said_with_what_to_do(commands: Commands) -> None:
    commands.state.mkdir(mode=0o755)
    commands.state.chmod(0o755)
    (commands.state / "kurabito.db").write_text("no database" * 1000)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        outcome = commands.run("doctor", "--json", KURABITO_PORT=port, KURABITO_HOST="127.0.0.1")
        people = commands.run("doctor", KURABITO_PORT=port)
    assert outcome.returncode == people.returncode == 1
    assert ill(outcome) == {"database", "port"}
    assert told(outcome)["state folder"][0] == "warning"
    assert "-> chmod 700" in people.stdout
    assert "BROKEN   database: " in people.stdout


def test_an_open_door_without_a_password_is_found(commands: Commands) -> None:
    outcome = commands.run("doctor", "--json", KURABITO_HOST="0.0.0.0", KURABITO_PORT="0")
    assert ill(outcome) == {"access"}


def test_a_state_folder_that_cannot_be_made_is_found(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = commands.run("doctor", "--json", KURABITO_STATE=str(tmp_path / "file" / "state"), KURABITO_PORT="0")
    assert "state folder" in ill(outcome)


MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt/nas rw,relatime shared:2 - nfs4 nas:/volume1 rw
31 22 0:41 / /mnt/my\040films rw - fuse.sshfs me@host:/films rw
32 30 8:2 / /mnt/nas/disk rw - xfs /dev/sdb1 rw
33 22 0:42 / /srv rw - ext4 /dev/sdc1 rw
34 22 0:43 / /srv rw - cifs //nas/srv rw
""".strip()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/kurabito.db", "ext4"),
        ("/mnt/nas/kurabito.db", "nfs4"),
        ("/mnt/nasty/kurabito.db", "ext4"),
        ("/mnt/my films/kurabito.db", "fuse.sshfs"),
        ("/mnt/nas/disk/state/kurabito.db", "xfs"),
        ("/srv/kurabito.db", "cifs"),
    ],
)
def test_the_file_system_of_a_path_is_that_of_its_nearest_mount(path: str, kind: str) -> None:
    assert kind_of_file_system(Path(path), MOUNTS) == kind


class Asked(BaseHTTPRequestHandler):
    """TMDB with one good key, and bgm.tv."""

    def do_GET(self) -> None:
        refused = self.path.startswith("/3/") and "api_key=good" not in self.path
        body = b'{"results": [], "total_pages": 1, "id": 1, "name": "x"}'
        self.send_response(401 if refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_tmdb_and_bgm_are_asked_and_the_key_is_never_told(commands: Commands) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Asked) as outside:
        Thread(target=outside.serve_forever).start()
        url = f"http://127.0.0.1:{outside.server_port}"
        where = {"KURABITO_TMDB_URL": f"{url}/3", "KURABITO_BGM_URL": url, "KURABITO_PORT": "0"}
        well = commands.run("doctor", "--json", KURABITO_TMDB_KEY="good", **where)
        refused = commands.run("doctor", "--json", KURABITO_TMDB_KEY="mistyped", **where)
        off = commands.run("doctor", "--json", **where)
        outside.shutdown()
    assert (told(well)["TMDB"][0], told(well)["bgm.tv"][0]) == ("ok", "ok")
    assert (ill(refused), told(off)["TMDB"][0]) == ({"TMDB"}, "ok")
    away = commands.run(
        "doctor", "--json", KURABITO_TMDB_KEY="good-one", **{**where, "KURABITO_BGM_URL": f"{url}/gone"}
    )
    assert away.returncode == 0
    assert (told(away)["TMDB"][0], told(away)["bgm.tv"][0]) == ("warning", "warning")
    assert not any(key in run.stdout + run.stderr for run in (refused, away) for key in ("mistyped", "good-one"))
