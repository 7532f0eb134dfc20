"""The gate before the API and the pages: connections, before any request on them is read.

addresses.py    who is at the other end, and which addresses belong together
limits.py       how many connections, for how long; derived from the file descriptors of this process
connections.py  every open connection, and which one goes when there is no room for another
framing.py      requests that two programs could read differently are refused
protocol.py     HTTP/1.1 on one connection, with time limits
accepting.py    takes connections from the listening socket

It knows nothing of routes, keys or the database.
"""
