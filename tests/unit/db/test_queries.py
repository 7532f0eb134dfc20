"""Queries are written once and say in each dialect what it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kurabito.db import Dialect, Queries

BOTH = (Dialect.SQLITE, Dialect.POSTGRES)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_store", raising=False)
    folder = tmp_path / "some_store"
    folder.mkdir()
    (folder / "__init__.py").touch()
    return folder


def queries(package: Path, text: str, **parts: str) -> Queries:
    (package / "store.sql").write_text(text, encoding="utf-8")
    return Queries("some_store", "store.sql", **parts)


def test_a_word_is_what_each_dialect_says_for_it(package: Path) -> None:
    sql = queries(package, "-- name: later\nSELECT {greatest}(a, b) FROM t;\n")
    assert [sql.later.text(dialect) for dialect in BOTH] == ["SELECT max(a, b) FROM t", "SELECT greatest(a, b) FROM t"]


def test_a_part_may_have_words_in_it(package: Path) -> None:
    sql = queries(package, "-- name: first\nSELECT {slash} FROM t", slash="{position}(path, '/')")
    assert sql.first.text(Dialect.SQLITE) == "SELECT instr(path, '/') FROM t"
    assert sql.first.text(Dialect.POSTGRES) == "SELECT strpos(path, '/') FROM t"


def test_a_word_may_be_about_something(package: Path) -> None:
    sql = queries(package, "-- name: some\nSELECT id FROM t {indexed_by ix_t} WHERE id {among ids}")
    assert (
        sql.some.text(Dialect.SQLITE)
        == "SELECT id FROM t INDEXED BY ix_t WHERE id IN (SELECT value FROM json_each(:ids))"
    )
    assert sql.some.text(Dialect.POSTGRES) == "SELECT id FROM t  WHERE id = ANY(:ids)"


def test_a_list_is_given_as_each_dialect_takes_it_and_nothing_else_is_touched(package: Path) -> None:
    sql = queries(package, "-- name: some\nSELECT 1 WHERE 1 {among ids} AND :other = 1")
    given = {"ids": (1, 2), "other": (1, 2)}
    assert sql.some.values(Dialect.SQLITE, given) == {"ids": "[1, 2]", "other": (1, 2)}
    assert sql.some.values(Dialect.POSTGRES, given) == {"ids": [1, 2], "other": (1, 2)}


def test_a_word_that_nobody_knows_is_refused_with_its_place(package: Path) -> None:
    with pytest.raises(LookupError, match=r"store\.sql: some has \{lookl_ike\}"):
        queries(package, "-- name: some\nSELECT {lookl_ike}")


def test_a_query_that_there_is_not_is_named(package: Path) -> None:
    with pytest.raises(AttributeError, match="no query is named other"):
        _ = queries(package, "-- name: some\nSELECT 1").other


def test_both_dialects_know_the_same_words() -> None:
    assert Dialect.SQLITE.words.keys() == Dialect.POSTGRES.words.keys()
