"""The requests of the how-to pages do what the pages say, with the key that the pages have made."""

from __future__ import annotations

import json
import re
import shlex
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE, Until

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
PAGES = sorted(page.name for page in HOW_TO.glob("*.md") if "$KEY" in page.read_text("utf-8"))
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MADE = re.compile(r"kurabito (key create .*?)(?:`|\n)")
SERVED = "http://127.0.0.1:8484"


def commands_of(page: str) -> list[list[str]]:
    """Every command of the page's shell blocks, in words."""
    blocks = SHELL.findall((HOW_TO / page).read_text("utf-8"))
    return [shlex.split(line) for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def asked_by(words: list[str]) -> tuple[str, str, dict[str, str], str | None]:
    """The request that a call of curl makes: method, URL, headers, body."""
    method, url, headers, body = "", "", {}, None
    rest = iter(words[1:])
    for word in rest:
        match word:
            case "-X":
                method = next(rest)
            case "-d":
                body = next(rest)
            case "-H":
                name, _, value = next(rest).partition(": ")
                headers[name] = value
            case _:
                url = word
    return method or ("GET" if body is None else "POST"), url, headers, body


@pytest.mark.parametrize("page", PAGES)
def test_the_key_of_a_page_may_do_what_the_page_asks_for(page: str) -> None:
    methods = {asked_by(words)[0] for words in commands_of(page) if words[0] == "curl"}
    made = MADE.findall((HOW_TO / page).read_text("utf-8"))
    assert made, "the page does not say how its key is made"
    wanted = "write" if methods - {"GET"} else "read"
    assert any(f"--scope {wanted}" in command for command in made), (methods, made)


class Reader:
    """Somebody who types what a page says, and has their files elsewhere."""

    def __init__(self, commands: Commands, url: str, folder: Path) -> None:
        self._commands = commands
        self._url = url
        self._folder = folder
        self._key = ""

    def type(self, words: list[str], **known: str) -> Any:
        if words[:3] == ["kurabito", "key", "create"]:
            made = self._commands.run(*words[1:], "--json")
            assert made.returncode == 0, made.stderr
            self._key = json.loads(made.stdout)["secret"]
            return None
        text = "\n".join(words)
        for name, value in {"KEY": self._key, **known}.items():
            text = text.replace(f"${name}", value)
        method, url, headers, body = asked_by(
            text.replace(SERVED, self._url).replace("/srv/", f"{self._folder}/").split("\n")
        )
        request = urllib.request.Request(
            url, method=method, headers=headers, data=None if body is None else body.encode()
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b"null")

    def get(self, place: str) -> Any:
        return self.type(["curl", "-H", "X-Api-Key: $KEY", f"{SERVED}/api/v1/{place}"])


def test_duplicates_are_cleaned_up_and_put_back_as_the_page_says(
    commands: Commands, until: Until, tmp_path: Path
) -> None:
    for name in ("films/a.mkv", "series/copy.mkv", "series/originals/copy of b.mkv", "films/b.mkv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"film a" if name in ("films/a.mkv", "series/copy.mkv") else b"another one")
    library, duplicates = commands_of("keep-a-library.md"), commands_of("clean-up-duplicates.md")
    with commands.serving(KURABITO_ALLOW_DELETE="true") as served:
        reader = Reader(commands, served.url, tmp_path)
        key, keep, remove, scan, *_ = library
        reader.type(key)
        reader.type(keep)
        reader.type([word.replace("Films", "Series").replace("films", "series") for word in keep])
        for number in ("1", "2"):
            reader.type([word.replace("libraries/1", f"libraries/{number}") for word in scan])
        until(lambda: len(reader.get("duplicates/groups")["items"]) == 2)
        key, groups, plan, dry, apply, trash, restore, *_ = duplicates
        reader.type(key)
        assert len(reader.type(groups)["items"]) == 2
        steps = reader.type(plan)["steps"]["items"]
        # A protected copy is kept also where a rule would prefer the other one.
        assert {step["relative_path"] for step in steps} == {"copy.mkv", "b.mkv"}
        reader.type(dry)
        until(lambda: reader.get("duplicates/plans/1")["job_status"] == "completed")
        assert reader.get("duplicates/plans/1")["checked"] == 2
        assert (tmp_path / "series" / "copy.mkv").exists()
        reader.type(apply)
        until(lambda: reader.get("duplicates/plans/1")["done"] == 2)
        assert not (tmp_path / "series" / "copy.mkv").exists()
        entries = {one["relative_path"]: one["id"] for one in reader.type(trash)["items"]}
        reader.type(restore, ENTRY=entries["copy.mkv"])
        until((tmp_path / "series" / "copy.mkv").exists)
        # Something is in the trash of the first library, so removing it asks.
        with pytest.raises(urllib.error.HTTPError) as refused:
            reader.type(remove)
        assert json.loads(refused.value.read())["error"]["code"] == "library_in_use"
        reader.type([word.replace("libraries/1", "libraries/1?confirm=true") for word in remove])
        until(lambda: [one["name"] for one in reader.get("libraries")["items"]] == ["Series"])
        assert (tmp_path / "films" / "a.mkv").exists()
        served.process.terminate()
        assert served.leave()[0] == 0
