"""Outbound HTTP: the one way out, for feeds, posters, metadata services and downloaders alike.

A request passes these in turn:

    client ─► guard ─────► throttle ─────► transport ────────► bodies ─► reply
              may we?      whose turn?     pools, checked      size caps
                                           connections
        ▲         ▲                            │
        │         └── redirects: checked again ┤
        └──────────── retries: idempotent only ┘

Every error is an `OutboundError`; `host_not_allowed` says how to allow the host. Nothing is kept between requests but open
connections and each host's pace: no cookies, no cache.

**With a proxy** the addresses behind a name are the proxy's to find, so the guard can only judge what is written: addresses,
and names that only a local network knows (nas, nas.local). What a public name leads to from where the proxy stands is up
to the proxy. Local hosts that are trusted are reached without it.

addresses.py which addresses are private
bodies.py    what is sent and what is read, up to a size
client.py    `Outbound`, which everybody uses
guard.py     which hosts and addresses may be reached
limits.py    how much time and space one request may take
network.py   connections, each checked once more when it is made
proxies.py   what the address of a proxy may be
redaction.py a URL as it may stand in a log or a message
redirects.py where an answer leads
replies.py   what comes back
retries.py   whether and when a request is sent again
sending.py   from a request to its reply: through the guard, in turn, along redirects, and again when that is worth it
throttle.py  whose turn it is: the pace of each host
transport.py the pools of connections
"""

from kurabito.http.client import Outbound
from kurabito.http.limits import Limits
from kurabito.http.replies import Reply, Validators

__all__ = ["Limits", "Outbound", "Reply", "Validators"]
