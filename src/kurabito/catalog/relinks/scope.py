"""Which links a change touches, told by their titles alone: of the others no more is read, and they stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kurabito.catalog.relinks.links import LINK, SQL
from kurabito.db import Connection
from kurabito.db.rows import given
from kurabito.titles import TitleRule, fold_title
from kurabito.titles.text import normalise


@dataclass(frozen=True, slots=True)
class RulePatterns:
    """The titles that a rule says something about: both patterns are found in them."""

    condition: str
    parse: str

    @classmethod
    def of(cls, rule: TitleRule) -> RulePatterns:
        return cls(rule.condition, rule.parse)


@dataclass(frozen=True, slots=True)
class LinkRange:
    """Links by their ids, and which of them a change touches; all where nothing more is said."""

    ids: tuple[int, ...]
    rules: tuple[RulePatterns, ...] = ()
    """One of them fits their titles."""
    names: tuple[str, ...] = ()
    """Folded; one of them is in their titles."""


def touched(conn: Connection, links: LinkRange) -> list[Any]:
    """The links of a range that the change touches."""
    is_touched, ids = by_title(links.rules, links.names), links.ids
    if is_touched is not None:
        ids = tuple(link_id for link_id, title in conn.all(SQL.titles, given(ids)) if is_touched(title))
    return [LINK.row(row) for row in conn.all(SQL.again, given(ids))]


def by_title(rules: tuple[RulePatterns, ...], names: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Tells whether rules or names touch a title; None where every title is touched."""
    if not names and not rules:
        return None
    # The links of a batch have one title.
    return cache(_has_name(names) if names else _is_fitted(rules))


def _has_name(names: tuple[str, ...]) -> Callable[[str], bool]:
    def has(title: str) -> bool:
        folded = fold_title(title)
        return any(name in folded for name in names)

    return has


def _is_fitted(patterns: tuple[RulePatterns, ...]) -> Callable[[str], bool]:
    # What the rules say of a title does not matter here.
    rules = [TitleRule("touched", one.condition, one.parse, {"kind": "tv"}) for one in patterns]

    def fits(title: str) -> bool:
        text = normalise(title)
        return any(rule.fits(text) for rule in rules)

    return fits
