"""From a URL to a database."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from kurabito.clock import Clock
from kurabito.db.port import Database
from kurabito.db.rights import WriteRights
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.db.table_names import channel_of
from kurabito.errors import ConfigError, MissingExtra


def open_database(
    url: str,
    *,
    clock: Clock | None = None,
    create: bool = True,
    rights: WriteRights | None = None,
    role: str | None = None,
    schema: str | None = None,
) -> Database:
    """The database that a URL names, not yet connected. Unless `create`, a SQLite file must be there already.

    Programs whose queue is in another `schema` neither wake our workers nor see to their death.

    With `rights` nothing else can be written: SQLite is told them, and on PostgreSQL `role` has them.
    """
    if "?schema=" in url or "&schema=" in url:
        raise ConfigError(
            "only a queue can be in a schema; this is for everything that Kurabito keeps, so leave it out"
        )
    scheme = url.partition("://")[0]
    if scheme == "sqlite":
        return SqliteDatabase(sqlite_path(url), clock, create=create, rights=rights, schema=schema)
    if scheme in ("postgresql", "postgres"):
        try:
            from kurabito.db.postgres.database import PostgresDatabase
            from kurabito.db.postgres.sessions import read_url
        except ImportError as missing:
            raise MissingExtra("psycopg, which PostgreSQL needs,", "postgres") from missing
        address = read_url(url)
        return PostgresDatabase(address.dsn, clock, role=role, pooled=address.pooled, channel=channel_of(schema))
    raise ConfigError(f"a database URL begins with sqlite:/// or postgresql://, got {scheme or url!r}")


def file_of(url: str) -> Path | None:
    """The file that the database of this URL is; None for one of a server."""
    return sqlite_path(url) if url.startswith("sqlite:") else None


def sqlite_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`."""
    rest = url.removeprefix("sqlite://")
    if not rest.startswith("/") or len(rest) < 2:
        raise ConfigError(f"a SQLite URL is sqlite:///file.db or sqlite:////folder/file.db, got {url!r}")
    return Path(unquote(rest[1:]))
