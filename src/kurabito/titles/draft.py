"""A title while it is being read: what is left of it, and what was found so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kurabito.titles.model import Episode, Finding, ReleaseExtra, ReleaseKind, TitleDoubt
from kurabito.titles.numbers import Run

TAKEN: Final = "\x00"
"""Stands for every character that a recogniser took; a name ends there."""
SKIPPED: Final = "\x01"
"""The same, for a part inside a name: the name may go on behind it."""

_OF_NAMES: Final = frozenset({"season", "kind", "batch", "year"})
"""What these recognisers take may belong to a name: `夜之蔵人 第二部`, `Yoru no Kurabito (2018)`."""
# `Koji (TV) - Second Pressing - 03`: what stands between the bracket and the number.
_SUBTITLE: Final = re.compile(
    r"(?:\s-|:)\s(?=[A-Za-z])[^\[\]()]{2,80}?(?:\s-\s|\s?[\[(])\d{1,4}(?:[-~]\d{1,4})?(?:v\d)?\s*(?:[\[\]()]|$)"
)
_EDGE: Final = re.compile(r"[\[\]()]")
_CLOSING: Final = {"[": "]", "(": ")"}


class Segment(NamedTuple):
    """A stretch of text: bare, or what stands inside a pair of brackets."""

    start: int
    end: int
    bracket: str
    """The opening bracket, or nothing."""

    @property
    def outer(self) -> tuple[int, int]:
        """Where the segment is, with its brackets."""
        return (self.start - 1, self.end + 1) if self.bracket else (self.start, self.end)


def segments(text: str) -> list[Segment]:
    """Cut a text at its outermost brackets. One that is never closed reaches to the end; a stray closing one is text."""
    if not _EDGE.search(text):
        return [Segment(0, len(text), "")] if text else []
    found: list[Segment] = []
    opened = ""
    start = depth = 0
    for edge in _EDGE.finditer(text):
        char = edge[0]
        if not opened:
            if char in _CLOSING:
                if edge.start() > start:
                    found.append(Segment(start, edge.start(), ""))
                opened, start, depth = char, edge.end(), 1
        elif char == opened:
            depth += 1
        elif char == _CLOSING[opened]:
            depth -= 1
            if not depth:
                found.append(Segment(start, edge.start(), opened))
                opened, start = "", edge.end()
    if start < len(text):
        found.append(Segment(start, len(text), opened))
    return found


@dataclass(slots=True)
class TitleDraft:
    """What the recognisers read and write, one after the other."""

    text: str
    explain: bool = False
    segments: list[Segment] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    """What the words of the vocabulary said, by attribute."""
    doubtful: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Words outside brackets that are tags if they stand behind the name: start, end, attribute, value."""
    signature: str | None = None
    """A word inside a bracket of tags that is none: often who released it."""
    seasons: tuple[int, ...] = ()
    part: int | None = None
    episodes: tuple[Episode, ...] = ()
    extras: tuple[ReleaseExtra, ...] = ()
    doubts: list[TitleDoubt] = field(default_factory=list)
    version: int | None = None
    checksum: str | None = None
    year: int | None = None
    date: str | None = None
    kind: ReleaseKind | None = None
    is_batch: bool = False
    group: str | None = None
    number_end: int = 0
    """Where a season and episode in one end, if the title has them."""
    original: str = ""
    of_names: list[tuple[int, int]] = field(default_factory=list)
    """Where something was taken that may belong to a name."""

    def __post_init__(self) -> None:
        self.original = self.text
        self.segments = segments(self.text)

    def take(self, start: int, end: int, recogniser: str, why: str, *, mark: str = TAKEN) -> None:
        """Blank a part out, with the brackets that hold nothing else, so that no other recogniser reads it."""
        if self.text[start - 1 : start] + self.text[end : end + 1] in ("[]", "()"):
            start, end = start - 1, end + 1
        if self.explain:
            self.findings.append(Finding(recogniser, self.original[start:end].strip(), why, start))
        if recogniser in _OF_NAMES:
            self.of_names.append((start, end))
        self.text = f"{self.text[:start]}{mark * (end - start)}{self.text[end:]}"

    @property
    def named_text(self) -> str:
        """What is left, together with what was taken that may belong to a name."""
        text = self.text
        for start, end in self.of_names:
            text = f"{text[:start]}{self.original[start:end]}{text[end:]}"
        return text

    def goes_on_behind(self, end: int) -> bool:
        """Whether the name of a fansub goes on with a subtitle, up to the number of the episode."""
        return self.original.startswith("[") and _SUBTITLE.match(self.original, end) is not None

    def settle_episodes(self, run: Run, start: int, end: int, why: str) -> bool:
        """Keep what was read as the episodes, and take it; true, so that a recogniser can end with it."""
        self.episodes = run.numbers
        self.version = self.version if run.version is None else run.version
        self.take(start, end, "episode", why)
        return True

    def doubt(self, doubt: TitleDoubt) -> None:
        """Say that what was read may be wrong."""
        self.doubts.append(doubt)

    def settle_match(self, run: Run, found: re.Match[str], why: str) -> bool:
        """The same, for a pattern that matched the whole part."""
        return self.settle_episodes(run, found.start(), found.end(), why)

    def note(self, attribute: str, value: str) -> None:
        """Remember what a word said, once."""
        noted = self.values.setdefault(attribute, [])
        if value and value not in noted:
            noted.append(value)
