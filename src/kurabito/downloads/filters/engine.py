"""What rules decide about links. The links are columns and not objects, because often there are very many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kurabito.catalog.states import FilterReason
from kurabito.db.port import Row
from kurabito.downloads.filters.model import Action, FilterRule, Test
from kurabito.reasons import Reason


class Links:
    """Some links, and what is known of them."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self._columns: Mapping[str, Sequence[Any]] = {
            name: [row[place] for row in rows] for place, name in enumerate(columns)
        }
        self._count = len(rows)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, column: str) -> Sequence[Any]:
        """One thing that is known of each, in their order."""
        return self._columns[column]

    def fitting(self, test: Test, places: Iterable[int]) -> list[int]:
        """Those of these places at which there is a link that fits."""
        column, fits = self._columns[test.reads], test.fits
        return [place for place in places if fits(column[place])]


class FilterDecision(NamedTuple):
    """Whether a link is taken, and the rule that decided otherwise."""

    is_taken: bool
    rule: FilterRule | None = None

    @property
    def reason(self) -> Reason[FilterReason] | None:
        """What is written beside the link."""
        if self.rule is None:
            return None
        is_excluded = self.rule.action is Action.EXCLUDE
        code = FilterReason.EXCLUDED if is_excluded else FilterReason.NOT_INCLUDED
        return Reason(code, {"rule": self.rule.name})


TAKEN: Final = FilterDecision(True)


class FilterEngine:
    """Decides by some rules; those that are off are passed over."""

    def __init__(self, rules: Iterable[FilterRule]) -> None:
        followed = [rule for rule in rules if rule.is_enabled]
        # A draft has no id yet and comes last, as it will when it is stored.
        self._rules = sorted(followed, key=lambda rule: (rule.rule_order, rule.id is None, rule.id or 0))

    @property
    def reads(self) -> frozenset[str]:
        """What has to be known of links."""
        return frozenset(test.reads for rule in self._rules for test in (*rule.scope.tests(), *rule.tests))

    def refuse(self, links: Links) -> dict[int, FilterDecision]:
        """The places of the links that are not taken, with the first rule that decided so."""
        found: dict[int, FilterDecision] = {}
        left: Sequence[int] = range(len(links))
        # One rule after the other over all that is left: the same as one link after the other, and quicker.
        for rule in self._rules:
            if refused := _refused(rule, links, left):
                found |= dict.fromkeys(refused, FilterDecision(False, rule))
                left = [place for place in left if place not in found]
        return found


def _refused(rule: FilterRule, links: Links, places: Sequence[int]) -> Sequence[int]:
    about = places
    for test in rule.scope.tests():
        about = links.fitting(test, about)
    matching = about
    for test in rule.tests:
        matching = links.fitting(test, matching)
    if rule.action is Action.EXCLUDE:
        return matching
    included = set(matching)
    return [place for place in about if place not in included]
