"""Rows that are read by the names of their columns, and many rows as one FROM item.

On PostgreSQL an array for each column, and one value where all rows agree, is the fastest; on SQLite it is VALUES. Where one
statement should do for both, the rows are a list of JSON, which is `{given}` in it.
"""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Self

_BRACKETS: Final = re.compile(r"\([^()]*\)")
_NAME: Final = re.compile(r"(\w+)\s*$")


class ColumnList(str):
    """The columns of a SELECT, whose names the rows then have.

    _NOTE: Final = ColumnList("note.id, note.text, coalesce(note.size, 0) AS size")
    _NOTE.row(row).size
    """

    __slots__ = ("_type",)

    _type: Any

    def __new__(cls, columns: str) -> Self:
        self = super().__new__(cls, columns)
        self._type = namedtuple("Row", _names(columns))  # type: ignore[misc]
        return self

    def row(self, values: Iterable[Any]) -> Any:
        """A row of these columns, with their names."""
        return self._type._make(values)


def only_value(row: tuple[Any, ...] | None) -> Any:
    """The value of a row of one column; None without a row."""
    if row is None:
        return None
    (value,) = row
    return value


def given(values: Iterable[Any]) -> dict[str, str]:
    """Values as the rows of one column, for `{given}`."""
    return {"rows": json.dumps([[value] for value in values], ensure_ascii=False)}


def _names(columns: str) -> Iterable[str]:
    text, inner = columns, ""
    while text != inner:
        text, inner = _BRACKETS.sub("", text), text
    for column in text.split(","):
        name = _NAME.search(column)
        if name is None:
            raise ValueError(f"a column has no name; give it one with AS: {column.strip() or columns!r}")
        yield name[1]


class Column(NamedTuple):
    """The values that rows have in one column."""

    name: str
    type: str
    values: Sequence[Any]


def row_source(first: Column, *rest: Column) -> tuple[str, dict[str, Any]]:
    """A SELECT that gives the rows in their order, with their `place`; and its parameters.

    A column whose values are all the same is sent once. In a batch most are (an owner, a priority, a NULL), and arrays are
    what the client spends its time on.
    """
    listed: list[Column] = [first]
    fixed: list[Column] = []
    for column in rest:
        (fixed if _all_same(column.values) else listed).append(column)
    arrays = ", ".join(f":{column.name}_list::{column.type}[]" for column in listed)
    names = ", ".join(column.name for column in listed)
    constants = "".join(f", :{column.name}_all::{column.type} AS {column.name}" for column in fixed)
    params = {f"{column.name}_list": list(column.values) for column in listed}
    params |= {f"{column.name}_all": column.values[0] for column in fixed}
    return f"SELECT {names}, place{constants} FROM unnest({arrays}) WITH ORDINALITY AS u ({names}, place)", params


def _all_same(values: Sequence[Any]) -> bool:
    first = values[0]
    return all(value is first or value == first for value in values)
