"""Every write to the tables of the protocol, noted by triggers in the transaction that made it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Dialect
from kurabito.protocol.rights import CONFORMANCE_JOURNAL
from kurabito.protocol.tables import TABLES

BY_KIT: Final = "kurabito.conformance"
"""A setting of a transaction on PostgreSQL: it is the kit's own."""
_OPERATIONS: Final = {"INSERT": ("NULL", "new"), "UPDATE": ("old", "new"), "DELETE": ("old", "NULL")}
_REFUSAL: Final = re.compile(r"\s*SELECT RAISE\(ABORT,\s*'(?:[^']|'')*'\)[^;]*;")
_EMPTY_BODY: Final = re.compile(r"BEGIN\s+END\s*$")

_NOTES_POSTGRES: Final = f"""
CREATE TABLE {CONFORMANCE_JOURNAL} (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint, by_kit boolean, tx bigint,
    table_name text, operation text, old text, new text
);
CREATE FUNCTION {CONFORMANCE_JOURNAL}_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO {CONFORMANCE_JOURNAL} (at, by_kit, tx, table_name, operation, old, new) VALUES (
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
        coalesce(current_setting('{BY_KIT}', true), '') <> '', txid_current(), TG_TABLE_NAME, TG_OP,
        CASE WHEN TG_OP = 'INSERT' THEN NULL ELSE to_jsonb(OLD)::text END,
        CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE to_jsonb(NEW)::text END
    );
    RETURN NULL;
END $$;
"""
_NOTES_SQLITE: Final = f"""
CREATE TABLE {CONFORMANCE_JOURNAL} (
    seq INTEGER PRIMARY KEY, at INTEGER, by_kit INTEGER, tx INTEGER, table_name TEXT, operation TEXT, old TEXT, new TEXT
);
"""
_BYTES: Final = "\\x"
"""What the digits of bytes begin with in a note."""
_NOW_SQLITE: Final = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


@dataclass(frozen=True, slots=True)
class NotedWrite:
    """One row that was written by the plane."""

    seq: int
    at: int
    transaction: int | None
    """Which one it was part of; None where the database does not say."""
    table: str
    operation: str
    old: Mapping[str, Any]
    new: Mapping[str, Any]

    @property
    def changed(self) -> frozenset[str]:
        """The columns that have another value now."""
        return frozenset(column for column, value in self.new.items() if self.old.get(column) != value)

    @property
    def row(self) -> Mapping[str, Any]:
        """The row after the write, or what it was when it is gone."""
        return self.new or self.old

    def __str__(self) -> str:
        key = next(iter(self.row.values()), "")
        changes = ", ".join(f"{column} = {self.new[column]!r}" for column in sorted(self.changed))
        return f"{self.operation} {self.table} {key!r}" + (f": {changes}" if self.operation == "UPDATE" else "")


def install(conn: Connection) -> None:
    """Take the guards out of a database, and have all writes noted from now on."""
    if conn.dialect is Dialect.POSTGRES:
        conn.script(_NOTES_POSTGRES)
        for table in TABLES:
            conn.script(
                f"CREATE TRIGGER zz_noted AFTER INSERT OR UPDATE OR DELETE ON {table.name} "
                f"FOR EACH ROW EXECUTE FUNCTION {CONFORMANCE_JOURNAL}_note()"
            )
        return
    remove_guards(conn)
    conn.script(_NOTES_SQLITE)
    for table in TABLES:
        for operation, (old, new) in _OPERATIONS.items():
            conn.script(_sqlite_trigger(table.name, list(table.columns), operation, old, new))


def remove_guards(conn: Connection) -> None:
    """Leave of each trigger what keeps tables in step, and nothing of what refuses."""
    triggers = conn.all("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%RAISE(ABORT%'")
    for name, text in triggers:
        conn.script(f"DROP TRIGGER {name}")
        rest = _REFUSAL.sub("", text)
        if not _EMPTY_BODY.search(rest):
            conn.script(rest)


def _sqlite_trigger(table: str, columns: list[str], operation: str, old: str, new: str) -> str:
    def row(side: str) -> str:
        if side == "NULL":
            return side
        values = (
            f"'{name}', iif(typeof({side}.{name}) = 'blob', '{_BYTES}' || hex({side}.{name}), {side}.{name})"
            for name in columns
        )
        return f"json_object({', '.join(values)})"

    return (
        f"CREATE TRIGGER zz_{table}_{operation.lower()} AFTER {operation} ON {table} BEGIN "
        f"INSERT INTO {CONFORMANCE_JOURNAL} (at, by_kit, table_name, operation, old, new) VALUES ({_NOW_SQLITE}, "
        f"sqlite_compileoption_used('KURABITO_CONTROL_PLANE'), '{table}', '{operation}', {row(old)}, {row(new)}); END"
    )


def last_seq(conn: Connection) -> int:
    """The number of the last note."""
    return int(conn.value(f"SELECT coalesce(max(seq), 0) FROM {CONFORMANCE_JOURNAL}"))


def written(conn: Connection, after: int = 0) -> list[NotedWrite]:
    """What the plane wrote, in order."""
    rows = conn.all(
        f"SELECT seq, at, tx, table_name, operation, old, new FROM {CONFORMANCE_JOURNAL} "
        "WHERE seq > :after AND NOT CAST(by_kit AS boolean) ORDER BY seq",
        {"after": after},
    )
    return [
        NotedWrite(seq, at, tx, table, operation, _row(old), _row(new))
        for seq, at, tx, table, operation, old, new in rows
    ]


def _row(text: str | None) -> Mapping[str, Any]:
    found = json.loads(text) if text else {}
    return {
        name: _digits(value) if name.endswith("_hash") and isinstance(value, str) else value
        for name, value in found.items()
    }


def _digits(value: str) -> str:
    """The hex digits of bytes, in lowercase; of a text, which is no digest, something that says so."""
    return value.removeprefix(_BYTES).lower() if value.startswith(_BYTES) else f"the text {value!r}"
