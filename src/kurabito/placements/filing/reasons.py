"""Why the files of a download are not filed."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final

from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason, reason_of


class FilingReason(StrEnum):
    """The value is the message's key below `filing`, and is stored, as are the reasons of plans."""

    NO_LIBRARY = "no_library"
    """No library accepts its `kind`."""
    SEVERAL_LIBRARIES = "several_libraries"
    """Several accept its `kind`: `libraries`."""
    FOLDER_OF_OTHER = "folder_of_other"
    """Another show of the same name has the `folder`."""
    NOT_PLANNED = "not_planned"
    """A fault of ours, `problem`: nothing is filed, and no other download waits for it."""


def because(code: FilingReason, **facts: Any) -> Reason[FilingReason]:
    """A reason of ours."""
    return Reason(code, facts)


_OURS: Final = frozenset(FilingReason)


def question_reason(stored: str) -> Reason[FilingReason] | Reason[PlanReason]:
    """The reason of a question as it is stored: ours, or that of the plan."""
    values = json.loads(stored)
    if values["code"] in _OURS:
        return reason_of(FilingReason, values)
    return reason_of(PlanReason, values)
