"""Making the database ready before anything uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from kurabito.clock import Clock, SystemClock
from kurabito.db import Database, open_database
from kurabito.db.adoption import TakenTable
from kurabito.db.factory import file_of
from kurabito.db.ledger import has_tables
from kurabito.db.migrate import PRODUCT, RUNTIME, migrate_together, pending, unknown
from kurabito.db.postgres.roles import ensure_role, role_is_ready, role_script
from kurabito.db.sqlite.privacy import make_private
from kurabito.errors import ConfigError
from kurabito.logs import get_logger
from kurabito.maintenance.backups import back_up, fresh_name, holds_earlier, name_of_earlier
from kurabito.protocol.rights import DATA_PLANE, READABLE
from kurabito.protocol.version import check
from kurabito.settings import Settings

SETS: Final = (RUNTIME, PRODUCT)
BACKUPS: Final = "backups"

_log = get_logger(__name__)


def check_kept(settings: Settings) -> None:
    """Refuse a database that ends with the process: the planes could not share it, and nothing would be kept."""
    if settings.database.startswith("memory:"):
        raise ConfigError(
            "database cannot be memory://: what Kurabito knows has to outlive a restart; use sqlite:///FILE or "
            "postgresql://…, or leave it out for a file in the state folder"
        )


def sqlite_file(settings: Settings) -> Path | None:
    """The file that the database is; None for a server."""
    return file_of(settings.database)


def is_new(settings: Settings) -> bool:
    """Whether there is no database yet, as far as can be seen without making one."""
    file = sqlite_file(settings)
    return file is not None and not file.exists()


def pending_migrations(database: Database) -> list[str]:
    """What has to be applied before this version can use the database, in order."""
    return [name for set_name in SETS for name in pending(database, set_name)]


def unknown_migrations(database: Database) -> list[str]:
    """What a newer version applied, in order; nothing as long as this version can go on."""
    return [name for set_name in SETS for name in unknown(database, set_name)]


class Prepared(NamedTuple):
    """What was done to a database before anything uses it."""

    applied: list[str]
    """The names of the migrations."""
    taken: list[TakenTable]
    """The tables of the earlier system, if there were any."""


def prepare_database(settings: Settings, clock: Clock | None = None) -> Prepared:
    """Bring the database up to date, with a backup first."""
    taken: list[TakenTable] = []
    if (file := sqlite_file(settings)) is not None:
        make_private(file)
    database = open_database(settings.database)
    database.open()
    try:
        if pending_migrations(database) and _has_tables(database):
            _keep_copy(settings, clock or SystemClock())
        applied = migrate_together(database, SETS, tell=taken.extend)
        database.read_blocking(check)
        if database.dialect.has_server:
            ensure_role(database, settings.dataplane_role, DATA_PLANE, READABLE)
    finally:
        database.close()
    if applied:
        _log.info("database migrated", migrations=applied)
    for table in taken:
        _log.info("table of the earlier system taken over", **_facts(table))
    return Prepared(applied, taken)


def missing_role(settings: Settings, database: Database) -> str | None:
    """The SQL that would hold data planes to their rights, when we may not run it; None where all is well."""
    role = settings.dataplane_role
    if not database.dialect.has_server or role_is_ready(database, role, READABLE):
        return None
    return role_script(database, role, DATA_PLANE, READABLE)


def _keep_copy(settings: Settings, clock: Clock) -> None:
    file = sqlite_file(settings)
    if file is None:
        _log.info("no backup before the migration: back up a PostgreSQL server with its own tools")
        return
    folder, now = settings.state / BACKUPS, clock.now()
    copy = name_of_earlier(folder, now) if holds_earlier(file) else fresh_name(folder, now)
    back_up(file, copy)
    _log.info("database backed up before its migration", backup=str(copy))


def _facts(table: TakenTable) -> dict[str, object]:
    kept = {"kept": table.kept, "kept_in": table.kept_in, "because": list(table.reasons)} if table.kept_in else {}
    return {"table": table.name, "rows": table.rows, "carried": table.carried, **kept}


def _has_tables(database: Database) -> bool:
    return database.read_blocking(has_tables)
