"""Why a video of a library is no episode of a series. What a plan says comes with the plan's own reasons."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason, reason_of


class AdoptionReason(StrEnum):
    """The value is the message's key below `adoption_reason`, and is stored."""

    UNMATCHED_FOLDER = "unmatched_folder"
    """It is not known which show its `folder` is; a match has to be chosen."""
    UNKNOWN_SHOW = "unknown_show"
    """It lies in no folder of a show, and nothing is known by the `title` in its name."""
    NO_TITLE = "no_title"
    """It lies in no folder of a show, and its name says none."""
    UNNUMBERED_SPECIAL = "unnumbered_special"
    """A special without a number: `label`."""


AnyReason = Reason[AdoptionReason] | Reason[PlanReason]
_OURS = frozenset(code.value for code in AdoptionReason)


def because(code: AdoptionReason, **facts: Any) -> Reason[AdoptionReason]:
    """A reason of ours."""
    return Reason(code, facts)


def read_stored(values: dict[str, Any]) -> AnyReason:
    """A reason as it was stored: ours, or that of a plan."""
    if values["code"] in _OURS:
        return reason_of(AdoptionReason, values)
    return reason_of(PlanReason, values)
