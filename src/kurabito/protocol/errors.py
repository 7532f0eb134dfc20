"""The errors of the contract between the planes."""

from __future__ import annotations

from kurabito.errors import DatabaseUnavailable


class ProtocolMismatch(DatabaseUnavailable):
    """The database speaks another major version of the planes' protocol."""

    code = "protocol_mismatch"
