"""The contract of external workers: programs in any language that claim tasks and end them over HTTP.

`WORKERS` has its numbered rules, whose sections are the Markdown files beside this one; `docs/worker-protocol.md` shows them,
and `kurabito conformance --worker` examines a worker by them. `version.py` has its version.
"""

from __future__ import annotations

from typing import Final

from kurabito.protocol.external.version import HEADER, SPOKEN
from kurabito.protocol.rulebook import RuleBook

LONGEST_WAIT: Final = 30
"""Seconds for which a claim may wait."""
MOST_CLAIMED: Final = 100
"""Tasks that one claim may bring."""
MOST_FOLLOW_UPS: Final = 100
"""Follow-ups that one task may have."""
LARGEST: Final = 1 << 20
"""Bytes of a payload or a result."""
PROBE: Final = "kurabito.probe"
"""The type of the tasks by which a worker is examined."""

WORKERS: Final = RuleBook(
    "worker protocol",
    str(SPOKEN),
    __package__,
    ("words", "versions", "requests", "claims", "leases", "ends", "trouble", "stopping", "probe", "server"),
    {
        "header": f"`{HEADER}`",
        "version": str(SPOKEN),
        "major": str(SPOKEN.major),
        "longest_wait": str(LONGEST_WAIT),
        "most_claimed": str(MOST_CLAIMED),
        "most_follow_ups": str(MOST_FOLLOW_UPS),
        "largest": f"{LARGEST:,}",
        "probe": f"`{PROBE}`",
    },
)
PROMISES: Final = "server"
"""The section whose rules bind the server, and not a worker."""
