"""What a keeper likes better, where there are several releases of one episode."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple


class Policy(StrEnum):
    """What decides between releases of one episode."""

    BEST = "best"
    FIRST = "first"
    ASK = "ask"


class Batches(StrEnum):
    """Whether several episodes in one release are wanted."""

    ANY = "any"
    SINGLE = "single"
    """Only releases of one episode."""
    BATCH = "batch"
    """Only batches."""


class Term(NamedTuple):
    """A text in the title that is worth points, or costs some."""

    text: str
    points: int
    is_pattern: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What is liked better, the best at the front of each list; and what is not wanted at all."""

    groups: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Of the subtitles, as titles say them."""
    resolutions: tuple[int, ...] = ()
    """Without any, the larger is better."""
    sources: tuple[str, ...] = ()
    codecs: tuple[str, ...] = ()
    """Of the picture, like HEVC."""
    audio: tuple[str, ...] = ()
    """What titles say of the sound: its languages and codecs, like Dual Audio or FLAC."""
    terms: tuple[Term, ...] = ()
    batches: Batches = Batches.ANY
    least_mb: float | None = None
    """Megabytes for a minute; what is smaller is not taken."""
    most_mb: float | None = None
    takes_specials: bool = True
    takes_decimals: bool = True
    """Episodes like 7.5."""
    takes_revisions: bool = True
    """The second version of a group replaces its first."""
    stop_at: int | None = None
    """What is in the library is not upgraded any more from this score on."""

    def stored(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Preferences:
        known = {name: value for name, value in json.loads(text).items() if name in cls.__slots__}
        return cls(**{name: _READ.get(name, _as_it_is)(value) for name, value in known.items()})


def _as_it_is(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _terms(values: list[list[Any]]) -> tuple[Term, ...]:
    return tuple(Term(*value) for value in values)


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {"terms": _terms, "batches": Batches}
NO_PREFERENCES: Final = Preferences()
