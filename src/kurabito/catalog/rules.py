"""The rules that a user wrote for titles, as they are stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.catalog.errors import TitleRuleConflict, TitleRuleNotFound
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.titles import InvalidRule, TitleRule

_RULE: Final = ColumnList("id, name, condition, parse, fields, priority, is_enabled, created_at, updated_at")
_SQL: Final = Queries("kurabito.catalog", "rules.sql", rule=_RULE)


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule, and whether it is followed."""

    id: int
    rule: TitleRule
    is_enabled: bool
    created_at: datetime
    updated_at: datetime


def checked(
    *, name: str, condition: str, parse: str, fields: dict[str, str] | None = None, priority: int = 50
) -> TitleRule:
    """The rule; raises InvalidInput naming the part of it that cannot be used."""
    try:
        return TitleRule(name=name, condition=condition, parse=parse, fields=fields or {}, priority=priority)
    except InvalidRule as refused:
        raise InvalidInput(refused.part, refused.problem, refused.reason) from None


def add(conn: Connection, rule: TitleRule, *, is_enabled: bool) -> StoredRule:
    """Store a rule; raises TitleRuleConflict when another has its name."""
    _refuse_taken(conn, rule.name, but=None)
    return find(conn, conn.value(_SQL.add, _stored(rule, is_enabled)))


def change(conn: Connection, rule_id: int, rule: TitleRule, *, is_enabled: bool) -> StoredRule:
    """Put a rule in the place of another; raises TitleRuleNotFound or TitleRuleConflict."""
    _refuse_taken(conn, rule.name, but=rule_id)
    conn.run(_SQL.change, {"id": rule_id, **_stored(rule, is_enabled)})
    return find(conn, rule_id)


def remove(conn: Connection, rule_id: int) -> None:
    """Forget a rule. Raises TitleRuleNotFound."""
    find(conn, rule_id)
    conn.run(_SQL.remove, {"id": rule_id})


def find(conn: Connection, rule_id: int) -> StoredRule:
    """The rule; raises TitleRuleNotFound."""
    row = conn.one(_SQL.get, {"id": rule_id})
    if row is None:
        raise TitleRuleNotFound(f"no title rule has the id {rule_id}")
    return _rule(row)


def everything(conn: Connection) -> list[StoredRule]:
    """Every rule in the order in which they are tried."""
    return [_rule(row) for row in conn.all(_SQL.all)]


def enabled(conn: Connection) -> list[TitleRule]:
    """The rules that are on, in the order in which they are tried."""
    return [stored.rule for stored in everything(conn) if stored.is_enabled]


def _refuse_taken(conn: Connection, name: str, *, but: int | None) -> None:
    if conn.value(_SQL.named, {"name": name}) not in (None, but):
        raise TitleRuleConflict(f"another title rule is called {name!r}; choose another name", field="name")


def _stored(rule: TitleRule, is_enabled: bool) -> dict[str, Any]:
    return {
        "name": rule.name,
        "condition": rule.condition,
        "parse": rule.parse,
        "fields": json.dumps(dict(rule.fields), ensure_ascii=False),
        "priority": rule.priority,
        "is_enabled": int(is_enabled),
    }


def _rule(values: Row) -> StoredRule:
    row = _RULE.row(values)
    fields = json.loads(row.fields)
    rule = TitleRule(name=row.name, condition=row.condition, parse=row.parse, fields=fields, priority=row.priority)
    return StoredRule(row.id, rule, bool(row.is_enabled), to_datetime(row.created_at), to_datetime(row.updated_at))
