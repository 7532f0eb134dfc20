"""The errors of series and of reading titles."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class CatalogError(KurabitoError):
    """Something about series, or about how titles are read, could not be done."""

    code = "catalog"


class SeriesNotFound(CatalogError, NotFound):
    """No series has that id."""

    code = "series_not_found"


class SeriesConflict(CatalogError, StateConflict):
    """Another series has that name in that season."""

    code = "series_conflict"


class LinkNotFound(CatalogError, NotFound):
    """No link has that id."""

    code = "link_not_found"


class QuestionNotFound(CatalogError, NotFound):
    """No question about releases has that id."""

    code = "question_not_found"


class RelinkNotFound(CatalogError, NotFound):
    """Links were not read again under that id."""

    code = "relink_not_found"


class RelinkFailed(CatalogError):
    """Links could not be read again. The task tries it once more; what was moved until then stays."""

    code = "relink_failed"


class CorrectionConflict(CatalogError, StateConflict):
    """A correction cannot be made, or undone, as things are now."""

    code = "correction_conflict"


class TitleRuleNotFound(CatalogError, NotFound):
    """No title rule has that id."""

    code = "title_rule_not_found"


class TitleRuleConflict(CatalogError, StateConflict):
    """Another title rule has that name."""

    code = "title_rule_conflict"


class MatchNotFound(CatalogError, NotFound):
    """No folder that was matched has that id."""

    code = "match_not_found"
