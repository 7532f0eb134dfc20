"""The words of corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class CorrectionKind(StrEnum):
    """What was corrected."""

    MERGE = "merge"
    SPLIT = "split"
    MOVE = "move"
    """Links went to another series, or to another episode."""
    RELEASE = "release"
    """A link that was held may be downloaded."""
    CHANGE = "change"
    """Title, season, offset, names or record."""
    ANSWER = "answer"
    """A question was answered."""


class MadeBy(StrEnum):
    """Who corrected it."""

    KEEPER = "keeper"
    TITLES = "titles"
    """Titles that call one show by two names; only series that nothing tells apart are joined so."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Something that was corrected."""

    id: int
    kind: CorrectionKind
    series_id: int
    other_id: int | None
    """The other series that it touched."""
    made_by: MadeBy
    facts: Mapping[str, Any]
    """What the words about it need: titles, numbers of links."""
    created_at: datetime
    undone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionEffect:
    """What a correction does, or would do."""

    correction_id: int | None
    """None for a preview."""
    series_id: int
    """The series that it is about afterwards."""
    links: int
    episodes: tuple[int, ...]
    """The episodes that links went to, or came from."""
    names: tuple[str, ...]
    freed: tuple[int, ...]
    """Links that nothing holds back any longer: they go on to be downloaded, as filters and wishes say."""
    held: tuple[int, ...]
    """Links that are held back from now on. Downloads that are under way go on."""
