"""Which releases bring the most of what is missing of a show. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.downloads.search.decisions import FoundRelease

_ENOUGH: Final = 0.5
"""A batch is taken where it has at least this part of what is missing."""


@dataclass(frozen=True, slots=True)
class Backfill:
    """What would be fetched, and what stays missing."""

    releases: tuple[FoundRelease, ...]
    left: tuple[float, ...]

    def bringing(self, number: float) -> str | None:
        """The key of the release that an episode comes with; a batch without numbers has every one."""
        if number in self.left:
            return None
        return next((one.key for one in self.releases if number in (numbers_of(one) or {number})), None)

    @property
    def size_bytes(self) -> int:
        """As far as it is known."""
        return sum(one.item.size_bytes or 0 for one in self.releases)


def plan(found: Sequence[FoundRelease], series_id: int, missing: Collection[float], *, is_over: bool) -> Backfill:
    """Choose among releases, the better ones first: a batch when the season is over, single episodes else and for the rest."""
    left = set(missing)
    taken: list[FoundRelease] = []
    usable = [one for one in found if one.reason is None and one.series is not None and one.series.id == series_id]
    if is_over:
        batches = [one for one in usable if _is_batch(one)]
        best = max(batches, key=lambda one: _gain(one, left), default=None)
        if best is not None and _gain(best, left)[0] >= _ENOUGH * len(left):
            taken.append(best)
            left -= numbers_of(best) or left
    for one in usable:
        if not _is_batch(one) and numbers_of(one) & left:
            taken.append(one)
            left -= numbers_of(one)
    return Backfill(tuple(taken), tuple(sorted(left)))


def numbers_of(found: FoundRelease) -> set[float]:
    """The episodes of a release as its show counts them."""
    if found.release is None or found.series is None:
        return set()
    return {float(number - found.series.episode_offset) for number in found.release.episodes}


def numbers_found(found: Sequence[FoundRelease], series_id: int) -> set[float]:
    """The episodes of a show that single releases would bring."""
    usable = (one for one in found if one.reason is None and one.series is not None and one.series.id == series_id)
    return {number for one in usable if not _is_batch(one) for number in numbers_of(one)}


def _is_batch(found: FoundRelease) -> bool:
    return found.release is not None and (found.release.is_batch or len(found.release.episodes) > 1)


def _gain(found: FoundRelease, left: Collection[float]) -> tuple[int, int, int, int]:
    """How much of what is missing a batch brings; then its score, its seeders, and how small it is.

    One without numbers has all of it. The score has the group in it, and sizes that are not wanted are left out before.
    """
    numbers = numbers_of(found)
    brought = len(numbers & set(left)) if numbers else len(left)
    return brought, found.score.total if found.score else 0, found.item.seeders or 0, -(found.item.size_bytes or 0)
