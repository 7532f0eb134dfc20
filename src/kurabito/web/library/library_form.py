"""The form that says how a library is looked after: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from kurabito.errors import InvalidInput, KurabitoError
from kurabito.library.libraries import LibrarySettings
from kurabito.protocol.enums import HashAlgorithm, HashPolicy
from kurabito.web.forms import CHECKED, Problem, one_of

INTERVALS: Final = tuple(timedelta(seconds=seconds) for seconds in (900, 3600, 6 * 3600, 86_400, 7 * 86_400))
"""What the form offers; a library may have any other."""
_FIELDS: Final = ("path", "name", "scan_interval", "watched", "algorithm", "hash_policy", "ignored")


@dataclass(frozen=True, slots=True)
class LibraryForm:
    """The fields as they are shown: as they are now, or as somebody typed them."""

    typed: Mapping[str, str] = field(default_factory=dict)
    problem: Problem | None = None

    @classmethod
    def of(cls, care: LibrarySettings) -> LibraryForm:
        """The form as it looks for a library."""
        interval = care.scan_interval
        return cls(
            {
                "name": care.name,
                "scan_interval": "" if interval is None else f"{interval.total_seconds():g}",
                "watched": CHECKED if care.watched else "",
                "algorithm": care.algorithm.value,
                "hash_policy": care.hash_policy.value,
                "ignored": "\n".join(care.ignored),
            }
        )

    def value(self, name: str) -> str:
        return self.typed.get(name, "")

    def intervals(self) -> list[timedelta]:
        """The intervals to choose from, with the one that is set."""
        try:
            own = [timedelta(seconds=float(self.value("scan_interval")))]
        except (ValueError, OverflowError):
            own = []
        return sorted({*INTERVALS, *own})

    def care(self) -> LibrarySettings:
        """What the form asks for; raises InvalidInput naming the field."""
        return LibrarySettings(
            name=self.value("name").strip(),
            scan_interval=_interval(self.value("scan_interval")),
            watched=self.value("watched") == CHECKED,
            algorithm=one_of(HashAlgorithm, "algorithm", self.value("algorithm") or HashAlgorithm.BLAKE3.value),
            hash_policy=one_of(HashPolicy, "hash_policy", self.value("hash_policy") or HashPolicy.CANDIDATES.value),
            ignored=tuple(line.strip() for line in self.value("ignored").splitlines() if line.strip()),
        )

    def refused(self, error: KurabitoError) -> LibraryForm:
        """The same form with what is wrong beside the field; what is about no field is raised on."""
        return LibraryForm(self.typed, Problem.of(error, _FIELDS))


def _interval(text: str) -> timedelta | None:
    if not text:
        return None
    try:
        return timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        raise InvalidInput("scan_interval", f"must be a number of seconds, got {text!r}") from None
