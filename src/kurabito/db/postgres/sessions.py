"""How we connect to PostgreSQL: what a URL says, and what every connection of our own is told.

A machine that vanishes says nothing. Until the server notices, its open transaction keeps rows locked and holds back the
events of everybody else; by TCP's own habit that takes two hours. So our connections, and never those of the caller, ask
the server to look after seconds, and look themselves too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kurabito.errors import ConfigError

_WORDS: Final = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}

# A peer that is silent for eight seconds is gone. Asked in the connection's first message, so it costs no round trip.
_AT_THE_SERVER: Final = {
    "tcp_keepalives_idle": "4",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "4",
    "tcp_user_timeout": "8000",
    # One that is not gone but stands still (SIGSTOP) answers on that level. No transaction of ours pauses for so long.
    "idle_in_transaction_session_timeout": "15000",
}
_ON_OUR_SIDE: Final = {
    "keepalives_idle": "4",
    "keepalives_interval": "1",
    "keepalives_count": "4",
    "tcp_user_timeout": "8000",
    "connect_timeout": "5",
    # Else it is that of the database, and one in SQL_ASCII, which `initdb` makes in the locale C, gives bytes for texts.
    "client_encoding": "UTF8",
}
# Variables that libpq would read, and that what we set would hide.
_VARIABLES: Final = {
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "client_encoding": "PGCLIENTENCODING",
    "options": "PGOPTIONS",
    "host": "PGHOST",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}


@dataclass(frozen=True, slots=True)
class Address:
    """A PostgreSQL URL: what libpq is given, and what is for us."""

    dsn: str
    pooled: bool | None
    """Whether a pooler like PgBouncer hands each transaction to another session; None: find out."""


def read_url(url: str) -> Address:
    """Take out of a URL what libpq does not know: `?pooled=true`."""
    base, mark, query = url.partition("?")
    if not mark:
        return Address(url, None)
    pooled: bool | None = None
    kept = []
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if name != "pooled":
            kept.append(pair)
        elif value.lower() not in _WORDS:
            raise ConfigError(f"pooled in the database's URL is true or false, got {value!r}")
        else:
            pooled = _WORDS[value.lower()]
    return Address(f"{base}?{'&'.join(kept)}" if any(kept) else base, pooled)


def direct(dsn: str, role: str | None = None) -> str:
    """How our own sessions connect. What the DSN, or the environment, says itself stays as it is."""
    given = conninfo_to_dict(dsn)
    theirs = _said(given, "options")
    options = " ".join(f"-c {name}={value}" for name, value in _AT_THE_SERVER.items())
    options = f"{options} {theirs}".strip()
    if role is not None:
        # Last, so that nothing overrides it: from its first moment on the connection is that role.
        options += f" -c role={role}"
    return make_conninfo(reachable(dsn), options=options)


def reachable(dsn: str) -> str:
    """How we connect where another program owns the session: only what concerns our end of the line."""
    given = conninfo_to_dict(dsn)
    added = {name: value for name, value in _ON_OUR_SIDE.items() if not _said(given, name)}
    if "," in _said(given, "host") and not _said(given, "target_session_attrs"):
        # Of several hosts the one that takes writes: after a failover that is another.
        added["target_session_attrs"] = "read-write"
    return make_conninfo(dsn, **added)


def is_pooled(raw: psycopg.Connection[tuple[Any, ...]]) -> bool:
    """Whether a pooler stands between us and the server: it made up the process id that it told us."""
    return raw.execute("SELECT pg_backend_pid()").fetchone() != (raw.info.backend_pid,)


def where(dsn: str) -> str:
    """The server and database in a DSN, and nothing that is secret."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        return "the database (its DSN cannot be read)"
    host = parts.get("host") or "the local socket"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"PostgreSQL {parts.get('dbname') or ''} at {host}{port}".replace("  ", " ")


def _said(given: Mapping[str, object], name: str) -> str:
    return str(given.get(name) or os.environ.get(_VARIABLES.get(name, ""), ""))
