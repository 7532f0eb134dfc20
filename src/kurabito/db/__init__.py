"""The database: one port, two engines, the migrations and the lease engine that every leased table uses.

port.py      stores are plain functions of a connection, and a database runs them
dialect.py   the handful of things in which the SQL of the two differs; nothing outside asks which of them it is
sqlite/      one writer thread, readers beside it
postgres/    a pool of connections, notifications, sessions and roles
leases/      claim, heartbeat, finish, release and recover, written once; grace.py spares the living when a clock jumps
migrate.py   numbered files, applied once, in order; ledger.py notes them, adoption/ takes over earlier databases
queries.py   named queries from `.sql` files; rows.py gives many rows to one statement
rights.py    what a connection may write; locks.py lists the advisory locks
table_names.py  what the runtime's tables are called in a database of others
factory.py   from a URL to a database
threads.py   threads that run blocking functions for coroutines
"""

from kurabito.db.dialect import Dialect
from kurabito.db.factory import open_database
from kurabito.db.leases import LeaseSpec
from kurabito.db.locks import AdvisoryLock
from kurabito.db.migrate import migrate
from kurabito.db.port import Connection, Database
from kurabito.db.queries import Queries, Query

__all__ = [
    "AdvisoryLock",
    "Connection",
    "Database",
    "Dialect",
    "LeaseSpec",
    "Queries",
    "Query",
    "migrate",
    "open_database",
]
