"""Switching a filter rule on or off, and removing it: what that does is shown, and done when its reader is sure."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from fastapi import Request, Response

from kurabito.downloads.errors import FilterRuleNotFound
from kurabito.downloads.filters.model import FilterRule
from kurabito.downloads.filters.service import Filters
from kurabito.site.routing import Router
from kurabito.web.downloads.filter_outcomes import PreviewOutcome
from kurabito.web.forms import id_of, one_of
from kurabito.web.pages import Pages


class Move(StrEnum):
    """What can be done to a rule as it is; the value is part of the address."""

    ON = "on"
    OFF = "off"
    REMOVE = "remove"

    def made(self, rule: FilterRule) -> FilterRule | None:
        """The rule after it; None when it is gone."""
        return None if self is Move.REMOVE else replace(rule, is_enabled=self is Move.ON)


def router(pages: Pages, filters: Filters) -> Router:
    """The question, and the answer to it."""
    routes = Router()

    @routes.get("/rules/{rule_id}/{move}")
    async def ask(request: Request, rule_id: str, move: str) -> Response:
        rule, wanted = await find_rule(filters, rule_id), one_of(Move, "move", move)
        effect = await filters.preview(wanted.made(rule), rule.id)
        return pages.show(request, "rule_move.html", rule=rule, move=wanted, outcome=PreviewOutcome.of(effect))

    @routes.post("/rules/{rule_id}/{move}")
    async def do(rule_id: str, move: str) -> Response:
        rule = await find_rule(filters, rule_id)
        made = one_of(Move, "move", move).made(rule)
        await (filters.remove(id_of(rule_id)) if made is None else filters.change(id_of(rule_id), made))
        return pages.go("/rules")

    return routes


async def find_rule(filters: Filters, rule_id: str) -> FilterRule:
    """The rule that an address names; raises FilterRuleNotFound."""
    wanted = id_of(rule_id)
    found = next((rule for rule in await filters.everything() if rule.id == wanted), None)
    if found is None:
        raise FilterRuleNotFound(f"no filter rule has the id {wanted}")
    return found
