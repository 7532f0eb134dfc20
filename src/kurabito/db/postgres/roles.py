"""A PostgreSQL role that may write only what some rights allow; a user who may not make roles gets the SQL to run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kurabito.db.locks import AdvisoryLock
from kurabito.db.port import Connection, Database
from kurabito.db.rights import WriteRights, grants, quoted

_EXISTS: Final = "SELECT 1 FROM pg_roles WHERE rolname = :role"
_IS_OURS: Final = "SELECT 1 FROM pg_roles WHERE rolname = :role AND pg_has_role(current_user, oid, 'MEMBER')"
_CAN_READ: Final = "SELECT bool_and(has_table_privilege(CAST(:role AS name), name, 'SELECT')) FROM unnest(CAST(:tables AS text[])) AS t (name)"


def ensure_role(database: Database, role: str, rights: WriteRights, readable: Collection[str]) -> bool:
    """Make the role and give it exactly these rights; false when we may not."""
    from psycopg import errors

    def make(conn: Connection) -> None:
        conn.lock(AdvisoryLock.ROLES)
        for statement in _statements(conn, role, rights, readable):
            conn.script(statement)

    try:
        database.write_blocking(make)
    except errors.InsufficientPrivilege:
        return role_is_ready(database, role, readable)
    return True


def role_is_ready(database: Database, role: str, readable: Collection[str]) -> bool:
    """Whether the role is there, is ours to take, and can read what it must."""

    def look(conn: Connection) -> bool:
        if conn.one(_IS_OURS, {"role": role}) is None:
            return False
        return bool(conn.value(_CAN_READ, {"role": role, "tables": sorted(readable)}))

    return database.read_blocking(look)


def role_script(database: Database, role: str, rights: WriteRights, readable: Collection[str]) -> str:
    """The SQL that a user who may make roles has to run, for the user that we are."""
    statements = database.read_blocking(lambda conn: _statements(conn, role, rights, readable))
    return "".join(f"{statement};\n" for statement in statements)


def _statements(conn: Connection, role: str, rights: WriteRights, readable: Collection[str]) -> list[str]:
    made = [] if conn.one(_EXISTS, {"role": role}) else [f"CREATE ROLE {quoted(role)} NOLOGIN"]
    user = conn.value("SELECT current_user")
    return [*made, f"GRANT {quoted(role)} TO {quoted(user)}", *grants(rights, role, readable)]
