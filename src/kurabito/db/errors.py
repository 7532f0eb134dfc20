"""The errors of the database that only its callers above the runtime know; the others are in `kurabito.errors`."""

from __future__ import annotations

from kurabito.errors import DatabaseError, DatabaseUnavailable


class EarlierDatabase(DatabaseUnavailable):
    """The database is one of the earlier system, and was not taken over yet."""

    code = "earlier_database"


class NotADatabase(DatabaseError):
    """The file exists and is not a SQLite database."""

    code = "not_a_database"


class DatabaseTooNew(DatabaseError):
    """The database was migrated by a newer version of this program."""

    code = "database_too_new"


class MigrationChanged(DatabaseError):
    """A migration that was already applied differs from its file."""

    code = "migration_changed"


class ForeignTables(DatabaseError):
    """The database has tables of another program with the names that ours would get."""

    code = "foreign_tables"


class RowsWouldBeLost(DatabaseError):
    """A migration was undone, because rows would have gone that it was not to remove."""

    code = "rows_would_be_lost"


class UniqueConflict(DatabaseError):
    """Another row has the value that must be unique."""

    code = "unique_conflict"
