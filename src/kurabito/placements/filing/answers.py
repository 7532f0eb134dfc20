"""What a person says of files that a plan could not decide about, as it is stored beside the question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final, Self

from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.placements.naming.safe_names import safe_text
from kurabito.placements.plans.model import FileRuling, Work, WorkKind
from kurabito.reasons import InputReason, refused
from kurabito.titles import Episode

_SQL: Final = Queries("kurabito.placements.filing", "questions.sql", question="question.id")

_MOST_EPISODES: Final = 100
"""Of one file."""
_LARGEST: Final = 100_000


class AnswerChoice(StrEnum):
    """What becomes of what was asked about."""

    FILE = "file"
    """It is filed as what the answer says."""
    LEAVE = "leave"
    """It stays where it is."""
    LIBRARY = "library"
    """All files of the download go into this library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingAnswer:
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

    def said(self, series_id: int, title: str, season: int) -> FileRuling:
        """The same, as a plan takes it."""
        if self.choice is AnswerChoice.LEAVE:
            return FileRuling(work=None)
        kind, label = self.kind, self.label
        if kind is WorkKind.EPISODE and not self.is_numbered and not _has_number(self.episodes):
            # As where a name says it: no season has a number 12.5, and servers would show another 12.
            kind, label = WorkKind.SPECIAL, f"{self.episodes[0]:g}"
        work = Work(
            kind=kind,
            title=title,
            season=0 if kind is WorkKind.SPECIAL else season if self.season is None else self.season,
            episodes=() if kind is WorkKind.SPECIAL else self.episodes,
            label=label,
            series_id=series_id,
        )
        return FileRuling(work=work, is_numbered=self.is_numbered)

    def check(self) -> None:
        """Raises InvalidInput where nothing can be named by it."""
        if self.choice is not AnswerChoice.FILE:
            return
        if self.kind is WorkKind.SPECIAL and not safe_text(self.label or "").strip():
            raise InvalidInput("label", "must be said of what is filed as special", refused(InputReason.NEEDED))
        if self.kind is not WorkKind.EPISODE:
            return
        if not self.episodes:
            raise InvalidInput("episodes", "must be said of what is filed as episode", refused(InputReason.NEEDED))
        if len(self.episodes) > _MOST_EPISODES or not all(0 <= number <= _LARGEST for number in self.episodes):
            problem = f"must be at most {_MOST_EPISODES} numbers up to {_LARGEST}"
            raise InvalidInput("episodes", problem, refused(InputReason.EPISODES, most=_MOST_EPISODES))
        follow = all(later - number == 1 for number, later in pairwise(self.episodes))
        if not follow or not (_has_number(self.episodes) or (len(self.episodes) == 1 and not self.is_numbered)):
            problem = "must be whole numbers that follow one another, or a single one such as 12.5"
            raise InvalidInput("episodes", problem, refused(InputReason.EPISODE_RUN))


def _has_number(episodes: Sequence[Episode]) -> bool:
    """Whether all of them are numbers that an episode of a season has."""
    return all(number >= 1 and float(number).is_integer() for number in episodes)


@dataclass(frozen=True, slots=True)
class Answers:
    """What was said of the files of one download."""

    library_id: int | None = None
    of_files: Mapping[str, FilingAnswer] = field(default_factory=dict)


def answers_of(conn: Connection, inspection_id: int) -> Answers:
    """What was said of the files of an inspection so far."""
    library_id: int | None = None
    of_files: dict[str, FilingAnswer] = {}
    for path, stored in conn.all(_SQL.answers, {"inspection_id": inspection_id}):
        answer = FilingAnswer.read(stored)
        if path is None:
            library_id = answer.library_id
        else:
            of_files[path] = answer
    return Answers(library_id, of_files)
