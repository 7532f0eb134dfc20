"""Plays scenarios on databases, looks at what they recorded, and gathers what became of each rule."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.checks import CHECKS, RuleCheck, unchecked_rules
from kurabito.conformance.databases import NewDatabase, postgres_databases, sqlite_databases
from kurabito.conformance.errors import NotApplicable, ScenarioStuck
from kurabito.conformance.outcomes import RuleOutcome
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios import JOINING, LONG, SCENARIOS
from kurabito.conformance.stage import ScenarioStage
from kurabito.errors import InvalidInput
from kurabito.protocol.rules import rules
from kurabito.protocol.tables import TABLES

_MOST_EVIDENCE: Final = 5
"""Of one check: what else it found looks the same."""
_LEASED: Final = tuple(table.name for table in TABLES if table.lease)
_NO_CHECK: Final = "it binds the control plane, which its own tests look at"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Examination:
    """What is examined, and how thoroughly."""

    command: Sequence[str]
    """How the plane is started."""
    postgres: str | None = None
    """The URL of a server on which databases may be made; without one there is SQLite alone."""
    only: Sequence[str] = ()
    """Rules, or sections of them (`SCAN`); all when empty."""
    long: bool = False
    seed: int = 0
    rounds: int = 3
    patience: float = 60.0
    capabilities: frozenset[str] | None = None
    """What the plane can do, where that is known: it is not asked for it then."""
    stops_early: bool = False
    """Whether one failure of each rule that is asked about is enough."""
    scenarios: frozenset[str] = frozenset()
    """Those that are played; all that the rules need when empty."""

    def wants(self, rule: str) -> bool:
        """Whether a rule is asked about."""
        return not self.only or any(rule == word or rule.startswith(f"{word}-") for word in self.only)


def examine(examination: Examination, tell: Tell = lambda _: None) -> list[RuleOutcome]:
    """Examine a plane; what became of each rule that is asked about, in the order of the page. Raises InvalidInput.

    A rule that the plane broke such that a scenario could not go on is among them, whether it was asked about or not.
    """
    if not examination.command:
        raise InvalidInput("command", "name the program to examine behind `--`, such as `-- kurabito dataplane`")
    outcomes = {rule: RuleOutcome(rule) for rule in rules() if examination.wants(rule)}
    if not outcomes:
        raise InvalidInput("rules", f"the protocol has no rule {', '.join(examination.only)}")
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-conformance-")))
        holes = Path(
            held.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-conformance-", dir=trees.place_for_holes()))
        )
        databases: dict[str, NewDatabase] = {"SQLite": held.enter_context(sqlite_databases(folder))}
        if examination.postgres is not None:
            databases["PostgreSQL"] = held.enter_context(postgres_databases(examination.postgres))
        for kind, new_database in databases.items():
            _Examiner(
                examination, outcomes, kind, new_database, folder / f"stages-{kind}", holes / kind, tell
            ).examine()
    for rule in unchecked_rules():
        if rule in outcomes:
            outcomes[rule].gaps.append(_NO_CHECK)
    return [outcomes[rule] for rule in rules() if rule in outcomes]


class _Examiner:
    """Examines a plane on one kind of database."""

    def __init__(
        self,
        examination: Examination,
        outcomes: dict[str, RuleOutcome],
        kind: str,
        new_database: NewDatabase,
        folder: Path,
        holes: Path,
        tell: Tell,
    ) -> None:
        self._examination = examination
        self._outcomes = outcomes
        self._kind = kind
        self._new_database = new_database
        self._folder = folder
        self._holes = holes
        self._tell = tell
        self._capabilities = examination.capabilities or frozenset()

    def examine(self) -> None:
        for name in SCENARIOS:
            if self._is_decided:
                return
            if self._is_wanted(name):
                self._tell(f"{self._kind}: {name}")
                self._play(name)

    @property
    def _is_decided(self) -> bool:
        return self._examination.stops_early and all(outcome.evidence for outcome in self._outcomes.values())

    def _is_wanted(self, name: str) -> bool:
        if name == JOINING and self._examination.capabilities is None:
            # What a plane can do is known only then.
            return True
        if name in LONG and not self._examination.long:
            return False
        if self._examination.scenarios and name not in self._examination.scenarios:
            return False
        return any(self._checks_of(name))

    def _checks_of(self, name: str) -> list[RuleCheck]:
        return [check for check in CHECKS if check.rule in self._outcomes and check.is_about(name)]

    def _play(self, name: str) -> None:
        examination = self._examination
        with self._new_database() as (database, url):
            stage = ScenarioStage(
                database,
                url,
                self._folder / name.replace(" ", "-"),
                examination.command,
                capabilities=self._capabilities,
                patience=examination.patience,
                seed=examination.seed,
                rounds=examination.rounds,
                holes=self._holes / name.replace(" ", "-"),
            )
            checks, is_whole = self._checks_of(name), True
            try:
                SCENARIOS[name](stage)
            except ScenarioStuck as stuck:
                is_whole = False
                self._note_stuck(stuck, name)
            except NotApplicable as reason:
                self._note_gaps(checks, str(reason))
                return
            finally:
                stage.close()
            if name == JOINING and examination.capabilities is None:
                self._capabilities = _capabilities_in(stage.recording)
            for check in checks:
                self._look(check, name, stage.recording, is_whole=is_whole)

    def _note_stuck(self, stuck: ScenarioStuck, name: str) -> None:
        # Also a rule that was not asked about: a plane that stands still has not passed the others.
        outcome = self._outcomes.setdefault(stuck.rule, RuleOutcome(stuck.rule))
        outcome.evidence.append(f"{self._where(name)}: {stuck.evidence}")

    def _note_gaps(self, checks: Sequence[RuleCheck], reason: str) -> None:
        for check in checks:
            if check.scenarios:
                self._outcomes[check.rule].gaps.append(reason)

    def _look(self, check: RuleCheck, name: str, recording: Recording, *, is_whole: bool) -> None:
        outcome = self._outcomes[check.rule]
        if not check.scenarios and not any(recording.writes_to(*_LEASED)):
            # Where no row was worked on, a check of all writes has nothing to say.
            return
        try:
            evidence = list(check.look(recording))
        except NotApplicable as reason:
            outcome.gaps.append(str(reason))
            return
        except (KeyError, IndexError) as missing:
            evidence = [f"a row that was to be there is not: {missing}"]
        where = self._where(name)
        if not is_whole and not evidence:
            # What was not seen may have been to come.
            outcome.gaps.append(f"{where}: the plane did not come to the end of it")
        elif where not in outcome.checked_in:
            outcome.checked_in.append(where)
        outcome.evidence.extend(f"{where}: {one}" for one in evidence[:_MOST_EVIDENCE])
        if evidence and check.name not in outcome.failed_checks:
            outcome.failed_checks.append(check.name)

    def _where(self, name: str) -> str:
        return f"{name} on {self._kind}"


def _capabilities_in(recording: Recording) -> frozenset[str]:
    for write in recording.writes_to("data_planes"):
        if write.new:
            try:
                return frozenset(map(str, json.loads(write.new["capabilities"])))
            except (TypeError, ValueError):
                # That it is no list is for a check to say.
                return frozenset()
    return frozenset()
