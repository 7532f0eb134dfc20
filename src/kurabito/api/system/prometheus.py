"""The text that Prometheus reads, and the two kinds of number that we keep for it ourselves."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_MOST_SERIES: Final = 2000
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Labels = tuple[str, ...]
NamedLabels = Sequence[tuple[str, str]]


class Counter:
    """A number for each set of labels that only grows."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        self._name = name
        self._meaning = meaning
        self._labels = labels
        self._values: dict[Labels, int] = {} if labels else {(): 0}

    def add(self, *labels: str, amount: int = 1) -> None:
        """Count something with these labels."""
        labels = _bounded(labels, self._values)
        self._values[labels] = self._values.get(labels, 0) + amount

    def lines(self) -> Iterator[str]:
        """The number as text."""
        yield from _heading(self._name, self._meaning, "counter")
        for labels, value in self._values.items():
            yield sample(self._name, zip(self._labels, labels, strict=True), value)


class Histogram:
    """How long something took, for each set of labels: how often at most so many seconds, and the sum."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str], limits: Sequence[float]) -> None:
        self._name = name
        self._meaning = meaning
        self._labels = labels
        self._limits = limits
        self._counts: defaultdict[Labels, list[int]] = defaultdict(lambda: [0] * (len(limits) + 1))
        self._sums: defaultdict[Labels, float] = defaultdict(float)

    def observe(self, seconds: float, *labels: str) -> None:
        """Something with these labels took so long."""
        labels = _bounded(labels, self._counts)
        self._counts[labels][bisect_left(self._limits, seconds)] += 1
        self._sums[labels] += seconds

    def lines(self) -> Iterator[str]:
        """The numbers as text; each count holds those of the shorter times."""
        yield from _heading(self._name, self._meaning, "histogram")
        bounds = [*(f"{limit:g}" for limit in self._limits), "+Inf"]
        for labels, counts in self._counts.items():
            named = list(zip(self._labels, labels, strict=True))
            total = 0
            for bound, count in zip(bounds, counts, strict=True):
                total += count
                yield sample(f"{self._name}_bucket", [*named, ("le", bound)], total)
            yield sample(f"{self._name}_sum", named, self._sums[labels])
            yield sample(f"{self._name}_count", named, total)


def gauge(name: str, meaning: str, samples: Iterable[tuple[NamedLabels, float]]) -> Iterator[str]:
    """A number that goes up and down, by its named labels."""
    yield from _heading(name, meaning, "gauge")
    for labels, value in samples:
        yield sample(name, labels, value)


def sample(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    """One line."""
    listed = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels)
    return f"{name}{{{listed}}} {value!r}" if listed else f"{name} {value!r}"


def _heading(name: str, meaning: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"


def _bounded(labels: Labels, known: Mapping[Labels, object]) -> Labels:
    # Task types are free text of the caller, and a number for each of a million would be a leak.
    return labels if labels in known or len(known) < _MOST_SERIES else ("other",) * len(labels)
