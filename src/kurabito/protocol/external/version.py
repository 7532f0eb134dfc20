"""Which version of the contract of external workers is spoken here, and which one a worker says that it speaks."""

from __future__ import annotations

import re
from typing import Final

from kurabito.protocol.errors import WorkerProtocolMismatch
from kurabito.protocol.version import ProtocolVersion

HEADER: Final = "Kurabito-Worker-Protocol"
"""In every request of a worker, and in every answer to one."""
SPOKEN: Final = ProtocolVersion(1, 1)
"""1.0 had claims, heartbeats, completions and failures; 1.1 added snoozes and follow-ups."""
UNSAID: Final = "1.0"
"""What a worker speaks that does not say it: the first ones did not."""

_WRITTEN: Final = re.compile(r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})", re.ASCII)


def check(said: str) -> None:
    """Raise WorkerProtocolMismatch when a worker speaks another major version."""
    written = _WRITTEN.fullmatch(said.strip())
    if written is None or int(written[1]) != SPOKEN.major:
        raise WorkerProtocolMismatch(
            f"the worker speaks version {said!r} of the workers' protocol and this server {SPOKEN}; "
            f"use a worker that was written for version {SPOKEN.major}, and write it as major.minor"
        )
