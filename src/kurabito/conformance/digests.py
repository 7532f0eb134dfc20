"""Digests and samples, made in the plainest way: not by the code that a data plane of ours has."""

from __future__ import annotations

import hashlib
from pathlib import Path

from blake3 import blake3

from kurabito.protocol.terms import EDGE


def whole_digest(path: Path, algorithm: str) -> str:
    """The digest of a file, as hex digits."""
    return digest_of(path.read_bytes(), algorithm)


def digest_of(content: bytes, algorithm: str) -> str:
    """The digest of a content, as hex digits."""
    return blake3(content).hexdigest() if algorithm == "blake3" else hashlib.sha256(content).hexdigest()


def edge_sample(path: Path) -> bytes:
    """The sample of a file."""
    content = path.read_bytes()
    return blake3(content if len(content) <= 2 * EDGE else content[:EDGE] + content[-EDGE:]).digest()
