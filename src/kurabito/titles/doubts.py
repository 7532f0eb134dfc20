"""What may be wrong with the numbers of a title that was read: better to ask than to download something else."""

from __future__ import annotations

from typing import Final

from kurabito.titles.draft import TitleDraft
from kurabito.titles.model import TitleDoubt

_LARGEST_SEASON: Final = 60
_LONGEST_BATCH: Final = 200
_YEARS: Final = range(1900, 2100)


def doubts_of(draft: TitleDraft) -> tuple[TitleDoubt, ...]:
    """Every doubt, those of the recognisers first."""
    doubts = draft.doubts
    if draft.seasons and draft.seasons[-1] > _LARGEST_SEASON:
        doubts.append(TitleDoubt.SEASON_IMPLAUSIBLE)
    if len(draft.episodes) > _LONGEST_BATCH:
        doubts.append(TitleDoubt.RANGE_TOO_LONG)
    if len(draft.episodes) == 1 and draft.episodes[0] in _YEARS:
        doubts.append(TitleDoubt.EPISODE_IS_YEAR)
    return tuple(dict.fromkeys(doubts)) if doubts else ()
