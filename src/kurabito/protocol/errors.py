"""The errors of the contracts: between the planes, and with external workers."""

from __future__ import annotations

from kurabito.errors import DatabaseUnavailable, KurabitoError


class ProtocolMismatch(DatabaseUnavailable):
    """The database speaks another major version of the planes' protocol."""

    code = "protocol_mismatch"


class WorkerProtocolMismatch(KurabitoError):
    """An external worker speaks another major version of the workers' protocol."""

    code = "worker_protocol_mismatch"
