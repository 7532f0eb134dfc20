"""How the code is kept in the large: names and passages that occur once, rooms and modules of a size that can be read.

And the glossary of `docs/explanation/architecture.md`, whose words are those of the code.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from textwrap import dedent

from tests.support.passages import repeated

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kurabito"
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"

MOST_MODULES = 17
MORE_MODULES = {"titles": 24}
"""One idea each."""
LONGEST_MODULE = 300
LONGEST_FUNCTION = 60
MAY_STAND_TWICE: frozenset[frozenset[str]] = frozenset()
"""Pairs of modules that may share a passage, each with the reason in a comment. None has one."""


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if "migrations" not in path.parts]


def classes() -> dict[str, list[str]]:
    """Where each public class is defined."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def test_no_passage_stands_twice() -> None:
    """What two places have in common wants a name: a function, a base, a parameter."""
    found = [
        (one, other)
        for one, other in repeated(SOURCE, modules())
        if frozenset((one.path, other.path)) not in MAY_STAND_TWICE
    ]
    assert [f"{one} ~ {other}" for one, other in found] == []


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


def test_every_file_that_a_package_names_exists() -> None:
    """The first lines of a package are its map."""
    missing = []
    for path in SOURCE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        named = re.findall(r"(?<![\w/])([a-z_]+\.py)\b", text)
        missing += [f"{path.parent.relative_to(SOURCE)}/{name}" for name in named if not (path.parent / name).is_file()]
    assert missing == []
