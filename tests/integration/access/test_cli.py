"""`kurabito key` and `kurabito user` on a real database, with `serve` or without."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from tests.support.waiting import PATIENCE
from typer.testing import CliRunner

from kurabito.access import Keys, Passwords, Scope, Sessions
from kurabito.cli.commands import app
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.errors import KurabitoError

T = TypeVar("T")
# Opening the terminal makes it that of the process: this is where passwords are asked for.
ON_TERMINAL = """
import os
os.close(os.open(os.ttyname(0), os.O_RDWR))
from kurabito.cli import main
main()
"""


@dataclass
class Said:
    code: int
    out: str
    err: str


def kurabito(*arguments: str, stdin: str | None = None) -> Said:
    result = CliRunner(env={"NO_COLOR": "1"}).invoke(app, list(arguments), input=stdin)
    if isinstance(result.exception, KurabitoError):
        return Said(1, result.stdout, str(result.exception))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The database of the settings, which nothing has made yet."""
    state = tmp_path / "state"
    monkeypatch.setenv("KURABITO_STATE", str(state))
    if request.param == "sqlite":
        return f"sqlite:///{state / 'kurabito.db'}"
    dsn: str = request.getfixturevalue("fresh_postgres")
    monkeypatch.setenv("KURABITO_DATABASE", dsn)
    return dsn


def within(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async def run() -> T:
        return await work(database)

    Path(os.environ["KURABITO_STATE"]).mkdir(exist_ok=True)
    database = open_database(url)
    database.open()
    try:
        migrate(database, PRODUCT)
        return asyncio.run(run())
    finally:
        database.close()


def test_create_prints_the_secret_alone_and_says_that_it_is_shown_once(url: str) -> None:
    said = kurabito("key", "create", "backup script")
    assert said.code == 0
    assert "shown only now" in said.err
    secret = said.out.removesuffix("\n")
    assert re.fullmatch(r"kura_[0-9a-f]{8}_[\w-]{43}", secret)
    assert secret not in said.err
    holder = within(url, lambda database: Keys(database).holder(secret))
    assert holder is not None
    assert holder.name == "backup script"
    assert holder.scopes == {Scope.READ}


def test_a_key_may_have_several_scopes_and_json_has_everything(url: str) -> None:
    said = kurabito("key", "create", "agent", "--scope", "write", "--scope", "module", "--json")
    made = json.loads(said.out)
    holder = within(url, lambda database: Keys(database).holder(made["secret"]))
    assert holder is not None
    assert holder.scopes == {Scope.WRITE, Scope.MODULE}
    assert (made["key"]["name"], made["key"]["scopes"]) == ("agent", ["module", "write"])


def test_list_shows_everything_but_the_secrets(url: str) -> None:
    secrets = [kurabito("key", "create", name).out.strip() for name in ("first", "second\u3000鍵")]
    ids = [secret.split("_")[1] for secret in secrets]
    assert kurabito("key", "revoke", ids[0]).out == f"{ids[0]} revoked\n"
    table = kurabito("key", "list").out
    assert [line.split()[0] for line in table.splitlines()] == ["id", ids[1], ids[0]]
    listed = json.loads(kurabito("key", "list", "--json").out)
    assert [(key["id"], key["revoked_at"] is None) for key in listed["items"]] == [(ids[1], True), (ids[0], False)]
    for secret in secrets:
        assert secret.split("_", 2)[2] not in table + str(listed)
    assert within(url, lambda database: Keys(database).holder(secrets[0])) is None


def test_revoke_goes_on_after_a_key_that_is_not_there(url: str) -> None:
    secret = kurabito("key", "create", "some").out.strip()
    key_id = secret.split("_")[1]
    said = kurabito("key", "revoke", "00000000", key_id)
    assert (said.code, said.out) == (1, f"{key_id} revoked\n")
    assert said.err.startswith("error: no key has the id '00000000'")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_looking_makes_no_database(url: str, tmp_path: Path) -> None:
    for command in (["list"], ["revoke", "00000000"]):
        said = kurabito("key", *command)
        assert said.code == 1
        assert "there is no database at" in said.err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_the_state_folder_is_made_for_its_owner_alone(url: str, tmp_path: Path) -> None:
    kurabito("user", "password", "--stdin", stdin="correct horse\n")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_a_key_without_a_name_is_refused(url: str) -> None:
    said = kurabito("key", "create", " ")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("name: ")


def test_the_password_comes_from_stdin_and_ends_every_session_and_link(url: str) -> None:
    async def log_in(database: Database) -> tuple[str, str]:
        return await Sessions(database).open(), await Sessions(database).new_link()

    async def look(database: Database) -> tuple[bool, bool, bool]:
        return (
            await Passwords(database).fits("correct horse "),
            await Sessions(database).holder(session) is not None,
            await Sessions(database).redeem(link) is not None,
        )

    session, link = within(url, log_in)
    said = kurabito("user", "password", "--stdin", stdin="correct horse \nanything else\n")
    assert said.code == 0
    assert "correct horse" not in said.out + said.err
    assert within(url, look) == (True, False, False)


def test_a_short_password_is_refused_and_the_old_one_stays(url: str) -> None:
    kurabito("user", "password", "--stdin", stdin="correct horse\n")
    said = kurabito("user", "password", "--stdin", stdin="short\n")
    assert (said.code, said.err) == (1, "password: must have 8 to 1000 characters")
    assert within(url, lambda database: Passwords(database).fits("correct horse"))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_without_a_terminal_nobody_is_asked(url: str, tmp_path: Path) -> None:
    said = kurabito("user", "password", stdin="correct horse\ncorrect horse\n")
    assert said.code == 2
    assert "--stdin" in said.err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_password_that_a_file_holds_is_changed_there(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KURABITO_PASSWORD_FILE", str(tmp_path / "password"))
    said = kurabito("user", "password", "--stdin", stdin="correct horse\n")
    assert said.code == 1
    assert str(tmp_path / "password") in said.err


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("again", "code"), [("correct horse", 0), ("correct mouse", 1)])
def test_on_a_terminal_the_password_is_asked_for_twice_and_never_shown(url: str, again: str, code: int) -> None:
    process, terminal = _on_a_terminal("user", "password")
    shown = _answer(terminal, b"New password: ", b"correct horse\n")
    shown += _answer(terminal, b"The same again: ", again.encode() + b"\n")
    if code:
        # They differ, and it asks anew; leaving changes nothing.
        shown += _answer(terminal, b"New password: ", b"\x03")
    shown += _rest(terminal)
    assert (process.wait(timeout=PATIENCE) != 0) == bool(code)
    assert b"correct" not in shown
    assert code or within(url, lambda database: Passwords(database).fits("correct horse"))
    assert not code or not Path(url.removeprefix("sqlite:///")).exists()


def _on_a_terminal(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ON_TERMINAL, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    return process, ours


def _answer(terminal: int, question: bytes, answer: bytes) -> bytes:
    """Wait for a question and answer it; what the terminal showed until then.

    What is typed before its last space appears is thrown away with whatever else was typed ahead.
    """
    shown = b""
    while question not in shown:
        shown += os.read(terminal, 1000)
    os.write(terminal, answer)
    return shown


def _rest(terminal: int) -> bytes:
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1000)
        except OSError:
            # The other side is closed.
            part = b""
        if not part:
            os.close(terminal)
            return shown
        shown += part


@pytest.mark.parametrize(
    ("environment", "options", "front"),
    [
        ({}, [], "http://127.0.0.1:8484/login?token="),
        ({"HOST": "0.0.0.0", "PORT": "9000"}, [], "http://127.0.0.1:9000/login?token="),
        ({"HOST": "::1", "BASE_PATH": "kurabito/"}, [], "http://[::1]:8484/kurabito/login?token="),
        ({"PORT": "0"}, ["--url", "https://nas.example/k/"], "https://nas.example/k/login?token="),
    ],
)
def test_a_link_logs_in_once(
    url: str, environment: dict[str, str], options: list[str], front: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(f"KURABITO_{name}", value)
    said = kurabito("user", "link", *options)
    assert "once" in said.err
    assert said.out.startswith(front)
    token = said.out.removeprefix(front).strip()
    assert token not in said.err
    assert within(url, lambda database: Sessions(database).redeem(token)) is not None
    assert within(url, lambda database: Sessions(database).redeem(token)) is None


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_link_to_an_unknown_port_is_not_made(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KURABITO_PORT", "0")
    said = kurabito("user", "link")
    assert (said.code, said.out) == (1, "")
    assert "--url" in said.err
