"""Filter rules as they are stored, and the links that they are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from operator import itemgetter
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.errors import FilterRuleNotFound
from kurabito.downloads.filters.engine import FilterDecision, Links
from kurabito.downloads.filters.model import Action, Fields, FilterRule, RuleScope, Target

_RULE: Final = ColumnList("id, name, rule_order, action, target_type, target_id, pattern, fields, is_enabled")
_COLUMNS: Final = {
    "id": "link.id",
    "title": "link.title",
    "is_filtered": "link.is_filtered",
    "is_held": "link.held_reason IS NOT NULL",
    "group_name": "groups.folded",
    "resolution": "link.resolution",
    "languages": "link.languages",
    "source": "link.source",
    "size_bytes": "link.size_bytes",
    "series_id": "link.series_id",
    "group_id": "link.group_id",
    "subscription_id": "item.subscription_id",
    "module_id": "subscription.module_id",
}
_ALWAYS: Final = frozenset({"id", "title", "is_filtered", "is_held"})
_READ_BY_SCOPE: Final = {Target.FETCHER: {"module_id"}, Target.SUBSCRIPTION: {"subscription_id"}}
_GROUP: Final = "LEFT JOIN groups ON groups.id = link.group_id"
_ORIGIN: Final = (
    "LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id"
)
_SCOPES: Final = {
    Target.GLOBAL: "",
    Target.SERIES: "link.series_id = :target_id AND",
    Target.GROUP: "link.group_id = :target_id AND",
    Target.SUBSCRIPTION: "item.subscription_id = :target_id AND",
    # Without a target it is the built-in fetcher.
    Target.FETCHER: "subscription.id IS NOT NULL AND subscription.module_id IS NOT DISTINCT FROM CAST(:target_id AS integer) AND",
}


def _columns(reads: frozenset[str]) -> list[str]:
    """What is fetched. Of a hundred thousand links each column takes its time, so it is no more than the rules read."""
    return [name for name in _COLUMNS if name in _ALWAYS or name in reads]


@cache
def _sql(reads: frozenset[str] = frozenset(), target: Target = Target.GLOBAL) -> Queries:
    joined = reads.union(_READ_BY_SCOPE.get(target, ()))
    return Queries(
        "kurabito.downloads.filters",
        "store.sql",
        rule=_RULE,
        columns=", ".join(_COLUMNS[name] for name in _columns(reads)),
        group=_GROUP if "group_name" in joined else "",
        origin=_ORIGIN if joined & {"subscription_id", "module_id"} else "",
        scope=_SCOPES[target],
    )


def everything(conn: Connection) -> list[FilterRule]:
    """Every rule, the one to be named first at the front."""
    return [_rule(row) for row in conn.all(_sql().all)]


def find(conn: Connection, rule_id: int) -> FilterRule:
    """The rule; raises FilterRuleNotFound."""
    row = conn.one(_sql().get, {"id": rule_id})
    if row is None:
        raise FilterRuleNotFound(f"no filter rule has the id {rule_id}")
    return _rule(row)


def add(conn: Connection, rule: FilterRule) -> FilterRule:
    """Store a rule."""
    return replace(rule, id=conn.value(_sql().add, _stored(rule)))


def change(conn: Connection, rule: FilterRule) -> None:
    """Put a rule in the place of the one that has its id."""
    conn.run(_sql().change, {"id": rule.id, **_stored(rule)})


def remove(conn: Connection, rule_id: int) -> None:
    """Forget a rule."""
    conn.run(_sql().remove, {"id": rule_id})


def in_scopes(conn: Connection, scopes: Iterable[RuleScope], reads: frozenset[str]) -> Links:
    """The links of these scopes that are not downloaded yet, each once, with what is read of them."""
    columns = _columns(reads)
    id_of = itemgetter(columns.index("id"))
    found: dict[int, Row] = {}
    for scope in dict.fromkeys(scopes):
        queries = _sql(reads, scope.target_type)
        rows = conn.all(queries.in_scope, {"target_id": scope.target_id})
        found.update(zip(map(id_of, rows), rows, strict=True))
    return Links(columns, list(found.values()))


def links(conn: Connection, link_ids: Iterable[int], reads: frozenset[str] = frozenset()) -> Links:
    """These links, with what is read of them."""
    return Links(_columns(reads), conn.all(_sql(reads).links, given_ids(link_ids)))


def mark(conn: Connection, decisions: Mapping[int, FilterDecision]) -> None:
    """Write beside links what was decided about them."""
    # Very many links share few decisions.
    distinct = {id(decision): decision.reason for decision in decisions.values()}
    reasons = {key: None if reason is None else reason.stored() for key, reason in distinct.items()}
    rows = [
        {"id": link_id, "is_filtered": int(not decision.is_taken), "reason": reasons[id(decision)]}
        for link_id, decision in decisions.items()
    ]
    if rows:
        conn.run(_sql().mark, {"rows": json.dumps(rows)})


def _stored(rule: FilterRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "rule_order": rule.rule_order,
        "action": rule.action.value,
        "target_type": rule.scope.target_type.value,
        "target_id": rule.scope.target_id,
        "pattern": rule.pattern,
        "fields": rule.fields.stored(),
        "is_enabled": int(rule.is_enabled),
    }


def _rule(row: Row) -> FilterRule:
    of = _RULE.row(row)
    return FilterRule(
        id=of.id,
        name=of.name,
        rule_order=of.rule_order,
        action=Action(of.action),
        scope=RuleScope(Target(of.target_type), of.target_id),
        pattern=of.pattern,
        fields=Fields.read(of.fields),
        is_enabled=bool(of.is_enabled),
    )
