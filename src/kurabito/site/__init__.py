"""The gate before the API and the pages: which connections and requests are let in, and what every answer carries.

A connection, before any request on it is read:

addresses.py    addresses of clients and of reverse proxies
limits.py       how many connections, for how long; derived from the file descriptors of this process
connections.py  every open connection, and which one is closed when there is no room for another
acceptor.py     takes connections from the listening socket
framing.py      refuses requests that two programs could read differently
protocol.py     HTTP/1.1 on one connection, with time limits

A request, before a route sees it:

gate.py         all of the following in order
client.py       the address of the client, also behind trusted reverse proxies
hosts.py        the names that this site answers to
origins.py      the pages that may send requests: our own
routing.py      routers, put into an application as they are
bodies.py       how much a request may bring, and for how long
permissions.py  the scope that a path and a method need

An answer, before it leaves:

answers.py      the headers of every answer
errors.py       the answer to an error, with its HTTP status
"""
