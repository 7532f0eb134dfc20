"""Nothing outside of the database's own rooms asks which database it is, and no row of an answer is read by number."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kurabito

SOURCE = Path(kurabito.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "migrations" not in path.parts)

# The kit watches the writes of a plane from inside the database, and that is done otherwise in each of them.
MAY_ASK = (SOURCE / "db", SOURCE / "runtime" / "sql", SOURCE / "conformance")
ROWS = {"one", "fetchone"}
"""Methods that give a row."""
LISTS = {"all", "autocommit", "fetchall", "fetchmany", "execute", "claim", "recover"}
"""Methods that give many."""
LONGEST_ROW = 7
"""So many values are told apart by their order; those of a longer row by the names of a `ColumnList`."""


def questions(tree: ast.AST) -> Iterator[int]:
    """Lines that ask which database it is: that name one of them, or that compare or look up a dialect."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(value=ast.Name(id="Dialect"))
                | ast.Attribute(attr="name", value=ast.Attribute(attr="dialect"))
            ):
                yield node.lineno
            case ast.Compare(left=left, comparators=others) if any(map(is_dialect, (left, *others))):
                yield node.lineno
            case ast.Subscript(slice=key) if any(map(is_dialect, ast.walk(key))):
                yield node.lineno
            case ast.Match(subject=subject) if is_dialect(subject):
                yield node.lineno
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="SqliteDatabase" | "PostgresDatabase")]):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="startswith"), args=[ast.Constant(value=str() as begun)]) if (
                begun.startswith(("sqlite", "postgres"))
            ):
                yield node.lineno


def is_dialect(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "dialect") or (
        isinstance(node, ast.Name) and node.id == "dialect"
    )


def numbered_rows(tree: ast.AST) -> Iterator[int]:
    """Lines that take a value out of a row by its number."""
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            lists = set(names_given_by(scope, LISTS))
            rows = {*names_given_by(scope, ROWS), *rows_among(scope, lists)}
            for node in ast.walk(scope):
                match node:
                    case ast.Subscript(value=value, slice=place) if is_number(place):
                        if is_row(value, rows, lists) or (isinstance(value, ast.Name) and value.id == "row"):
                            yield node.lineno
                    case ast.Subscript(value=value, slice=ast.Slice()) if is_row(value, rows, lists):
                        yield node.lineno


def long_rows(tree: ast.AST) -> Iterator[int]:
    """Lines that give names to the values of a long row by their order alone."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Tuple(elts=names)], value=value)
                | ast.For(target=ast.Tuple(elts=names), iter=value)
                | ast.comprehension(target=ast.Tuple(elts=names), iter=value)
            ) if len(names) > LONGEST_ROW and not isinstance(value, ast.Tuple) and not is_range(value):
                yield value.lineno


def is_range(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def names_given_by(scope: ast.AST, methods: set[str]) -> Iterator[str]:
    """The names in a function to which the answer of a query is assigned, also through `read` or `write`."""
    for node in ast.walk(scope):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ) if is_answer(value, methods):
                yield name
            case ast.arg(arg=name, annotation=ast.Name(id="Row")) if methods is ROWS:
                yield name


def rows_among(scope: ast.AST, lists: set[str]) -> Iterator[str]:
    """The names that go through the rows of an answer."""
    for node in ast.walk(scope):
        match node:
            case (
                ast.For(target=ast.Name(id=name), iter=source)
                | ast.AsyncFor(target=ast.Name(id=name), iter=source)
                | ast.comprehension(target=ast.Name(id=name), iter=source)
            ) if is_answer(source, LISTS) or (isinstance(source, ast.Name) and source.id in lists):
                yield name


def is_answer(node: ast.AST, methods: set[str]) -> bool:
    match node:
        case ast.Await(value=value):
            return is_answer(value, methods)
        case ast.Call(func=ast.Attribute(attr="read" | "write" | "read_blocking" | "write_blocking"), args=[asked]):
            return isinstance(asked, ast.Lambda) and is_answer(asked.body, methods)
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in methods
    return False


def is_row(node: ast.AST, rows: set[str], lists: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in rows
        case ast.Subscript(value=ast.Name(id=name)):
            return name in lists
        case ast.Subscript(value=value):
            return is_answer(value, LISTS)
    return is_answer(node, ROWS)


def is_number(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
            return True
    return False


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def found_in(paths: list[Path], look: object) -> list[str]:
    assert callable(look)
    return [f"{path.relative_to(SOURCE)}:{line}" for path in paths for line in sorted(set(look(tree(path))))]


def test_no_store_asks_which_database_it_is() -> None:
    others = [path for path in MODULES if not any(path.is_relative_to(room) for room in MAY_ASK)]
    assert len(others) > 400
    assert found_in(others, questions) == []


@pytest.mark.parametrize(
    "text",
    [
        "conn.dialect is Dialect.POSTGRES",
        "Dialect.SQLITE",
        "_SQL[conn.dialect].page",
        "_SQL[database.dialect, True]",
        "dialect == other",
        "conn.dialect.name == 'sqlite'",
        "match conn.dialect:\n    case _: pass",
        "isinstance(database, SqliteDatabase)",
        "settings.database.startswith('sqlite:')",
    ],
)
def test_a_question_is_seen(text: str) -> None:
    assert list(questions(ast.parse(text)))


def test_no_row_is_read_by_number() -> None:
    assert found_in(MODULES, numbered_rows) == []


@pytest.mark.parametrize(
    "text",
    [
        "row = conn.one(sql)\n    return row[0]",
        "if (found := conn.one(sql)) is not None:\n        return found[-1]",
        "found = await self._database.read(lambda conn: conn.one(sql))\n    return found[1]",
        "return {one[0]: one for one in conn.all(sql)}",
        "many = conn.all(sql)\n    return [one[3] for one in many]",
        "many = conn.all(sql)\n    return many[-1][0]",
        "many = leases.claim(conn, spec)\n    for one in many:\n        use(one[2:])",
        "return conn.all(sql)[0][0]",
        "return raw.execute(sql).fetchone()[0]",
        "return sorted(things, key=lambda row: row[3])",
    ],
)
def test_a_number_is_seen(text: str) -> None:
    assert list(numbered_rows(ast.parse(f"async def look(conn):\n    {text}\n")))


@pytest.mark.parametrize(
    "text",
    [
        "name, count = conn.one(sql)\n    return name",
        "many = conn.all(sql)\n    return many[0]",
        "return names[0]",
        "found = PATTERN.match(text)\n    return found[1]",
    ],
)
def test_what_has_a_name_or_is_no_row_may_be(text: str) -> None:
    assert list(numbered_rows(ast.parse(f"async def look(conn):\n    {text}\n"))) == []


def test_no_long_row_is_read_by_its_order() -> None:
    assert found_in(MODULES, long_rows) == []


def test_a_long_row_is_seen() -> None:
    names = ", ".join("abcdefgh")
    assert list(long_rows(ast.parse(f"({names}) = row")))
    assert list(long_rows(ast.parse(f"for {names} in conn.all(sql):\n    pass")))
    assert list(long_rows(ast.parse(f"[a for {names} in rows]")))
    assert list(long_rows(ast.parse(f"{names} = range(8)"))) == []
