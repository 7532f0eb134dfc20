"""PostgreSQL: `pool` keeps connections, `sessions` says how to connect, `listen` and `poll` notice others, `roles` restricts.

connection.py one transaction on PostgreSQL
database.py   PostgreSQL: a pool of connections, each transaction a plain function on a thread of ours
listener.py   hears PostgreSQL's notifications on a connection of its own, and comes back when that breaks
poll.py       notices what other programs commit where notifications cannot be heard
pool.py       a pool of connections to PostgreSQL
roles.py      a PostgreSQL role that may write only what some rights allow; a user who may not make roles gets the SQL to run
sessions.py   how we connect to PostgreSQL: what a URL says, and what every connection of our own is told
"""
