"""What a person says of files that a plan could not decide about, as it is stored beside the question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from kurabito.db import Connection, Queries
from kurabito.placements.plans.model import SaidFile, Work, WorkKind
from kurabito.titles import Episode

_SQL: Final = Queries("kurabito.placements.filing", "questions.sql", question="question.id")


class AnswerChoice(StrEnum):
    """What becomes of what was asked about."""

    FILE = "file"
    """It is filed as what the answer says."""
    LEAVE = "leave"
    """It stays where it is."""
    LIBRARY = "library"
    """All files of the download go into this library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidAnswer:
    """What a person said."""

    choice: AnswerChoice
    library_id: int | None = None
    kind: WorkKind = WorkKind.EPISODE
    season: int | None = None
    episodes: tuple[Episode, ...] = ()
    label: str | None = None
    is_numbered: bool = False
    """Season and number are those that the library uses, and not as the series counts."""

    def as_facts(self) -> dict[str, Any]:
        """The same, as plain values."""
        return asdict(self)

    def stored(self) -> str:
        return json.dumps(self.as_facts(), ensure_ascii=False)

    @classmethod
    def read(cls, stored: str) -> Self:
        values: dict[str, Any] = json.loads(stored)
        choice, kind = AnswerChoice(values.pop("choice")), WorkKind(values.pop("kind"))
        return cls(**{**values, "choice": choice, "kind": kind, "episodes": tuple(values["episodes"])})

    def said(self, series_id: int, title: str, season: int) -> SaidFile:
        """The same, as a plan takes it."""
        if self.choice is AnswerChoice.LEAVE:
            return SaidFile(work=None)
        work = Work(
            kind=self.kind,
            title=title,
            season=0 if self.kind is WorkKind.SPECIAL else season if self.season is None else self.season,
            episodes=self.episodes,
            label=self.label,
            series_id=series_id,
        )
        return SaidFile(work=work, is_numbered=self.is_numbered)


@dataclass(frozen=True, slots=True)
class Answers:
    """What was said of the files of one download."""

    library_id: int | None = None
    of_files: Mapping[str, SaidAnswer] = field(default_factory=dict)


def answers_of(conn: Connection, inspection_id: int) -> Answers:
    """What was said of the files of an inspection so far."""
    library_id: int | None = None
    of_files: dict[str, SaidAnswer] = {}
    for path, stored in conn.all(_SQL.answers, {"inspection_id": inspection_id}):
        answer = SaidAnswer.read(stored)
        if path is None:
            library_id = answer.library_id
        else:
            of_files[path] = answer
    return Answers(library_id, of_files)
