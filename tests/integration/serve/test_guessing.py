"""Guessing a password or a key is slow, and no page can have the keeper taken for a guesser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands, Served

PASSWORD = "correct horse battery staple"
LONG = "Zx81-spectrum-Amiga-500-kurabito"
SHORT = "hunter2"


@pytest.fixture(scope="module")
def password(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    file = tmp_path_factory.mktemp("password") / "password"
    file.write_text(PASSWORD)
    return {"KURABITO_PASSWORD_FILE": str(file)}


@pytest.fixture(scope="module")
def served(shared_commands: Commands, password: dict[str, str]) -> Iterator[Served]:
    with shared_commands.serving("--no-dataplane", KURABITO_API_KEY=SHORT, **password) as served:
        yield served


def get(url: str, **headers: str) -> httpx2.Response:
    # To read whom the machine trusts takes longer than the request, and nothing here is encrypted.
    return httpx2.get(url, headers=headers, verify=False, timeout=PATIENCE)


def log_in(url: str, password: str, **headers: str) -> int:
    form = {"password": password}
    return httpx2.post(f"{url}/login", data=form, headers=headers, verify=False, timeout=PATIENCE).status_code


def ask(url: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return get(f"{url}/api/v1/tasks/counts", **named)


@pytest.mark.parametrize("site", ["cross-site", "none", None])
def test_a_page_that_asks_for_dead_links_does_not_lock_the_keeper_out(served: Served, site: str | None) -> None:
    headers = {} if site is None else {"Sec-Fetch-Site": site, "Referer": "https://evil.example/"}
    for number in range(30):
        assert get(f"{served.url}/login?token={number}", **headers).status_code == 401
    assert log_in(served.url, PASSWORD) == 303


def test_nor_does_one_that_sends_the_form(served: Served) -> None:
    for _ in range(30):
        assert log_in(served.url, "wrong", Origin="https://evil.example") == 403
    assert log_in(served.url, PASSWORD) == 303


def test_wrong_passwords_have_to_wait_and_the_link_still_works_once(served: Served) -> None:
    answers = [log_in(served.url, f"wrong {number}") for number in range(5)]
    answers += [log_in(served.url, "wrong") for _ in range(20)]
    assert answers[:5] == [401] * 5
    assert 429 in answers
    assert [get(served.login).status_code for _ in range(2)] == [303, 401]


def test_wrong_keys_have_to_wait_and_a_short_one_with_them(served: Served) -> None:
    assert ask(served.url, X_Api_Key=SHORT).status_code == 200
    answers = [
        ask(served.url, X_Api_Key=guess) for guess in ("wrong", "", "kura_00000001_wrong", SHORT + "x", SHORT[:-1])
    ]
    assert [answer.status_code for answer in answers] == [401] * 5
    # At the latest the tenth wrong one in a row is seconds of waiting away from the one before.
    answers = [ask(served.url, X_Api_Key=f"wrong {number}") for number in range(20)]
    refused = answers[-1]
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "guessed_too_often")
    assert int(refused.headers["retry-after"]) >= 1
    # Or guessing would not be slow.
    while (answer := ask(served.url, X_Api_Key=SHORT)).status_code == 200:
        ask(served.url, X_Api_Key="wrong")
    assert answer.status_code == 429


def test_keys_that_cannot_be_guessed_and_sessions_do_not_wait(commands: Commands, password: dict[str, str]) -> None:
    made = commands.run("key", "create", "a program", "--scope", "read").stdout.split()[0]
    with commands.serving("--no-dataplane", KURABITO_API_KEY=LONG, **password) as served:
        session = get(served.login).headers["set-cookie"].partition(";")[0]
        for number in range(12):
            ask(served.url, X_Api_Key=f"wrong {number}")
        assert ask(served.url, X_Api_Key="wrong").status_code == 429
        assert ask(served.url, X_Api_Key=LONG).status_code == 200
        assert ask(served.url, X_Api_Key=made).status_code == 200
        assert ask(served.url, Cookie=session).status_code == 200
        # Guessed keys are not guessed passwords.
        assert log_in(served.url, PASSWORD) == 303


def test_a_downloader_is_not_guessed_at_either(commands: Commands, tmp_path: Path) -> None:
    arguments = ["downloader", "--client", "embedded", "--core", "http://127.0.0.1:9", "--port", "0"]
    with commands.started(*arguments, KURABITO_DOWNLOAD_ROOT=str(tmp_path / "downloads")) as (process, _):
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        answers = [get(f"{url}/downloads", Authorization=f"Bearer {number}").status_code for number in range(8)]
        assert answers[:5] == [401] * 5
        assert answers[-1] == 429
        assert get(f"{url}/health").status_code == 200


def test_a_short_key_is_warned_about_here_and_refused_beyond_this_machine(
    commands: Commands, served: Served, password: dict[str, str]
) -> None:
    assert "KURABITO_API_KEY" in served.log.read_text()
    refused = commands.run("serve", "--host", "0.0.0.0", "--port", "0", KURABITO_API_KEY=SHORT, **password)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: host cannot be 0.0.0.0: ")
    assert "KURABITO_API_KEY" in refused.stderr
    assert "kurabito key create" in refused.stderr
    assert "token_urlsafe" in refused.stderr
    assert SHORT not in refused.stderr


def test_a_long_key_is_good_everywhere(commands: Commands, password: dict[str, str]) -> None:
    arguments = ("--host", "0.0.0.0", "--no-dataplane")
    with commands.serving(*arguments, KURABITO_API_KEY=LONG, **password) as served:
        assert ask(served.url, X_Api_Key=LONG).status_code == 200
        assert "KURABITO_API_KEY" not in served.log.read_text()


def test_the_doctor_warns_of_a_short_key(commands: Commands) -> None:
    assert "KURABITO_API_KEY" in commands.run("doctor", KURABITO_API_KEY=SHORT).stdout
    assert "KURABITO_API_KEY" not in commands.run("doctor", KURABITO_API_KEY=LONG).stdout
