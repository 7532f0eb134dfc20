"""How far a sync is, and what it came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kurabito.logs import get_logger
from kurabito.metadata.errors import MetadataError, NothingAnswered

_log = get_logger(__name__)


@dataclass(slots=True)
class Synced:
    """What a sync came to. What failed, or was not asked because its service did not answer, is tried by the next sync."""

    records: int = 0
    posters: int = 0
    posters_failed: int = 0
    ids: int = 0
    ids_not_found: int = 0
    ids_failed: int = 0


class SyncProgress:
    """Counts what the parts of a sync did. A record is one, however many things it lacks."""

    def __init__(self, report: Callable[[int, int], object]) -> None:
        self._report = report
        self._touched: set[int] = set()
        self._finished: set[int] = set()
        self._total = 0
        self._has_answer = False
        self._troubles: dict[str, MetadataError] = {}
        self.synced = Synced()

    def expect(self, total: int) -> None:
        """Say how many records are to be asked about."""
        self._total = total
        self._report(0, total)

    def touched(self, metadata_ids: set[int]) -> None:
        """Records were given something without a request."""
        self._touched |= metadata_ids

    def finished(self, metadata_id: int) -> None:
        """A record was asked about."""
        self._touched.add(metadata_id)
        self._finished.add(metadata_id)
        self._report(len(self._finished), max(self._total, len(self._finished)))

    def answered(self) -> None:
        """A service answered, even with a refusal."""
        self._has_answer = True

    def not_answered(self, service: str, error: MetadataError) -> None:
        """A service could not be asked. Its first reason is told, the others are like it."""
        if service not in self._troubles:
            _log.warning("service did not answer", service=service, code=error.code, problem=str(error))
            self._troubles[service] = error

    def end(self) -> Synced:
        """What it came to; raises NothingAnswered when something had to be asked and no service answered."""
        self.synced.records = len(self._touched)
        if self._troubles and not self._has_answer:
            causes = "; ".join(str(error) for error in self._troubles.values())
            waiting = self.synced.ids_failed + self.synced.posters_failed
            raise NothingAnswered(f"{waiting} lookups and posters wait, the next sync tries again: {causes}")
        if self._finished:
            self._report(len(self._finished), len(self._finished))
        return self.synced
