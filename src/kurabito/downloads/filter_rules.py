"""Filter rules as they are stored, and the links that they are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rowsource import JSON_ROWS
from kurabito.downloads.attempts import given_ids
from kurabito.downloads.filters import ORIGINS, Action, Candidate, Decision, Fields, FilterRule, Scope, Target
from kurabito.errors import FilterRuleNotFound

_RULE: Final = "id, name, rule_order, action, target_type, target_id, pattern, fields, is_enabled"
_CANDIDATE: Final = (
    "link.id, link.title, {group}, link.resolution, link.languages, link.source, link.size_bytes, link.series_id, "
    "link.group_id, {subscription}, {module}, link.is_filtered, link.held_reason IS NOT NULL"
)
# Looking up where a link came from takes longer than all the rest, and few rules ask for it.
_CANDIDATES: Final = {
    True: _CANDIDATE.format(
        group="groups.folded", subscription="item.subscription_id", module="subscription.module_id"
    ),
    False: _CANDIDATE.format(group="NULL", subscription="NULL", module="NULL"),
}
_ORIGINS: Final = {
    True: "LEFT JOIN groups ON groups.id = link.group_id LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id",
    False: "",
}
_SCOPES: Final = {
    Target.GLOBAL: "",
    Target.SERIES: "link.series_id = :target_id AND",
    Target.GROUP: "link.group_id = :target_id AND",
    Target.SUBSCRIPTION: "item.subscription_id = :target_id AND",
    # Without a target it is the built-in fetcher.
    Target.FETCHER: "subscription.id IS NOT NULL AND subscription.module_id IS NOT DISTINCT FROM CAST(:target_id AS integer) AND",
}
_SQL: Final = {
    (dialect, target, with_origin): Queries(
        "kurabito.downloads",
        "filter_rules.sql",
        given=given,
        rule=_RULE,
        candidate=_CANDIDATES[with_origin],
        origin=_ORIGINS[with_origin],
        scope=scope,
    )
    for dialect, given in JSON_ROWS.items()
    for target, scope in _SCOPES.items()
    for with_origin in (True, False)
}


def everything(conn: Connection) -> list[FilterRule]:
    """Every rule, the one to be named first at the front."""
    return [_rule(row) for row in conn.all(_sql(conn).all)]


def find(conn: Connection, rule_id: int) -> FilterRule:
    """The rule; raises FilterRuleNotFound."""
    row = conn.one(_sql(conn).get, {"id": rule_id})
    if row is None:
        raise FilterRuleNotFound(f"no filter rule has the id {rule_id}")
    return _rule(row)


def add(conn: Connection, rule: FilterRule) -> FilterRule:
    """Store a rule."""
    row = conn.one(_sql(conn).add, _stored(rule))
    assert row is not None
    return replace(rule, id=row[0])


def change(conn: Connection, rule: FilterRule) -> None:
    """Put a rule in the place of the one that has its id."""
    conn.run(_sql(conn).change, {"id": rule.id, **_stored(rule)})


def remove(conn: Connection, rule_id: int) -> None:
    """Forget a rule."""
    conn.run(_sql(conn).remove, {"id": rule_id})


def in_scopes(conn: Connection, scopes: Iterable[Scope], *, with_origin: bool) -> list[Candidate]:
    """The links of these scopes that are not downloaded yet, each once; where they came from only if so wished."""
    found: dict[int, Candidate] = {}
    for scope in dict.fromkeys(scopes):
        queries = _SQL[conn.dialect, scope.target_type, with_origin or scope.target_type in ORIGINS]
        rows = conn.all(queries.in_scope, {"target_id": scope.target_id})
        found |= {row[0]: Candidate._make(row) for row in rows}
    return list(found.values())


def candidates(conn: Connection, link_ids: Iterable[int]) -> list[Candidate]:
    """These links, as rules look at them."""
    return [Candidate._make(row) for row in conn.all(_sql(conn).candidates, given_ids(link_ids))]


def mark(conn: Connection, decisions: Mapping[int, Decision]) -> None:
    """Write beside links what was decided about them."""
    rows = [
        {"id": link_id, "is_filtered": int(not decision.is_taken), "reason": decision.reason}
        for link_id, decision in decisions.items()
    ]
    if rows:
        conn.run(_sql(conn).mark, {"rows": json.dumps(rows)})


def _sql(conn: Connection) -> Queries:
    return _SQL[conn.dialect, Target.GLOBAL, True]


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
    rule_id, name, order, action, target_type, target_id, pattern, fields, is_enabled = row
    return FilterRule(
        id=rule_id,
        name=name,
        rule_order=order,
        action=Action(action),
        scope=Scope(Target(target_type), target_id),
        pattern=pattern,
        fields=Fields.read(fields),
        is_enabled=bool(is_enabled),
    )
