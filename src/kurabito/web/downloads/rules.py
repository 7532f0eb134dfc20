"""*Rules*: which releases are taken. What a change would do is seen first, and saving does exactly that."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.filters.service import Filters
from kurabito.errors import InvalidInput
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.downloads.filter_form import LISTS, FilterForm, key_of, scope_of
from kurabito.web.downloads.filter_outcomes import PreviewOutcome
from kurabito.web.downloads.rule_moves import find_rule
from kurabito.web.downloads.scopes import Scopes
from kurabito.web.forms import id_of
from kurabito.web.pages import Pages

_PATH: Final = "/rules"


def router(pages: Pages, filters: Filters, scopes: Scopes) -> Router:
    """The rules, and the making and changing of one."""
    routes = Router()
    bench = _RulePages(pages, filters, scopes)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await bench.show(request, FilterForm.blank())

    @routes.post(_PATH)
    async def add(request: Request) -> Response:
        return await bench.keep(request)

    @routes.get(f"{_PATH}/try")
    async def again() -> Response:
        # A reader who changes the language of what was tried comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/try")
    async def attempt(request: Request) -> Response:
        return await bench.show(request, await FilterForm.sent(request))

    @routes.get(f"{_PATH}/{{rule_id}}")
    async def one(request: Request, rule_id: str) -> Response:
        rule = await find_rule(filters, rule_id)
        return await bench.show(request, FilterForm.of(rule), rule)

    @routes.post(f"{_PATH}/{{rule_id}}")
    async def change(request: Request, rule_id: str) -> Response:
        return await bench.keep(request, await find_rule(filters, rule_id))

    @routes.get(f"{_PATH}/{{rule_id}}/try")
    async def change_again(rule_id: str) -> Response:
        return pages.go(f"{_PATH}/{id_of(rule_id)}")

    @routes.post(f"{_PATH}/{{rule_id}}/try")
    async def change_attempt(request: Request, rule_id: str) -> Response:
        return await bench.show(request, await FilterForm.sent(request), await find_rule(filters, rule_id))

    return routes


class _RulePages:
    """Shows the rules, and what the one in the form would do."""

    def __init__(self, pages: Pages, filters: Filters, scopes: Scopes) -> None:
        self._pages = pages
        self._filters = filters
        self._scopes = scopes

    async def keep(self, request: Request, rule: FilterRule | None = None) -> Response:
        """Store what the form says, in the place of a rule if there is one."""
        form = await FilterForm.sent(request)
        try:
            made = form.rule()
            await (self._filters.add(made) if rule is None or rule.id is None else self._filters.change(rule.id, made))
        except InvalidInput as problem:
            return await self.show(request, form.refused(problem), rule, status=status_of(problem))
        return self._pages.go(_PATH)

    async def show(
        self, request: Request, form: FilterForm, rule: FilterRule | None = None, *, status: int = 200
    ) -> Response:
        """The page about one rule, else that of all of them with a form for another."""
        outcome = None
        if not form.is_empty:
            try:
                effect = await self._filters.preview(form.draft(), None if rule is None else rule.id)
                outcome = PreviewOutcome.of(effect)
            except InvalidInput as problem:
                # A pattern that is half written is nothing wrong yet; it is said where the outcome would stand.
                form = form.doubted(problem)
        rules = [] if rule is not None else await self._filters.everything()
        return self._pages.show(
            request,
            "rules.html",
            status=status,
            rule=rule,
            rules=rules,
            names=await self._scopes.names(one.scope for one in rules),
            choices=await self._choices(form),
            key_of=key_of,
            form=form,
            actions=tuple(Action),
            lists=LISTS,
            outcome=outcome,
        )

    async def _choices(self, form: FilterForm) -> object:
        try:
            chosen = scope_of(form.value("scope"))
        except InvalidInput:
            return await self._scopes.choices()
        return await self._scopes.choices(*([] if chosen.target_id is None else [chosen]))
