"""The database: one port, two engines, the migrations and the lease engine that every leased table uses."""

from kurabito.db.leases import LeaseSpec
from kurabito.db.migrate import migrate
from kurabito.db.opening import open_database
from kurabito.db.port import Connection, Database, Dialect
from kurabito.db.queries import Queries

__all__ = ["Connection", "Database", "Dialect", "LeaseSpec", "Queries", "migrate", "open_database"]
