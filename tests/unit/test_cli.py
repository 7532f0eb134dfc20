"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

ENTRY = (sys.executable, "-c", "from kurabito.cli import main; main()")
"""What the script `kurabito` does."""


def kurabito(
    *arguments: str, command: tuple[str, ...] = KURABITO, **environment: str
) -> subprocess.CompletedProcess[str]:
    return run([*command, *arguments], env={**os.environ, "NO_COLOR": "1", **environment}, timeout=PATIENCE)


def test_help_shows_the_commands_and_loads_nothing_heavy() -> None:
    outcome = kurabito("--help", command=ENTRY)
    assert outcome.returncode == 0
    assert "serve" in outcome.stdout
    assert "Examples" in outcome.stdout
    heavy = ["fastapi", "pydantic", "structlog", "uvicorn", "sqlite3", "kurabito.app", "kurabito.settings"]
    program = f"import sys, kurabito.cli.commands; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_version() -> None:
    assert kurabito("--version", command=ENTRY).stdout.startswith("kurabito 0.")


def test_a_wrong_command_is_bad_usage() -> None:
    assert kurabito("sevre", command=ENTRY).returncode == 2
    assert kurabito("serve", "--port", "x", command=ENTRY).returncode == 2


def test_config_tells_value_and_origin(tmp_path: Path) -> None:
    (tmp_path / "kurabito.toml").write_text('log_level = "debug"\n')
    outcome = kurabito(
        "config", "--json", KURABITO_STATE=str(tmp_path), KURABITO_PORT="9000", KURABITO_API_KEY="hunter2"
    )
    rows = {row["name"]: (row["value"], row["origin"]) for row in json.loads(outcome.stdout)}
    assert rows["port"] == (9000, "KURABITO_PORT")
    assert rows["log_level"] == ("debug", str(tmp_path / "kurabito.toml"))
    assert rows["host"] == ("127.0.0.1", "default")
    assert rows["api_key"] == ("***", "KURABITO_API_KEY")


def test_the_table_of_settings_is_never_cut(tmp_path: Path) -> None:
    state = tmp_path / ("long" * 30)
    outcome = kurabito("config", KURABITO_STATE=str(state), COLUMNS="80")
    assert str(state) in outcome.stdout
    assert "KURABITO_STATE" in outcome.stdout


def test_a_bad_setting_is_one_clear_line(tmp_path: Path) -> None:
    outcome = kurabito("config", command=ENTRY, KURABITO_STATE=str(tmp_path), KURABITO_PORT="many")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("error: port (from KURABITO_PORT) cannot be 'many'")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::"])
def test_serve_does_not_open_itself_to_other_machines(tmp_path: Path, host: str) -> None:
    state = tmp_path / "state"
    outcome = kurabito("serve", "--host", host, "--port", "0", KURABITO_STATE=str(state))
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"error: host cannot be {host}: other machines may connect only with a password")
    assert not state.exists()


def test_serve_says_when_the_port_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = kurabito("serve", "--port", str(port), KURABITO_STATE=str(tmp_path))
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"error: port {port} of 127.0.0.1 is in use")


def test_serve_says_when_the_state_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = kurabito("serve", "--port", "0", KURABITO_STATE=str(tmp_path / "file" / "state"))
    assert outcome.returncode == 1
    assert "error: the state folder" in outcome.stderr
    assert "KURABITO_STATE" in outcome.stderr
