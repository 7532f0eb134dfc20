"""What a delete job works with: its steps, files in the trash, and what is written down about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kurabito.protocol.deletion import LogAction
from kurabito.protocol.enums import HashAlgorithm


@dataclass(frozen=True, slots=True)
class DeleteStep:
    """One file that is to go, as the control plane decided; and what the database knows about it by now."""

    position: int
    file_id: int
    library_id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    hash_algorithm: str
    content_hash: bytes
    kept_file_id: int
    kept_library_id: int
    kept_path: str
    kept_mtime_ns: int
    reason: str
    is_stale: int
    kept_is_stale: int
    kept_is_removed: int
    begun_as: str | None
    """The id in the log, when this step was begun and did not come to its end."""
    trash_path: str | None


@dataclass(frozen=True, slots=True)
class TrashedFile:
    """A file in the trash."""

    id: str
    file_id: int
    library_id: int
    relative_path: str
    trash_path: str
    size_bytes: int
    hash_algorithm: str
    content_hash: bytes
    successor_path: str | None
    """The file that took its place; None when a plan removed it."""
    is_discarded: int
    """Its keeper deleted it: it goes without another copy."""
    begun_as: str | None
    refused_as: str | None
    """The code, when this job was refused to have it leave."""
    refused_because: str | None


class BegunStep(NamedTuple):
    """What a job wrote down about one of its steps."""

    id: str
    state: str
    trash_path: str


class KnownFile(NamedTuple):
    """What the database knows of a file that is to be discarded."""

    algorithm: HashAlgorithm
    """That of its library."""
    content_hash: bytes | None


@dataclass(frozen=True, slots=True)
class Intent:
    """Something that is about to be done to a file."""

    job_id: str
    position: int
    action: LogAction
    library_id: int
    relative_path: str
    plan_id: int | None = None
    kept_library_id: int | None = None
    kept_path: str | None = None

    def values(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "plan_id": self.plan_id,
            "position": self.position,
            "action": self.action.value,
            "library_id": self.library_id,
            "relative_path": self.relative_path,
            "kept_library_id": self.kept_library_id,
            "kept_path": self.kept_path,
        }


@dataclass(frozen=True, slots=True)
class Abandoned:
    """An intent of a job that is over."""

    id: str
    action: LogAction
    library_id: int
    relative_path: str
    kept_library_id: int | None
    kept_path: str | None
    trash_path: str
