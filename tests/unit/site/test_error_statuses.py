"""The tree of errors, and how HTTP calls each of them."""

from __future__ import annotations

import importlib
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import kurabito
from kurabito.errors import ConfigError, DatabaseError, KurabitoError, LeaseLost, NotFound, StateConflict
from kurabito.feeds.errors import ErrorDocument
from kurabito.http.errors import ConnectionBroke, LeadsToMagnet
from kurabito.settings.errors import SettingsRefused
from kurabito.site.errors import STATUSES, status_of, status_of_kind

for _branch in sorted(Path(kurabito.__file__).parent.glob("*/errors.py")):
    importlib.import_module(f"kurabito.{_branch.parent.name}.errors")

# No request leads to these: they end a start, a worker or a job, or are a bug where they leave. An answer would be 500.
UNANSWERED = {
    "MissingExtra", "StateInUse",
    "NotADatabase", "DatabaseTooNew", "MigrationChanged", "ForeignTables", "RowsWouldBeLost", "UniqueConflict",
    "WorkerFailed", "PayloadError", "HandlerProcessDied",
    "RelinkFailed", "PatternsUnreadable", "PathEscapes", "RootUnavailable", "NothingAnswered", "ValueUnknown", "ScenarioStuck", "NotApplicable",
}  # fmt: skip

# Signals that are raised and caught inside one package stand beside what raises them.
INSIDE = {
    "JobFailed", "NotInspected", "PlacementRefused", "ReaderLost", "RemovalRefused", "ServiceEnded", "Stopped", "Stranded", "ThumbnailFailed", "WorkerDied",
}  # fmt: skip


def kinds(above: type[KurabitoError] = KurabitoError) -> Iterator[type[KurabitoError]]:
    for kind in above.__subclasses__():
        if kind.__module__.startswith("kurabito."):
            yield kind
            yield from kinds(kind)


def _is_drawn(kind: type[KurabitoError]) -> bool:
    return kind.__module__.startswith("kurabito.") and kind.__module__.endswith(".errors")


ALL = sorted({kind for kind in kinds() if _is_drawn(kind)}, key=lambda kind: kind.__name__)


def test_every_error_that_can_reach_an_answer_has_a_status_on_purpose() -> None:
    concrete = [kind for kind in ALL if not any(map(_is_drawn, kind.__subclasses__()))]
    nameless = {kind.__name__ for kind in concrete if not set(kind.__mro__) & (set(STATUSES) - {KurabitoError})}
    assert nameless == UNANSWERED


def test_an_error_that_leaves_a_package_lives_in_its_errors() -> None:
    assert {kind.__name__ for kind in kinds() if not _is_drawn(kind)} <= INSIDE


def test_a_code_stands_for_one_error() -> None:
    # Callers of the API need not tell these from the kind above them; the code inside does.
    alike: dict[type[KurabitoError], str] = {
        ConnectionBroke: "unreachable",
        LeadsToMagnet: "url_not_allowed",
        ErrorDocument: "feed_unreadable",
        SettingsRefused: "invalid_input",
    }
    codes = Counter(kind.code for kind in ALL if kind not in alike)
    assert [code for code, count in codes.items() if count > 1] == []
    assert {kind: kind.code for kind in alike} == alike


@pytest.mark.parametrize("kind", [kind for kind in ALL if issubclass(kind, NotFound)], ids=lambda kind: kind.__name__)
def test_what_is_not_found_is_404(kind: type[KurabitoError]) -> None:
    assert status_of_kind(kind) == 404


def test_a_conflict_names_the_field_that_is_in_the_way_and_survives_a_process() -> None:
    conflict = pickle.loads(pickle.dumps(StateConflict("taken; choose another", field="name")))
    assert (str(conflict), conflict.field, conflict.problem) == (
        "name: taken; choose another",
        "name",
        "taken; choose another",
    )
    assert (str(StateConflict("busy")), StateConflict("busy").field) == ("busy", None)


def test_a_class_without_a_status_has_that_of_the_nearest_above() -> None:
    class Lost(LeaseLost):
        pass

    class Broken(DatabaseError):
        pass

    assert (status_of(Lost("row 1")), status_of(Broken("no disk")), status_of(ConfigError("port"))) == (409, 500, 500)
