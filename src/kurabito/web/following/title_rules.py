"""Title rules: those that there are, and one more for titles that cannot be read, tried while it is written."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.catalog.errors import TitleRuleConflict
from kurabito.catalog.title_rules import TitlePreview, TitleRules
from kurabito.errors import InvalidInput
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.titles import LONGEST_TITLE
from kurabito.web.following.rule_form import ASKED, RARELY_ASKED, RuleForm
from kurabito.web.forms import id_of
from kurabito.web.pages import Pages

_PATH: Final = "/following/rules"


def router(pages: Pages, rules: TitleRules) -> Router:
    """The rules, and the making of one."""
    routes = Router()
    bench = _TitleRulePages(pages, rules)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        title = request.query_params.get("title", "")[:LONGEST_TITLE]
        return await bench.show(request, RuleForm.about(title) if title else RuleForm())

    @routes.post(_PATH)
    async def add(request: Request) -> Response:
        form = await RuleForm.sent(request)
        try:
            await rules.add(form.rule())
        except (InvalidInput, TitleRuleConflict) as problem:
            return await bench.show(request, form.refused(problem), status=status_of(problem))
        return pages.go(_PATH)

    @routes.get(f"{_PATH}/try")
    async def again() -> Response:
        # A reader who changes the language of what was tried comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/try")
    async def attempt(request: Request) -> Response:
        return await bench.show(request, await RuleForm.sent(request))

    @routes.post(f"{_PATH}/{{rule_id}}/remove")
    async def remove(rule_id: str) -> Response:
        await rules.remove(id_of(rule_id))
        return pages.go(_PATH)

    return routes


class _TitleRulePages:
    """Shows the rules, and what the one in the form would do."""

    def __init__(self, pages: Pages, rules: TitleRules) -> None:
        self._pages = pages
        self._rules = rules

    async def show(self, request: Request, form: RuleForm, *, status: int = 200) -> Response:
        try:
            tried = await self._tried(form)
        except InvalidInput as problem:
            # A pattern that is half written is nothing wrong yet; it is said where the outcome would stand.
            tried, form = [], form.doubted(problem)
        return self._pages.show(
            request,
            "title_rules.html",
            status=status,
            rules=await self._rules.everything(),
            form=form,
            asked=ASKED,
            further=RARELY_ASKED,
            tried=tried,
        )

    async def _tried(self, form: RuleForm) -> list[TitlePreview]:
        """What the rule makes of the title that it is about, and of others that could not be read."""
        if form.is_empty:
            return []
        rule, about = form.draft(), form.value("about")[:LONGEST_TITLE]
        own = await self._rules.preview(rule, [about]) if about else []
        return own + [other for other in await self._rules.preview(rule) if other.title != about]
