"""The errors of naming and filing."""

from __future__ import annotations

from typing import Any

from kurabito.errors import InvalidInput, KurabitoError, NotFound, StateConflict
from kurabito.placements.naming.reasons import TemplateReason
from kurabito.reasons import Reason


class PlacementError(KurabitoError):
    """A file could not be named or filed."""

    code = "placement"


class InvalidTemplate(PlacementError, InvalidInput):
    """A template cannot be read; `position` is the character, counted from 1, at which it is wrong."""

    code = "invalid_template"

    def __init__(self, field: str, problem: str, reason: Reason[TemplateReason]) -> None:
        self.position: int = reason.facts["position"]
        InvalidInput.__init__(self, field, f"{problem} (at character {self.position})", reason)
        self.cause = problem

    def __reduce__(self) -> Any:
        return type(self), (self.field, self.cause, self.reason)


class ValueUnknown(PlacementError):
    """A template names a fact that is not known of this file."""

    code = "value_unknown"

    def __init__(self, token: str) -> None:
        super().__init__(
            f"the name needs {{{token}}}, which is not known; fill it in, or put it into an optional part: <{{{token}}}>"
        )
        self.token = token


class PlacementNotFound(PlacementError, NotFound):
    """There is no such placement."""

    code = "placement_not_found"


class LibraryFileNotFound(PlacementError, NotFound):
    """There is no such file in a library."""

    code = "library_file_not_found"


class FilingQuestionNotFound(PlacementError, NotFound):
    """There is no such question about files."""

    code = "filing_question_not_found"


class PlacementConflict(PlacementError, StateConflict):
    """The placement is not where this can be asked of it."""

    code = "placement_conflict"


class ImportNotReady(PlacementError, StateConflict):
    """The files of an import are not listed yet."""

    code = "import_not_ready"
