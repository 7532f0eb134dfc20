"""The queue in a database: SQLite in a file, PostgreSQL for several machines."""

from kurabito.runtime.sql.adapters import PostgresQueue, SqliteQueue, sql_queue

__all__ = ["PostgresQueue", "SqliteQueue", "sql_queue"]
