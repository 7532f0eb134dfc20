"""How a data plane comes by rows, keeps them, and is known to be alive.

runner.py        recovers, claims, keeps the lease, gives back and stops, for every leased table
leased_row.py    a row that this process holds the lease of, and the thread that keeps it
paced_writer.py  writes long results in portions
plane_locks.py   the sign of life on a SQLite file
"""
