"""Which names of a library are passed over: patterns as people know them from `.gitignore`.

*.part          files and folders of that name, wherever they are
@eaDir/         folders only, with all that is in them
/extras/*.txt   with a slash in it: this path from the library's folder on
shows/**/raw/   any number of folders in between
!keep.part      not that one after all; of the patterns that match the last one counts
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Self

from kurabito.dataplane.errors import PatternsUnreadable
from kurabito.protocol.terms import IGNORED

_WILD: Final = re.compile(r"[*?]")
_ANY_FOLDERS: Final = "**"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern."""

    parts: tuple[str, ...]
    anchored: bool
    folders_only: bool
    ignores: bool

    @classmethod
    def of(cls, pattern: str) -> Self:
        ignores = not pattern.startswith("!")
        body = pattern if ignores else pattern[1:]
        parts = tuple(part for part in body.split("/") if part)
        return cls(parts, "/" in body.rstrip("/"), body.endswith("/"), ignores)

    def matches(self, parts: Sequence[str], is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return _match(parts, self.parts) if self.anchored else fnmatchcase(parts[-1], self.parts[0])


class Ignored:
    """What a library passes over: the defaults, and then its own patterns."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.patterns = tuple(patterns)
        """Its own ones."""
        self._rules = [rule for rule in map(_Rule.of, (*IGNORED, *self.patterns)) if rule.parts]
        # A first look that costs next to nothing, because nearly all folders have none of them.
        self._traces = {_trace(rule.parts[-1]) for rule in self._rules if rule.ignores}

    @classmethod
    def stored(cls, text: str) -> Self:
        """The patterns as a library's row has them, a JSON list; raises PatternsUnreadable."""
        try:
            patterns = json.loads(text)
        except ValueError:
            patterns = None
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
            raise PatternsUnreadable(
                "the ignored names of the library are no JSON list of texts; set them once more in its settings"
            )
        return cls(patterns)

    def keep(self, folder: str, names: list[str]) -> list[str]:
        """The names of a folder that are not passed over; `folder` is the path before them, and folders end with a slash."""
        together = "/".join(names)
        traces = [trace for trace in self._traces if trace in together]
        if not traces:
            return names
        suspects = {name for name in names if any(trace in name for trace in traces)}
        dropped = {name for name in suspects if self._is_ignored(folder + name)}
        return [name for name in names if name not in dropped]

    def _is_ignored(self, path: str) -> bool:
        parts = path.rstrip("/").split("/")
        is_folder = path.endswith("/")
        for rule in reversed(self._rules):
            if rule.matches(parts, is_folder):
                return rule.ignores
        return False


def _trace(pattern: str) -> str:
    """A text that every name has which matches the pattern; the longest one that is easy to find."""
    return max(_WILD.split(pattern.partition("[")[0]), key=len)


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == _ANY_FOLDERS:
        return any(_match(parts[begin:], pattern[1:]) for begin in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])
