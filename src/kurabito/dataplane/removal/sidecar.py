"""What lies beside a file in the trash and says where it came from, so that the trash outlives its library and its database.

    .kurabito-trash/5f…          the file
    .kurabito-trash/5f….json     {"kurabito_trash": 1, "path": "films/a.mkv", "size_bytes": …, "content_hash": …, …}

The path starts at the folder that the trash lies in, so that it holds wherever the disk is mounted later.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Final

from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.files.paths import check_relative
from kurabito.dataplane.removal.file_refs import FileRef, sync
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import SIDECAR_FORMAT, SIDECAR_LARGEST

ENDING: Final = ".json"
_DIGEST: Final = 32
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Where a file in the trash came from, what it is, and why it lies there."""

    path: str
    """As it is stored, from the folder that the trash lies in."""
    size_bytes: int
    mtime_ns: int
    hash_algorithm: HashAlgorithm
    content_hash: bytes
    trashed_at: int
    """Microseconds since the epoch."""
    library: str
    """The folder of its library."""
    reason: str
    kept_path: str
    """The copy that stayed, as a whole path."""
    plan_id: int | None

    def write(self, item: FileRef) -> None:
        """Lay it beside the file, on the disk before the file is. What lies there and can be read says the same, and stays."""
        if Sidecar.read(item) is not None:
            return
        about = {name: getattr(self, name) for name in self.__slots__}
        text = {"kurabito_trash": SIDECAR_FORMAT, **about, "content_hash": self.content_hash.hex()}
        beside = item.beside(ENDING)
        fd = os.open(beside.name, _WRITE, 0o600, dir_fd=beside.folder)
        try:
            os.write(fd, json.dumps(text, indent=1).encode() + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        sync(beside)

    @classmethod
    def read(cls, item: FileRef) -> Sidecar | None:
        """What lies beside a file; None when there is nothing, or nothing that can be believed."""
        beside = item.beside(ENDING)
        try:
            fd = os.open(beside.name, _READ, dir_fd=beside.folder)
        except OSError:
            return None
        try:
            text = os.read(fd, SIDECAR_LARGEST)
        except OSError:
            return None
        finally:
            os.close(fd)
        return _understood(text)


def remove(item: FileRef) -> None:
    """Take it away, once its file is no longer in the trash."""
    beside = item.beside(ENDING)
    try:
        os.unlink(beside.name, dir_fd=beside.folder)
    except FileNotFoundError:
        return
    sync(beside)


def _understood(text: bytes) -> Sidecar | None:
    """Anybody may have written it, so nothing of it is taken that is not what it should be."""
    try:
        fields: dict[str, Any] = json.loads(text)
        if fields.pop("kurabito_trash") != SIDECAR_FORMAT:
            return None
        fields["hash_algorithm"] = HashAlgorithm(fields["hash_algorithm"])
        fields["content_hash"] = bytes.fromhex(fields["content_hash"])
        found = Sidecar(**{name: fields[name] for name in Sidecar.__slots__})
        if TRASH_FOLDER in check_relative(found.path):
            # Put back there, no table would know of it.
            return None
        # No database holds half a character, which JSON can name.
        found.path.encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, PathEscapes):
        return None
    numbers = (found.size_bytes, found.mtime_ns, found.trashed_at)
    texts = (found.library, found.reason, found.kept_path)
    if not all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
        return None
    if not all(isinstance(one, str) for one in texts) or len(found.content_hash) != _DIGEST:
        return None
    return found
