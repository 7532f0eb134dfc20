"""The queue in a database: SQLite in a file, PostgreSQL for several machines.

    adapters.py     puts the parts of a queue together, for each database
    queue.py        what a program asks; work.py is the worker's side, delegation.py the port for tasks without a lease
    store.py        what changes tasks, and how a change is made known; lookup.py only reads
    tables.py       what the databases say differently: sqlite.py and postgres.py
    lease_spec.py   `tasks` as a leased table
    records.py      from rows to records
    streams.py      events, and waiting for a task
    parked_claims.py  claims for workers at rest

Only the runtime imports it: programs use the ports.
"""

from kurabito.runtime.sql.adapters import PostgresQueue, SqliteQueue, sql_queue

__all__ = ["PostgresQueue", "SqliteQueue", "sql_queue"]
