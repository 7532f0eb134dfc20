"""Payloads and results as bytes: typed values are JSON, bytes stay bytes.

A value is written without knowing its type's schema and read with it, so the two ends need not share code.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cache
from typing import Any, Final, TypeVar

import pydantic_core
from pydantic import TypeAdapter, ValidationError

from kurabito.errors import InvalidInput
from kurabito.runtime.errors import PayloadError

T = TypeVar("T")

JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"


_RAW: Final = b"\xff"
"""Begins a stored result that is bytes, as no JSON does."""


def encode(value: Any, content_type: str | None = None, *, field: str = "payload") -> tuple[bytes, str]:
    """The value as bytes and their content type; refuses what cannot be written down."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), content_type or BYTES
    if content_type not in (None, JSON):
        raise InvalidInput(field, f"only bytes can have the content type {content_type!r}; got {type(value).__name__}")
    try:
        return pydantic_core.to_json(value, inf_nan_mode="null"), JSON
    except (pydantic_core.PydanticSerializationError, ValueError, RecursionError) as problem:
        raise InvalidInput(
            field,
            f"a {type(value).__name__} cannot be written as JSON ({problem}); "
            "use a dataclass, a pydantic model, plain JSON values or bytes",
        ) from problem


def decode(data: bytes, content_type: str, wanted: type[T] | Any) -> T:
    """The bytes as `wanted`; raises PayloadError when they do not fit."""
    if wanted is bytes:
        return data  # type: ignore[return-value]
    if content_type != JSON:
        raise PayloadError(f"the payload is {content_type}, which decodes to bytes only, not to {_name(wanted)}")
    try:
        return _reader(wanted)(data)  # type: ignore[no-any-return, arg-type]
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "payload"
        raise PayloadError(f"the payload does not fit {_name(wanted)}: {where}: {first['msg']}") from problem


def encode_result(value: Any) -> bytes:
    """What a handler returned, as it is stored; refuses what cannot be written down."""
    if isinstance(value, Iterator | AsyncIterator | Coroutine):
        # Writing one down would run it, perhaps for ever.
        raise InvalidInput("result", f"a {type(value).__name__} is no value; return a list of what it gives")
    data, content_type = encode(value, field="result")
    return data if content_type == JSON else _RAW + data


def split_result(stored: bytes) -> tuple[bytes, str]:
    """A stored result without its mark, and its content type."""
    return (stored[1:], BYTES) if stored[:1] == _RAW else (stored, JSON)


def plain(data: bytes | None, content_type: str = JSON) -> Any:
    """The bytes as plain JSON values, or as they are when they are not JSON."""
    if data is None:
        return None
    return json.loads(data) if content_type == JSON else data


@cache
def _reader(wanted: Any) -> Callable[[bytes], Any]:
    # The validator itself: the adapter's own method takes longer than a small payload.
    validator: Any = TypeAdapter(wanted).validator
    reader: Callable[[bytes], Any] = validator.validate_json
    return reader


def _name(wanted: Any) -> str:
    return getattr(wanted, "__name__", None) or str(wanted)
