"""What a change of the filter rules would do, as far as a page has room for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.downloads.filters.model import FilterRule
from kurabito.downloads.filters.service import Effect, ReplacedDownload

_EXAMPLES: Final = 20


@dataclass(frozen=True, slots=True)
class ExcludedRelease:
    """A release that would be taken no longer."""

    title: str
    rule: FilterRule | None
    """The one that decides so."""
    download_id: int | None
    """What would be cancelled for it."""


@dataclass(frozen=True, slots=True)
class LetThrough:
    """A release that could be taken then: no rule keeps it away, or what was taken in its place is left out."""

    title: str
    is_downloaded: bool
    """Otherwise another release of its episode is there, or its series is held back."""


@dataclass(frozen=True, slots=True)
class PreviewOutcome:
    """How many there are of each, and the first of them."""

    left_out: int
    cancelled: int
    let_through: int
    downloaded: int
    asked: int
    """Episodes whose release the keeper has to choose."""
    waiting: int
    """Episodes that wait for a better release first."""
    examples_out: list[ExcludedRelease]
    examples_replaced: list[ReplacedDownload]
    replaced: int
    """Downloads that end because something better can be taken."""
    examples_through: list[LetThrough]

    @property
    def is_nothing(self) -> bool:
        # What is cancelled, downloaded or asked follows from these.
        return not (self.left_out or self.let_through)

    @classmethod
    def of(cls, effect: Effect) -> PreviewOutcome:
        """What matters most comes first: downloads that end, and those that begin."""
        choice, sent = effect.choice, set(effect.choice.dispatch)
        out = sorted(effect.excluded, key=lambda one: one.download_id is None)
        through = sorted((*effect.freed, *effect.next_best), key=lambda one: one.id not in sent)
        return cls(
            left_out=len(out),
            cancelled=len(effect.cancelled),
            let_through=len(through),
            downloaded=len(sent),
            asked=len(choice.ask),
            waiting=len(choice.wait),
            examples_out=[
                ExcludedRelease(one.title, effect.decisions[one.link_id].rule, one.download_id)
                for one in out[:_EXAMPLES]
            ],
            examples_replaced=list(effect.replaced[:_EXAMPLES]),
            replaced=len(effect.replaced),
            examples_through=[LetThrough(one.title, one.id in sent) for one in through[:_EXAMPLES]],
        )
