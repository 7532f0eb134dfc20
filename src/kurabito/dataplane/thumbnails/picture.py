"""What is asked of a decoder, and what it answers. Nothing here decodes: both sides of the pipe import it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kurabito.errors import KurabitoError
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a file is to be drawn."""

    media_type: MediaType
    format: ThumbnailFormat
    max_dimension: int


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A thumbnail, encoded."""

    content: bytes
    width: int
    height: int
    bytes_read: int
    """How much of the source was read for it."""


@dataclass(frozen=True, slots=True)
class MediaReading:
    """What is in a film or a recording."""

    facts: Mapping[str, Any]
    """As the protocol names them."""
    bytes_read: int
    """How much of the source was read for it."""


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """What decoding one file may cost."""

    seconds: float = 60.0
    memory: int = 1 << 30
    """Bytes, beside what the decoder needs to be there at all."""
    pixels: int = 300_000_000
    """Pictures with more are not begun."""


class ThumbnailFailed(KurabitoError):
    """No thumbnail can be drawn of this file, for now."""

    code = "thumbnail_failed"

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = code
