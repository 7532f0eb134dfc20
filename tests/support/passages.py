"""Finds passages of Python code that stand twice: the same statements, whatever their names and values are.

A line here is a logical one: a simple statement, or the head of a compound one. What only declares is passed over: imports,
signatures, docstrings, the attributes of a class, and those that an object is given as they come (`self.x = x`).
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LINES = 6

_CLOSES = re.compile(r"(\s|</\w+>|\{% (end\w+|else) %\}|[(){};,])*")
_COMMENT = re.compile(r"\s*(--|//|/?\*)")

Part = ast.stmt | ast.ExceptHandler | ast.match_case

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line: its shape, with the names that fill it."""

    number: int
    depth: int
    shape: tuple[object, ...]
    names: tuple[str, ...]
    counts: bool = True
    """False for what stands between lines, such as the head of a function."""


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """Where lines stand."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"


def repeated(root: Path, paths: list[Path], lines: int = LINES) -> list[tuple[Passage, Passage]]:
    """Each pair of places, below the root, that have so many lines of the same shape."""
    places: dict[object, list[Passage]] = defaultdict(list)
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for run in _runs(tree.body):
            for window in _windows(run, lines):
                where = Passage(str(path.relative_to(root)), window[0].number, window[-1].number)
                places[_key(window)].append(where)
    pairs = [
        (one, other)
        for found in places.values()
        for at, one in enumerate(found)
        for other in found[at + 1 :]
        if one.path != other.path or other.first > one.last
    ]
    return _merged(sorted(pairs))


def repeated_text(root: Path, paths: list[Path], lines: int = LINES) -> list[tuple[Passage, Passage]]:
    """Each pair of places in other files, such as SQL and templates, that have so many lines to the letter.

    Comments are passed over, and what only closes something: that follows from what it closes.
    """
    places: dict[object, list[Passage]] = defaultdict(list)
    for path in paths:
        said = [
            (number, line.strip())
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if not _CLOSES.fullmatch(line) and not _COMMENT.match(line)
        ]
        for window in zip(*(said[first:] for first in range(lines)), strict=False):
            where = Passage(str(path.relative_to(root)), window[0][0], window[-1][0])
            places[tuple(line for _, line in window)].append(where)
    pairs = [(one, other) for found in places.values() for at, one in enumerate(found) for other in found[at + 1 :]]
    return _merged(sorted(pairs))


def _runs(body: list[ast.stmt]) -> Iterator[list[Line]]:
    """Lines that follow one another with no declaration between them."""
    run: list[Line] = []
    for node in body:
        if isinstance(node, _FUNCTIONS):
            run += _function(node, 0)
            continue
        yield run
        run = []
        if isinstance(node, ast.ClassDef):
            yield from _runs(node.body)
    yield run


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> Iterator[Line]:
    yield Line(node.lineno, depth, ("def",), (), counts=False)
    yield from _lines(node.body, depth + 1)


def _lines(body: list[ast.stmt], depth: int) -> Iterator[Line]:
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield from _function(node, depth)
        elif not _declares(node):
            yield from _statement(node, depth)


def _statement(node: Part, depth: int) -> Iterator[Line]:
    """The head of a statement, then its blocks."""
    shape, names, blocks = _head(node)
    yield Line(_number(node), depth, shape, names)
    for field, block in blocks:
        if field in ("orelse", "finalbody"):
            yield Line(_number(block[0]), depth, (field,), (), counts=False)
        statements = [part for part in block if isinstance(part, ast.stmt)]
        yield from _lines(statements, depth + 1)
        for part in block[len(statements) :]:
            yield from _statement(part, depth)


def _number(node: Part) -> int:
    return node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno


def _head(node: Part) -> tuple[tuple[object, ...], tuple[str, ...], list[tuple[str, list[Part]]]]:
    shape: list[object] = []
    names: list[str] = []
    blocks: list[tuple[str, list[Part]]] = []

    def add(part: object) -> None:
        if isinstance(part, ast.Constant):
            shape.append(type(part.value).__name__)
        elif isinstance(part, ast.AST):
            shape.append(type(part).__name__)
            for field, value in ast.iter_fields(part):
                if part is node and isinstance(value, list) and value and isinstance(value[0], Part):
                    blocks.append((field, value))
                else:
                    add(value)
        elif isinstance(part, list):
            shape.append(len(part))
            for each in part:
                add(each)
        elif isinstance(part, str):
            shape.append("name")
            names.append(part)

    add(node)
    return tuple(shape), tuple(names), blocks


def _declares(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))]):
            return True
        case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"))):
            return True
    return False


def _windows(run: list[Line], lines: int) -> Iterator[list[Line]]:
    counted = [at for at, line in enumerate(run) if line.counts]
    for first, last in zip(counted, counted[lines - 1 :], strict=False):
        yield run[first : last + 1]


def _key(window: list[Line]) -> tuple[object, ...]:
    """What two passages have in common that differ in their names only."""
    numbers: dict[str, int] = {}
    names = tuple(numbers.setdefault(name, len(numbers)) for line in window for name in line.names)
    return (tuple((line.depth - window[0].depth, line.shape) for line in window), names)


def _merged(pairs: list[tuple[Passage, Passage]]) -> list[tuple[Passage, Passage]]:
    """Windows that overlap are one passage."""
    merged: list[tuple[Passage, Passage]] = []
    for one, other in pairs:
        for at, (first, second) in enumerate(merged):
            if _overlap(first, one) and _overlap(second, other):
                merged[at] = (_union(first, one), _union(second, other))
                break
        else:
            merged.append((one, other))
    return merged


def _overlap(one: Passage, other: Passage) -> bool:
    return one.path == other.path and one.first <= other.last and other.first <= one.last


def _union(one: Passage, other: Passage) -> Passage:
    return Passage(one.path, min(one.first, other.first), max(one.last, other.last))
