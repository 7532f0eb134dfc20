"""The settings by groups: each with its value, where that comes from, what is wrong with what was typed, and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from kurabito.settings import Settings, variable
from kurabito.settings.errors import SettingsRefused
from kurabito.settings.fields import SECTIONS, SettingGroup, fields
from kurabito.settings.origins import explain, pending_restart
from kurabito.settings.store import SettingsStore
from kurabito.settings.verdicts import SettingVerdict, Trials
from kurabito.site.routing import Router
from kurabito.web.forms import values_of
from kurabito.web.pages import Pages
from kurabito.web.settings.settings_form import SettingRow, SettingsForm

PATH: Final = "/settings"


@dataclass(frozen=True, slots=True)
class SettingsParts:
    """What the pages of settings stand on."""

    store: SettingsStore
    started: Settings
    """What this process began with: what differs now, and is not followed at once, waits for a restart."""
    trials: Trials
    restart: Callable[[], None]


class SettingsDesk:
    """Shows the settings of a group."""

    def __init__(self, pages: Pages, parts: SettingsParts) -> None:
        self._pages = pages
        self._parts = parts

    async def rows(self) -> list[SettingRow]:
        """Every setting as it is now, whichever process changed it."""
        parts, now = self._parts, await self._parts.store.refresh()
        origins = {one.name: one for one in explain(now)}
        pending = pending_restart(parts.started, now)
        return [
            SettingRow(one, origins[one.name], variable(one.name), one.name in parts.trials, one.name in pending)
            for one in fields()
        ]

    async def show(
        self,
        request: Request,
        group: SettingGroup,
        form: SettingsForm | None = None,
        verdicts: Mapping[str, SettingVerdict] | None = None,
    ) -> Response:
        """The page of a group."""
        everything = await self.rows()
        chosen = form or SettingsForm()
        return self._pages.show(
            request,
            "settings.html",
            status=chosen.status,
            group=group,
            rows=[row for row in everything if row.field.group is group],
            pending=[row for row in everything if row.is_pending],
            sections=SECTIONS,
            form=chosen,
            verdicts=verdicts or {},
            is_saved="saved" in request.query_params,
        )

    async def save(self, group: SettingGroup, form: SettingsForm) -> SettingsForm | None:
        """Store what was changed; the form as it is shown again, if something was refused."""
        changes = form.changes([row for row in await self.rows() if row.field.group is group])
        try:
            if changes:
                await self._parts.store.change(changes)
        except SettingsRefused as error:
            return form.refused(error)
        return None


def router(pages: Pages, parts: SettingsParts) -> Router:
    """The settings, and the restart that some of them wait for."""
    routes, desk = Router(), SettingsDesk(pages, parts)
    _add_trials(routes, pages, parts.trials, desk)

    @routes.get(PATH)
    async def first() -> Response:
        return pages.go(f"{PATH}/{SettingGroup.GENERAL}")

    @routes.post(f"{PATH}/restart")
    async def restart() -> Response:
        parts.restart()
        return leaving(pages.go(f"{PATH}/{SettingGroup.GENERAL}"))

    @routes.get(f"{PATH}/{{name}}")
    async def overview(request: Request, name: str) -> Response:
        return await desk.show(request, _group(name))

    @routes.post(f"{PATH}/{{name}}")
    async def save(request: Request, name: str) -> Response:
        group = _group(name)
        refused = await desk.save(group, SettingsForm(await values_of(request)))
        return await desk.show(request, group, refused) if refused else pages.go(f"{PATH}/{group}?saved=")

    @routes.post(f"{PATH}/{{name}}/reset/{{setting}}")
    async def reset(name: str, setting: str) -> Response:
        group = _group(name)
        if setting not in Settings.model_fields:
            raise HTTPException(404)
        await parts.store.unset(setting)
        return pages.go(f"{PATH}/{group}?saved=")

    return routes


def leaving(answer: Response) -> Response:
    """The last answer on its connection: the next request waits at the door until everything has started again."""
    answer.headers["Connection"] = "close"
    return answer


def _add_trials(routes: Router, pages: Pages, trials: Trials, desk: SettingsDesk) -> None:
    @routes.get(f"{PATH}/{{name}}/test/{{setting}}")
    async def again(name: str) -> Response:
        # A reader who changes the language of what was tested comes by here.
        return pages.go(f"{PATH}/{_group(name)}")

    @routes.post(f"{PATH}/{{name}}/test/{{setting}}")
    async def test(request: Request, name: str, setting: str) -> Response:
        if setting not in trials:
            raise HTTPException(404)
        form = SettingsForm(await values_of(request))
        typed = (form.typed.get(setting) or ("",))[-1].strip()
        return await desk.show(request, _group(name), form, {setting: await trials[setting](typed)})


def _group(name: str) -> SettingGroup:
    try:
        return SettingGroup(name)
    except ValueError:
        raise HTTPException(404) from None
