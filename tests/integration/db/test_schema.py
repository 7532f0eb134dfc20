"""The readable schema files say what the migrations make."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from kurabito.db import Connection, Database, Dialect, migrate, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME

Dump = dict[str, list[tuple[object, ...]]]


def dump_sqlite(conn: Connection) -> Dump:
    """Every table, column, index and the text of each definition without comments and spaces."""
    found: Dump = {}
    for kind, name, text in conn.all("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"):
        if name == "kurabito_migrations":
            continue
        # A column that was added later stands behind the last line break.
        bare = re.sub(r"\s*([(),])\s*|\s+", r"\1 ", re.sub(r"--[^\n]*", "", text or "")).strip()
        pragma = "table_xinfo" if kind == "table" else "index_xinfo"
        found[f"{kind} {name}"] = [(bare,), *conn.all(f"PRAGMA {pragma}({name})")]
    return found


def dump_postgres(conn: Connection) -> Dump:
    questions = {
        "columns": "SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default, "
        "is_identity, identity_generation FROM information_schema.columns",
        "indexes": "SELECT tablename AS table_name, indexname, indexdef FROM pg_indexes",
        "constraints": "SELECT conrelid::regclass::text AS table_name, conname, contype, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE conrelid <> 0",
        "storage": "SELECT relname AS table_name, relkind, reloptions::text FROM pg_class",
        "triggers": "SELECT event_object_table AS table_name, trigger_name, action_statement "
        "FROM information_schema.triggers",
    }
    ours = (
        "WHERE table_name IN (SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace) "
        "AND table_name NOT LIKE 'kurabito_migrations%'"
    )
    return {
        name: conn.all(f"SELECT * FROM ({question}) AS found {ours} ORDER BY 1, 2, 3")
        for name, question in questions.items()
    }


DUMPS: dict[Dialect, Callable[[Connection], Dump]] = {
    Dialect.SQLITE: dump_sqlite,
    Dialect.POSTGRES: dump_postgres,
}


def dump_of(database: Database, prepare: Callable[[Database], object]) -> Dump:
    database.open()
    try:
        prepare(database)
        return database.read_blocking(DUMPS[database.dialect])
    finally:
        database.close()


def another(url: str, tmp_path: Path) -> str:
    """A second empty database beside the first."""
    if url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'another.db'}"
    with psycopg.connect(url, autocommit=True) as connection:
        # It goes when the server of this run does; a database cannot hold two schemas under one search path.
        name = f"{connection.info.dbname}_schema"
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        return url.replace(connection.info.dbname, name)


@pytest.fixture
def empty(url: str, tmp_path: Path) -> object:
    beside = another(url, tmp_path)
    yield beside
    if beside.startswith("postgres"):
        with psycopg.connect(url, autocommit=True) as connection:
            name = sql.Identifier(f"{connection.info.dbname}_schema")
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.mark.parametrize("set_name", [RUNTIME, PRODUCT])
def test_a_migrated_database_equals_the_schema_that_is_written_down(url: str, empty: str, set_name: str) -> None:
    migrated, fresh = open_database(url), open_database(empty)
    written = files("kurabito.db").joinpath("schema", migrated.dialect.name, f"{set_name}.sql").read_text("utf-8")
    by_migration = dump_of(migrated, lambda database: migrate(database, set_name))
    by_schema = dump_of(fresh, lambda database: database.write_blocking(lambda conn: conn.script(written)))
    assert by_migration == by_schema
    assert by_migration
    assert all(by_migration[name] for name in by_migration if name != "triggers")
