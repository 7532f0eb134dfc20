"""The documentation is true: its programs run, its transcripts are what they print, its tables are the code's."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import open_queue
from kurabito.runtime.states import MOVES, TERMINAL, TaskState
from kurabito.web.languages import catalogues

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples/README.md", ROOT / "benchmarks/README.md"]
)
RUN = [ROOT / "README.md", *sorted(ROOT.glob("docs/tutorial/*.md")), *sorted(ROOT.glob("docs/how-to/*.md"))]
POSTGRES = "postgresql://me@localhost/shop"
OF_OTHERS = {"Kurabito", "Copy Torznab Feed", "Dashboard", "Services", "Control", "Versions"}
"""What documents have in italics of other programs, and of other documents."""

_BLOCK = re.compile(r"^```(\w+) ?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass
class Reader:
    """Somebody who saves each program of a page and types each command, in an empty folder."""

    folder: Path
    postgres: str
    environment: dict[str, str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)

    def follow(self, page: str) -> None:
        for language, info, text in _BLOCK.findall(page):
            if language == "python":
                assert info.startswith("title="), f"a program without a name:\n{text}"
                (self.folder / info.removeprefix("title=")).write_text(text)
            elif language == "console" and info == "background":
                self._start(text)
            elif language == "console":
                self._type(text)

    def _type(self, transcript: str) -> None:
        parts = re.split(r"^\$ (.*)\n", transcript, flags=re.MULTILINE)
        assert parts[0] == "", f"output before the first command:\n{transcript}"
        for command, expected in zip(parts[1::2], parts[2::2], strict=True):
            self.typed.append(command)
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                self.environment[name] = value.replace(POSTGRES, self.postgres)
                continue
            outcome = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert outcome.returncode == 0, f"$ {command}\n{outcome.stdout}{outcome.stderr}"
            assert fits(expected, outcome.stdout), f"$ {command}\n{outcome.stdout}\ninstead of\n{expected}"

    def _start(self, transcript: str) -> None:
        command = transcript.strip().removeprefix("$ ")
        self.typed.append(command)
        with (self.folder / f"background-{len(self.started)}.log").open("wb") as log:
            process = subprocess.Popen(
                shlex.split(command), cwd=self.folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.started.append(process)

    def leave(self) -> list[int]:
        """Stop what runs in the background; how each ended."""
        for process in self.started:
            process.terminate()
        return [process.wait(timeout=PATIENCE) for process in self.started]


def fits(expected: str, printed: str) -> bool:
    """Whether it was printed as the transcript has it, `...` being anything within a line, and blanks being alike."""
    lines, wanted = printed.splitlines(), expected.splitlines()
    return len(lines) == len(wanted) and all(
        re.fullmatch(".*".join(map(re.escape, " ".join(want.split()).split("..."))), " ".join(line.split()))
        for want, line in zip(wanted, lines, strict=True)
    )


@contextmanager
def reader(folder: Path, postgres: str, programs: Path = Path(sys.executable).parent) -> Iterator[Reader]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KURABITO_")}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    environment["KURABITO_STATE"] = str(folder / "state")
    person = Reader(folder, postgres, environment)
    try:
        yield person
    finally:
        for process in person.started:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_whoever_follows_a_page_sees_what_it_shows(page: Path, tmp_path: Path, fresh_postgres: str) -> None:
    with reader(tmp_path, fresh_postgres) as person:
        follow_to_the_end(person, page)


def follow_to_the_end(person: Reader, page: Path) -> None:
    person.follow(page.read_text())
    logs = [path.read_text() for path in sorted(person.folder.glob("background-*.log"))]
    assert [process.poll() for process in person.started] == [None] * len(person.started), logs
    # What watches a queue has nothing to put in order and ends as any program does.
    assert set(person.leave()) <= {0, -signal.SIGTERM}, logs
    programs = {path.stem for path in person.folder.glob("*.py")}
    typed = " ".join(person.typed)
    assert [name for name in programs if not re.search(rf"\b{name}(\.py|:)", typed)] == [], "programs nobody runs"


@dataclass(frozen=True)
class Installed:
    """An environment that has the wheel and what that asks for, nothing else."""

    programs: Path
    wheel: Path

    def install(self, extra: str = "") -> None:
        pip(self.programs, "install", "--no-compile", f"{self.wheel}{extra}")

    def kurabito(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run([str(self.programs / "kurabito"), *arguments])


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without extras, built here and installed into an empty environment."""
    folder = tmp_path_factory.mktemp("bare")
    pip(Path(sys.executable).parent, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT))
    (wheel,) = folder.glob("kurabito-*.whl")
    venv.create(folder / "venv")
    installed = Installed(folder / "venv" / "bin", wheel)
    # Of the smallest package that has to be fetched: what it says is whether anything can be.
    if run([*pip_of(installed.programs), "download", "--no-deps", "-d", str(folder), "mdurl"]).returncode != 0:
        pytest.skip("pip reaches no package index from here, so nothing can be installed into an empty environment")
    installed.install()
    return installed


def pip_of(programs: Path) -> list[str]:
    """The pip of this environment, for another one: to install pip there takes longer than all the rest."""
    python = str(programs / "python")
    return [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]


def pip(programs: Path, *arguments: str) -> None:
    outcome = run([*pip_of(programs), *arguments])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.timeout(600)
def test_a_command_that_lacks_its_extra_says_which_to_install(bare: Installed) -> None:
    for command in (["serve"], ["dataplane"], ["demo"], ["doctor"], ["dedupe", "."], ["title", "A Show - 01"]):
        outcome = bare.kurabito(*command)
        assert outcome.returncode == 2, command
        assert re.fullmatch(r"error: \w+ is not installed; run: pip install 'kurabito\[server\]'\n", outcome.stderr)
    server = bare.kurabito("tasks", "list", "--queue", POSTGRES)
    assert (server.returncode, server.stderr) == (
        2,
        "error: psycopg, which PostgreSQL needs, is not installed; run: pip install 'kurabito[postgres]'\n",
    )


@pytest.mark.timeout(600)
def test_the_bare_wheel_and_its_driver_are_all_that_the_runtime_needs(
    bare: Installed, tmp_path: Path, fresh_postgres: str
) -> None:
    bare.install("[postgres]")
    with reader(tmp_path, fresh_postgres, bare.programs) as person:
        follow_to_the_end(person, ROOT / "docs/tutorial/runtime.md")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _ANY_BLOCK.sub("", page.read_text())):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", _ANY_BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def texts_of_pages() -> set[str]:
    """What the pages say in English, with `…` for what varies."""
    return {
        re.sub(r"\{[^}]*\}", "…", text) for forms in catalogues()["en"].messages.values() for text in forms.values()
    }


def unknown_texts(page: str, texts: set[str]) -> list[str]:
    """What a document has in italics, as if a page said it, and no page begins so."""
    told = re.findall(r"(?<![*\w`])\*([A-Z][^*]{1,80})\*(?!\*)", _ANY_BLOCK.sub("", page))
    said = [part.rstrip("….:") for one in told for part in re.sub(r"\s+", " ", one).split(" → ")]
    return [part for part in said if part not in OF_OTHERS and not any(text.startswith(part) for text in texts)]


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_is_said_to_show_is_shown(page: Path) -> None:
    assert unknown_texts(page.read_text(encoding="utf-8"), texts_of_pages()) == []


def test_a_text_that_no_page_shows_is_seen() -> None:
    texts = {"Send test message", "The downloader … does not respond."}
    page = "Press *Send test message*, or *Send it*; *The downloader … does not respond*, **Kept**."
    assert unknown_texts(page, texts) == ["Send it"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_body_is_sent_with_its_type(page: Path) -> None:
    """What `curl -d` sends is a form unless it is told, and refused."""
    commands = re.findall(r"^curl (?:[^\n]*\\\n)*[^\n]*", page.read_text(encoding="utf-8"), re.MULTILINE)
    bodies = [one for one in commands if re.search(r"\s(?:-d|--data\S*)\s", one)]
    assert [one for one in bodies if "Content-Type: " not in one] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_is_left_out_of_the_index(page: Path) -> None:
    docs = ROOT / "docs"
    if page.is_relative_to(docs) and page != docs / "README.md":
        assert f"({page.relative_to(docs)})" in (docs / "README.md").read_text()


def test_generated_parts_are_up_to_date() -> None:
    tool = load_tool()
    generated = {
        "cli.md",
        "conformance.md",
        "database.md",
        "errors.md",
        "protocol.md",
        "protocol-schema.md",
        "settings.md",
        "worker-protocol.md",
    }
    assert {page.name for page in tool.pages()} == generated
    assert tool.stale() == [], "run `make docs`"


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_tool", ROOT / "tools" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_and_the_picture_of_states_have_every_legal_move_and_no_other() -> None:
    page = (ROOT / "docs/reference/states.md").read_text()
    legal = {(str(state), str(to)) for state, moves in MOVES.items() for to in moves}
    _, _, table = page.partition("| from | to | who | why |")
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table.partition("\n\n")[0], re.MULTILINE)
    assert sorted(listed) == sorted(legal)
    drawn = set(re.findall(r"^ +(\S+) --> (\S+): ", page, re.MULTILINE))
    born = {("[*]", str(state)) for state in (TaskState.QUEUED, TaskState.RETRY_SCHEDULED)}
    assert drawn == legal | born | {(str(state), "[*]") for state in TERMINAL}


async def test_every_table_column_and_index_of_the_runtime_is_described(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path}/tasks.db"):
        pass
    sections = re.split(r"^## ", (ROOT / "docs/reference/database.md").read_text(), flags=re.MULTILINE)
    described = {
        found[1]: set(re.findall(r"`(\w+)`", part)) for part in sections if (found := re.match(r"`(\w+)`", part))
    }
    with closing(sqlite3.connect(tmp_path / "tasks.db")) as conn:
        tables = {name for (name,) in names(conn, "table") if not name.startswith("sqlite_")}
        assert tables == described.keys()
        for table in tables:
            columns = {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}
            assert columns - described[table] == set(), f"columns of {table} that are not described"
        indexes = {name for (name,) in names(conn, "index") if not name.startswith("sqlite_")}
        told = {name for words in described.values() for name in words if name.startswith("ix_")}
        assert told == indexes


def names(conn: sqlite3.Connection, kind: str) -> list[Any]:
    return conn.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,)).fetchall()
