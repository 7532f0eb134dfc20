"""How the code is kept in the large: names and passages that occur once, rooms and modules of a size that can be read.

And the glossary of `docs/explanation/architecture.md`, whose words are those of the code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.passages import repeated, repeated_text

from kurabito.web.languages import catalogues
from kurabito.web.navigation import NAVIGATION

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kurabito"
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"

MOST_MODULES = 17
MORE_MODULES = {"titles": 25}
"""One idea each."""
LONGEST_MODULE = 300
LONGEST_FUNCTION = 60
LONGER_FUNCTIONS = {"open_product": 80}
"""One line for each part of the product."""
UNCLEAR = re.compile(
    r"\b(whoever|nobody|somebody|anew|by itself|by themselves|further|one a line|(it|one) is to be|what is there|so wished"
    r"|(is|are|was|were|be) had)\b",
    re.IGNORECASE,
)
"""Words that leave the subject open, or for which there is a plainer one."""
MAY_STAND_TWICE: frozenset[frozenset[str]] = frozenset()
"""Pairs of modules that may share a passage, each with the reason in a comment. None has one."""


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if "migrations" not in path.parts]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def classes() -> dict[str, list[str]]:
    """Where each public class is defined."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    return found


def glossary() -> dict[str, list[str]]:
    """Each word of the glossary with the classes that it names."""
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## Glossary")[2]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| ?(.*?) \| .* \|$", text, re.MULTILINE)
    return {word: re.findall(r"`(\w+)`", names) for word, names in rows}


def test_a_class_name_occurs_once() -> None:
    assert {name: where for name, where in classes().items() if len(where) > 1} == {}


def test_a_package_has_few_modules_beside_its_rooms() -> None:
    counted: dict[str, int] = defaultdict(int)
    for path in modules():
        if path.name not in ("__init__.py", "__main__.py"):
            counted[str(path.parent.relative_to(SOURCE))] += 1
    assert {name: count for name, count in counted.items() if count > MORE_MODULES.get(name, MOST_MODULES)} == {}


def test_a_module_is_short() -> None:
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_a_function_is_short() -> None:
    lengths = {
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGER_FUNCTIONS.get(node.name, LONGEST_FUNCTION)
    }
    assert lengths == {}


def test_no_passage_stands_twice() -> None:
    """What two places have in common wants a name: a function, a base, a parameter."""
    found = [
        (one, other)
        for one, other in repeated(SOURCE, modules())
        if frozenset((one.path, other.path)) not in MAY_STAND_TWICE
    ]
    assert [f"{one} ~ {other}" for one, other in found] == []


def test_no_passage_of_sql_or_of_a_page_stands_twice() -> None:
    """The schema is what the migrations made; both are passed over, as they never change."""
    kept = [
        path
        for kind in ("sql", "html", "js", "css")
        for path in sorted(SOURCE.rglob(f"*.{kind}"))
        if not {"migrations", "schema"} & set(path.parts)
    ]
    assert len(kept) > 100
    assert [f"{one} ~ {other}" for one, other in repeated_text(SOURCE, kept)] == []


def test_a_passage_of_sql_is_found(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(6)]
    (tmp_path / "one.sql").write_text("\n".join(["-- first", *lines]), encoding="utf-8")
    (tmp_path / "other.sql").write_text("\n".join([*lines[:3], "", "-- in between", ")", *lines[3:]]), encoding="utf-8")
    paths = sorted(tmp_path.glob("*.sql"))
    assert [f"{one} ~ {other}" for one, other in repeated_text(tmp_path, paths)] == ["one.sql:2-7 ~ other.sql:1-9"]
    assert repeated_text(tmp_path, paths, lines=7) == []


def test_a_passage_is_found_whatever_its_names_are(tmp_path: Path) -> None:
    lines = """
        async def {verb}(self, key):
            {found} = self.{store}.get(key)
            if {found} is None:
                raise KeyError("{verb}")
            for one in {found}.parts:
                await one.{verb}({found}, 7)
            return {found}
    """
    for name, words in {
        "one": {"verb": "open", "found": "door", "store": "doors"},
        "other": {"verb": "close", "found": "window", "store": "windows"},
        # The same statements about different things: what is returned is not what was found.
        "third": {"verb": "shut", "found": "gate", "store": "gates"},
    }.items():
        text = dedent(lines.format(**words))
        (tmp_path / f"{name}.py").write_text(text.replace("return gate", "return key"), encoding="utf-8")
    paths = sorted(tmp_path.glob("*.py"))
    assert [f"{one} ~ {other}" for one, other in repeated(tmp_path, paths)] == ["one.py:3-8 ~ other.py:3-8"]
    assert repeated(tmp_path, paths, lines=7) == []


class Asked:
    """The statements of SQL files that modules ask for, by their name or by how it begins."""

    def __init__(self, python: str) -> None:
        self._names = {*re.findall(r"\.(\w+)", python), *re.findall(r"\"(\w+)\"", python)}
        self._heads = tuple(re.findall(r"f\"(\w+_)\{", python))

    def left_out(self, sql: str) -> list[str]:
        """The statements of a file that no module asks for."""
        return [
            name
            for name in re.findall(r"^-- name: (\w+)", sql, re.M)
            if name not in self._names and not name.startswith(self._heads)
        ]


def test_every_statement_of_sql_is_asked_for() -> None:
    asked = Asked("\n".join(path.read_text(encoding="utf-8") for path in modules()))
    files = [path for path in sorted(SOURCE.rglob("*.sql")) if not {"migrations", "schema"} & set(path.parts)]
    assert len(files) > 50
    found = {str(path.relative_to(SOURCE)): asked.left_out(path.read_text()) for path in files}
    assert {name: unasked for name, unasked in found.items() if unasked} == {}


def test_a_statement_that_is_not_asked_for_is_seen() -> None:
    sql = "-- name: add\n\n-- name: page_open\n\n-- name: forget\n"
    assert Asked('conn.run(_SQL.add); getattr(_SQL, f"page_{state}")').left_out(sql) == ["forget"]


def test_every_package_is_described() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")} | {
        path.stem for path in SOURCE.glob("*.py") if path.stem != "__init__"
    }
    described = re.findall(r"^\| `(\w+)` \|", text.partition("## Packages")[2].partition("\n## ")[0], re.MULTILINE)
    assert sorted(described) == sorted(packages)


def test_the_glossary_names_classes_that_exist() -> None:
    words, defined = glossary(), classes()
    assert len(words) >= 30
    named = [name for names in words.values() for name in names]
    assert len(named) >= 25
    assert [name for name in named if len(defined[name]) != 1] == []
    assert len(named) == len(set(named))


def test_every_path_of_the_architecture_exists() -> None:
    paths = re.findall(r"`([\w/]+/[\w/]*\.(?:py|sql))`", ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(paths) > 20
    assert [path for path in paths if not (SOURCE / path).is_file()] == []


def test_every_page_in_the_navigation_is_described() -> None:
    """From the page that a reader sees to its module, and to where its numbers come from."""
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## Pages")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \*(.+?)\* \| `(.+?)` \| `(.+?)` \| .+ \|$", text, re.MULTILINE)
    english = catalogues()["en"]
    assert [(name, address) for name, address, _ in rows] == [
        (english.text(f"{entry.name}.nav"), entry.path) for entry in NAVIGATION
    ]
    assert [module for _, address, module in rows if f'"{address}"' not in (SOURCE / module).read_text()] == []


def test_a_package_names_its_modules() -> None:
    """The first lines of a package are its map, which one new module in five may not have its line in yet.

    The document has that of the whole; `errors` is the same everywhere.
    """
    unnamed = {}
    for path in SOURCE.rglob("__init__.py"):
        if path.parent == SOURCE or "migrations" in path.parts:
            continue
        named = set(re.findall(r"\w+", ast.get_docstring(tree(path)) or "")) | {"__init__", "__main__", "errors"}
        parts = {one.stem for one in path.parent.glob("*.py")} | {
            one.parent.name for one in path.parent.glob("*/__init__.py")
        }
        if len(missing := parts - named) > len(parts) / 5:
            unnamed[str(path.parent.relative_to(SOURCE))] = sorted(missing)
    assert unnamed == {}


def test_every_file_that_a_package_names_exists() -> None:
    missing = []
    for path in SOURCE.rglob("__init__.py"):
        text = ast.get_docstring(tree(path)) or ""
        named = re.findall(r"(?<![\w/])([a-z_]+\.py)\b", text)
        missing += [f"{path.parent.relative_to(SOURCE)}/{name}" for name in named if not (path.parent / name).is_file()]
    assert missing == []


def test_a_package_names_each_of_its_files_once() -> None:
    """A second line for a file says the same in other words, and is left behind when the first one changes."""
    twice = {}
    for path in SOURCE.rglob("__init__.py"):
        begun = re.findall(r"^ *([a-z_]+\.py)\b", ast.get_docstring(tree(path)) or "", re.MULTILINE)
        if again := sorted({name for name in begun if begun.count(name) > 1}):
            twice[str(path.parent.relative_to(SOURCE))] = again
    assert twice == {}


def silent_sleeps(text: str) -> Iterator[int]:
    """Lines where a test sleeps for a while, other than between two looks at what it waits for, and does not say why."""
    lines = text.splitlines()
    for scope in ast.walk(ast.parse(text)):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) or not scope.name.startswith("test_"):
            continue
        polls = {inner for loop in ast.walk(scope) if isinstance(loop, ast.While | ast.For) for inner in ast.walk(loop)}
        for node in ast.walk(scope):
            match node:
                case ast.Call(func=ast.Attribute(attr="sleep"), args=[ast.Constant(value=int() | float() as length)]):
                    is_said = "#" in lines[node.lineno - 1] + lines[node.lineno - 2]
                    if length and node not in polls and not is_said:
                        yield node.lineno


def test_a_test_that_sleeps_says_why() -> None:
    """What a test waits for is an event; only that something does not happen, or what a real process does, takes time."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = {path: text for path in tests if "sleep(" in (text := path.read_text(encoding="utf-8"))}
    assert len(texts) > 20
    assert [f"{path}:{line}" for path, text in texts.items() for line in silent_sleeps(text)] == []


def test_a_sleep_without_a_reason_is_seen() -> None:
    text = "def test_it():\n    while not done():\n        sleep(1)\n    time.sleep({})\n"
    assert list(silent_sleeps(text.format("0.1"))) == [4]
    assert list(silent_sleeps(text.format("0"))) == []
    assert list(silent_sleeps(text.format("0.1)  # a real process (x"))) == []


def said_in(path: Path) -> Iterator[tuple[int, str]]:
    """What a file says to its reader, with the number of the line: text, or the comments and strings of a program."""
    text = path.read_text(encoding="utf-8")
    if not UNCLEAR.search(text):
        return
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.start[0], token.string
    elif path.suffix == ".toml":
        yield from ((0, said) for said in strings_of(tomllib.loads(text)["en"]))
    else:
        yield from enumerate(text.splitlines(), 1)


def strings_of(told: object) -> Iterator[str]:
    if isinstance(told, dict):
        for inner in told.values():
            yield from strings_of(inner)
    else:
        yield str(told)


def unclear_in(path: Path) -> list[str]:
    """The places where a file has one of these words; names of the code are not words."""
    found = [(line, UNCLEAR.search(re.sub(r"`[^`]*`", "", said))) for line, said in said_in(path)]
    return [f"{path}:{line} {word[0]}" for line, word in found if word]


def test_comments_documents_and_texts_use_plain_words() -> None:
    documents = [*(ROOT / "docs").rglob("*.md"), *(SOURCE / "protocol").rglob("*.md"), *ROOT.glob("*.md")]
    statements = [path for path in sorted(SOURCE.rglob("*.sql")) if not {"migrations", "schema"} & set(path.parts)]
    texts = [path for path in (SOURCE / "web" / "locales").glob("*.toml") if "en" in tomllib.loads(path.read_text())]
    assert len(texts) > 5
    assert [place for path in (*modules(), *documents, *statements, *texts) for place in unclear_in(path)] == []


@pytest.mark.parametrize("said", ['"""Whoever asks."""', "# it is to be done", '"ask anew"'])
def test_an_unclear_word_is_seen(tmp_path: Path, said: str) -> None:
    (tmp_path / "one.py").write_text(f"further = 1\n{said}\n", encoding="utf-8")
    assert len(unclear_in(tmp_path / "one.py")) == 1
