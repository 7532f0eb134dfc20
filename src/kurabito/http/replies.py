"""What comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx2

from kurabito.http.errors import BadAnswer, OutboundError
from kurabito.http.redaction import shown


@dataclass(frozen=True, slots=True)
class Validators:
    """What a host said about the version that it sent, to ask later whether there is a newer one."""

    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Self:
        return cls(headers.get("etag"), headers.get("last-modified"))

    def headers(self) -> dict[str, str]:
        """The headers that ask for the content only if it changed."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of success, or the answer that nothing changed."""

    url: str
    """Where it came from in the end, after redirects."""
    status: int
    headers: Mapping[str, str]
    """Looked up in lower case or any other."""
    content: bytes
    """The body, unpacked; empty when it went into a file."""
    size: int
    """Bytes of the body, unpacked."""
    broke: OutboundError | None = None
    """What ended the body too early, where the caller takes what came."""

    @property
    def not_modified(self) -> bool:
        """Whether the content is still the one that the validators came with."""
        return self.status == 304

    @property
    def validators(self) -> Validators:
        return Validators.of(self.headers)

    @property
    def content_type(self) -> str:
        """The media type in lower case, as image/jpeg; empty when the host said nothing."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """The content, read as JSON."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(f"{shown(httpx2.URL(self.url))} did not answer with JSON: {error}") from None
