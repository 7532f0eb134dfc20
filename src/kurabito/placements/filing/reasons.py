"""Why the files of a download are not filed."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from kurabito.reasons import Reason


class FilingReason(StrEnum):
    """The value is the message's key below `filing`, and is stored, as are the reasons of plans."""

    NO_LIBRARY = "no_library"
    """No library accepts its `kind`."""
    SEVERAL_LIBRARIES = "several_libraries"
    """Several accept its `kind`: `libraries`."""


def because(code: FilingReason, **facts: Any) -> Reason[FilingReason]:
    """A reason of ours."""
    return Reason(code, facts)
