"""Why a scenario did not come to its end."""

from __future__ import annotations

from kurabito.errors import KurabitoError


class ScenarioStuck(KurabitoError):
    """The plane did not do what a rule asks for in time, so that the scenario could not go on."""

    code = "scenario_stuck"

    def __init__(self, rule: str, evidence: str) -> None:
        super().__init__(f"{rule}: {evidence}")
        self.rule = rule
        self.evidence = evidence


class NotApplicable(KurabitoError):
    """A scenario or a check is about something that this plane or this machine does not have."""

    code = "not_applicable"
