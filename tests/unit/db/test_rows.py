"""Rows have the names of their columns."""

from __future__ import annotations

import pytest

from kurabito.db.rows import ColumnList

NOTE = ColumnList(
    "note.id, text, coalesce(note.size, (SELECT max(a, b) FROM c)) AS size, CASE WHEN x THEN 1 END AS is_big"
)


def test_a_row_has_the_names_of_its_columns() -> None:
    note = NOTE.row((7, "hello", 5, 1))
    assert (note.id, note.text, note.size, note.is_big) == (7, "hello", 5, 1)


def test_the_columns_are_what_a_statement_says() -> None:
    assert f"SELECT {NOTE} FROM note".startswith("SELECT note.id, text, coalesce(note.size, (SELECT")


@pytest.mark.parametrize("row", [(7, "hello", 5), (7, "hello", 5, 1, 2)])
def test_a_row_of_other_columns_is_refused(row: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="Expected 4 arguments"):
        NOTE.row(row)


def test_a_column_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="give it one with AS"):
        ColumnList("id, (SELECT 1)")
