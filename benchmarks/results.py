"""RESULTS.md: a section for each benchmark, where a run replaces its own and leaves the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import harness
from harness import Options, Outcome

_HEAD: Final = "# Results\n\nEach side ran in turn with the others; the numbers are medians, and a ratio is the median of the rounds' own.\n"


def section(name: str, outcome: Outcome, options: Options) -> str:
    """What one benchmark found, and how to see it again."""
    how = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {harness.environment()}. "
        f"Repeat with `{harness.repeat_command([name], options)}`."
    )
    notes = "\n".join(f"- {note}" for note in dict.fromkeys(outcome.notes))
    return "\n\n".join(part for part in (f"## {name}", how, harness.table(outcome.rows), notes) if part) + "\n"


def joined(sections: Mapping[str, str], order: Iterable[str], old: str = "") -> str:
    """The whole file with these sections in place of those it had under their names."""
    kept = {text.split("\n", 1)[0][3:]: text.rstrip() + "\n" for text in re.split(r"^(?=## )", old, flags=re.M)[1:]}
    every = {**kept, **sections}
    measured = [name for name in order if name in every]
    # Sections that no program writes, such as those of `versions.py`, stay at the end.
    return "\n".join([_HEAD, *(every[name] for name in [*measured, *sorted(every.keys() - {*measured})])])
