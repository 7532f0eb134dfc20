"""Changing the filter rules: what a change would do can be seen first, and saving does exactly that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.states import FilterReason
from kurabito.db import Connection, Database
from kurabito.downloads import store
from kurabito.downloads.choice import Choice
from kurabito.downloads.filters import store as filter_rules
from kurabito.downloads.filters.engine import TAKEN, FilterDecision, FilterEngine
from kurabito.downloads.filters.model import FilterRule, RuleScope
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.reasons import DispatchCause, DownloadReason, because
from kurabito.downloads.release_options import choose_among, rivals, titles_of, without_no_ops
from kurabito.reasons import Reason

_CANCELLED: Final = because(DownloadReason.FILTERED)


class ExcludedLink(NamedTuple):
    """A link that would be taken no longer."""

    link_id: int
    title: str
    reason: Reason[FilterReason] | None
    download_id: int | None
    """What would be cancelled for it."""


class FreedLink(NamedTuple):
    """A link that can be taken now: no rule keeps it away any more, or what was taken in its place is excluded."""

    id: int
    title: str
    is_held: bool
    """Its series, or its episode, is still to be decided about."""


class ReplacedDownload(NamedTuple):
    """A download that ends because a link that can be taken now is better."""

    download_id: int
    title: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change of the rules does."""

    excluded: tuple[ExcludedLink, ...]
    freed: tuple[FreedLink, ...]
    next_best: tuple[FreedLink, ...]
    """Other releases of the episodes that would lose theirs."""
    choice: Choice
    """What is downloaded of them, what that cancels, and the episodes that have to be asked about or waited for."""
    replaced: tuple[ReplacedDownload, ...]
    """What the choice cancels."""
    decisions: dict[int, FilterDecision]
    """What is to be written beside the links whose decision changed."""

    @property
    def cancelled(self) -> tuple[int, ...]:
        """Every download that ends: because a rule excludes it, or because something better can be taken."""
        excluded = [one.download_id for one in self.excluded if one.download_id is not None]
        return (*excluded, *(one.download_id for one in self.replaced))


class Filters:
    """The filter rules of one database."""

    def __init__(self, database: Database, grabber: Grabber) -> None:
        self._database = database
        self._grabber = grabber

    async def everything(self) -> list[FilterRule]:
        """Every rule, the one to be named first at the front."""
        return await self._database.read(filter_rules.everything)

    async def preview(self, draft: FilterRule | None, rule_id: int | None = None) -> Effect:
        """What saving a draft would do: a new rule, one in the place of another, or none in its place."""

        def look(conn: Connection) -> Effect:
            old = None if rule_id is None else filter_rules.find(conn, rule_id)
            others = [rule for rule in filter_rules.everything(conn) if rule.id != rule_id]
            new = None if draft is None else replace(draft, id=rule_id)
            return _effect(conn, [*others, *_given(new)], _scopes(old, new))

        return await self._database.read(look)

    async def add(self, rule: FilterRule) -> FilterRule:
        """Store a rule, and follow it at once."""

        def write(conn: Connection) -> FilterRule:
            lock_catalog(conn)
            stored = filter_rules.add(conn, rule)
            self._follow(conn, _scopes(stored))
            return stored

        return await self._database.write(write)

    async def change(self, rule_id: int, rule: FilterRule) -> FilterRule:
        """Put a rule in the place of another; raises FilterRuleNotFound."""

        def write(conn: Connection) -> FilterRule:
            lock_catalog(conn)
            old, new = filter_rules.find(conn, rule_id), replace(rule, id=rule_id)
            filter_rules.change(conn, new)
            self._follow(conn, _scopes(old, new))
            return new

        return await self._database.write(write)

    async def remove(self, rule_id: int) -> None:
        """Forget a rule, and take what it alone kept away; raises FilterRuleNotFound."""

        def write(conn: Connection) -> None:
            lock_catalog(conn)
            old = filter_rules.find(conn, rule_id)
            filter_rules.remove(conn, rule_id)
            self._follow(conn, _scopes(old))

        await self._database.write(write)

    def _follow(self, conn: Connection, scopes: Sequence[RuleScope]) -> None:
        effect = _effect(conn, filter_rules.everything(conn), scopes)
        filter_rules.mark(conn, effect.decisions)
        cancelled = [one.download_id for one in effect.excluded if one.download_id is not None]
        self._grabber.cancel(conn, cancelled, _CANCELLED)
        self._grabber.carry_out(conn, effect.choice, DispatchCause.LET_THROUGH)


def _effect(conn: Connection, rules: Sequence[FilterRule], scopes: Sequence[RuleScope]) -> Effect:
    engine = FilterEngine(rules)
    links = filter_rules.in_scopes(conn, scopes, engine.reads)
    refused = engine.refuse(links)
    ids, titles, was_filtered = links["id"], links["title"], links["is_filtered"]
    excluded = sorted(place for place in refused if not was_filtered[place])
    freed = tuple(
        FreedLink(ids[place], titles[place], bool(links["is_held"][place]))
        for place, was in enumerate(was_filtered)
        if was and place not in refused
    )
    out = {ids[place] for place in excluded}
    under_way = store.cancellable(conn, out)
    next_best = tuple(
        FreedLink(link_id, title, is_held=False)
        for link_id, title in rivals(conn, under_way).items()
        if link_id not in out and link_id not in under_way
    )
    chosen = choose_among(conn, [one.id for one in (*freed, *next_best) if not one.is_held], without=out)
    choice = without_no_ops(conn, chosen)
    return Effect(
        tuple(
            ExcludedLink(ids[place], titles[place], refused[place].reason, under_way.get(ids[place]))
            for place in excluded
        ),
        freed,
        next_best,
        choice,
        tuple(ReplacedDownload(*one) for one in titles_of(conn, choice.cancel).items()),
        {ids[place]: refused[place] for place in excluded} | {one.id: TAKEN for one in freed},
    )


def _scopes(*rules: FilterRule | None) -> list[RuleScope]:
    """Where links have to be judged again: the old place and the new one, if a rule moved."""
    return [rule.scope for rule in rules if rule is not None]


def _given(rule: FilterRule | None) -> list[FilterRule]:
    return [] if rule is None else [rule]
