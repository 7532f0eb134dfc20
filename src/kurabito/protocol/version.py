"""Which version of the protocol this program speaks, and which one a database does.

A major version is another contract: a data plane and a control plane of different majors do not work together, and both say so.
A minor version only adds. What it adds has a name, a capability, and a data plane lists those that it has when it registers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from kurabito.db import Connection, Queries
from kurabito.protocol.errors import ProtocolMismatch

_SQL: Final = Queries("kurabito.protocol", "planes.sql")


class ProtocolVersion(NamedTuple):
    """A version as `major.minor`."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


SPOKEN: Final = ProtocolVersion(1, 0)
"""What this program speaks."""


class Capability(StrEnum):
    """What a data plane can do. Each later minor version adds some."""

    SCAN = "scan"
    HASH_BLAKE3 = "hash.blake3"
    HASH_SHA256 = "hash.sha256"
    DELETE_TRASH = "delete.trash"
    DELETE_HARDLINK = "delete.hardlink"
    DELETE_REFLINK = "delete.reflink"
    DELETE_DISCARD = "delete.discard"
    THUMBNAIL_IMAGE = "thumbnail.image"
    THUMBNAIL_VIDEO = "thumbnail.video"
    CLEANUP = "cleanup"
    CHECKPOINT = "checkpoint"
    INSPECT = "inspect"
    PLACE = "place"
    MEDIA = "media"


def check(conn: Connection) -> ProtocolVersion:
    """The version that the database speaks; raises ProtocolMismatch when that is another major than ours, or none."""
    row = conn.one(_SQL.protocol)
    found = None if row is None else ProtocolVersion(*row)
    if found is None or found.major != SPOKEN.major:
        spoken = "no version" if found is None else f"version {found}"
        raise ProtocolMismatch(
            f"the database speaks {spoken} of the planes' protocol and this program {SPOKEN}; "
            "run a data plane and a control plane of the same release"
        )
    return found
