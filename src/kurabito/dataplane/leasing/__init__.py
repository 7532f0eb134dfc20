"""How a data plane comes by rows, keeps them, and is known to be alive.

`leased_row` and `leased_job` are rows that this process holds the lease of, `lease_keeper` renews it in a thread,
`paced_writer` writes long results in portions, and `plane_locks` is the sign of life on a SQLite file.
"""
