"""Values of the earlier system as ours are written. Each function raises ValueError for what it cannot read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?")
# Microseconds in one unit, and the largest number that is taken for one: each reaches to the year 5138.
_UNITS: Final = ((1_000_000.0, 1e11), (1_000.0, 1e14), (1.0, 1e17), (0.001, 1e20))
_TRUE: Final = frozenset(("1", "true", "t", "yes", "y", "on"))
_FALSE: Final = frozenset(("0", "false", "f", "no", "n", "off"))
_HASH_NAME: Final = re.compile(r"^(?:blake3|sha256|sha-256)[:-]", re.IGNORECASE)


def text(value: Any) -> str:
    """Text, also where it was stored as bytes or as a number."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value if isinstance(value, str) else str(value)


def word(value: Any, allowed: tuple[str, ...]) -> str:
    """One of a few words, however it was spelt: `running`, `RUNNING` or `JobStatus.RUNNING`."""
    found = text(value).strip().rpartition(".")[2].lower()
    if found not in allowed:
        raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
    return found


def number(value: Any) -> int:
    """A whole number."""
    if isinstance(value, int):
        return value
    real_value = real(value)
    if not real_value.is_integer():
        raise ValueError(f"{value!r} is no whole number")
    return int(text(value)) if _is_digits(value) else int(real_value)


def real(value: Any) -> float:
    """A number."""
    try:
        return float(value if isinstance(value, int | float) else text(value).strip())
    except ValueError as problem:
        raise ValueError(f"{value!r} is no number") from problem


def flag(value: Any) -> int:
    """Yes or no, as 1 or 0."""
    spelt = text(value).strip().lower()
    if spelt in _TRUE:
        return 1
    if spelt in _FALSE:
        return 0
    raise ValueError(f"{value!r} is neither true nor false")


def moment(value: Any) -> int:
    """A time in microseconds since 1970, from ISO text or from a number of seconds, milliseconds, microseconds or nanoseconds.

    Text without a zone was UTC. Which unit a number has is told by its size: those of any two differ by a factor of a thousand.
    """
    if isinstance(value, int | float):
        return _of_number(value)
    spelt = text(value).strip()
    if _NUMBER.fullmatch(spelt):
        return _of_number(float(spelt) if "." in spelt else int(spelt))
    # "2024-05-06 07:08:09 UTC" and "2024-05-06 07:08:09 +02:00" are written by many and read by few.
    found = datetime.fromisoformat(re.sub(r" (?=[+-]\d\d:?\d\d$)| ?UTC$", "", spelt))
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)


def digest(value: Any) -> bytes:
    """The bytes of a hash, also where they were written as hexadecimal digits."""
    return value if isinstance(value, bytes) else bytes.fromhex(_HASH_NAME.sub("", text(value).strip()))


def job_id(value: Any) -> str:
    """The id of a job: ours are text, theirs were text, numbers or the bytes of a UUID."""
    return str(UUID(bytes=value)) if isinstance(value, bytes) and len(value) == 16 else text(value)


def _is_digits(value: Any) -> bool:
    # Through a float the last digits of a large number would be lost.
    return isinstance(value, str | bytes) and text(value).strip().lstrip("+-").isdigit()


def _of_number(value: float) -> int:
    for scale, largest in _UNITS:
        if abs(value) < largest:
            if isinstance(value, int):
                return value * int(scale) if scale >= 1 else value // 1000
            return round(value * scale)
    raise ValueError(f"{value!r} is no time")
