"""`/api/v1/settings`: every setting with where its value came from; change and reset them; start again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.paging import PageAnswer
from kurabito.settings import Origin, Settings, variable
from kurabito.settings.fields import FieldKind, SettingField, SettingGroup, fields
from kurabito.settings.model import Place
from kurabito.settings.origins import explain, pending_restart
from kurabito.settings.store import SettingsStore
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class StoredSettingAnswer(BaseModel):
    """A setting: its value, where that came from, and what it may be. Secrets are masked."""

    name: str
    group: SettingGroup
    kind: FieldKind
    value: str | int | float | list[str] | None
    place: Place = Field(description="the kind of place that the value came from; `database` is the page")
    origin: str = Field(description="an option, a variable, `database`, the path of a file, or `default`")
    variable: str = Field(description="the environment variable that would set and lock it")
    description: str
    choices: list[str]
    least: float | None
    most: float | None
    is_locked: bool = Field(description="whether it cannot be changed here")
    needs_restart: bool = Field(description="whether a change takes effect at the next start")
    is_pending: bool = Field(description="whether its value waits for that start")

    @classmethod
    def of(cls, field: SettingField, origin: Origin, pending: list[str]) -> Self:
        return cls(
            name=field.name,
            group=field.group,
            kind=field.kind,
            value=origin.value,
            place=origin.place,
            origin=origin.origin,
            variable=variable(field.name),
            description=origin.description,
            choices=list(field.choices),
            least=field.least,
            most=field.most,
            is_locked=origin.is_locked,
            needs_restart=origin.needs_restart,
            is_pending=field.name in pending,
        )


class SettingsPatch(BaseModel):
    """What to change: all of it or nothing."""

    model_config = ConfigDict(extra="forbid")

    values: dict[str, Any] = Field(
        default_factory=dict, description="new values by name", examples=[{"trash_days": 60}]
    )
    reset: list[str] = Field(default_factory=list, description="settings whose file or default is to count again")


class RestartAnswer(BaseModel):
    """The restart that was asked for."""

    restarting: bool = True


def router(store: SettingsStore, started: Settings, restart: Callable[[], None]) -> Router:
    """The routes of the settings. `started` are those that this process began with."""
    routes = Router(prefix="/api/v1", tags=["system"])

    async def everything() -> PageAnswer[StoredSettingAnswer]:
        now = await store.refresh()
        origins, pending = {one.name: one for one in explain(now)}, pending_restart(started, now)
        answers = [StoredSettingAnswer.of(field, origins[field.name], pending) for field in fields()]
        return PageAnswer[StoredSettingAnswer].whole(answers)

    @routes.get("/settings", responses=documented())
    async def get_settings() -> PageAnswer[StoredSettingAnswer]:
        """Every setting, with where its value came from and what it may be."""
        return await everything()

    @routes.patch("/settings", responses=documented(409, *WITH_BODY))
    async def change_settings(wanted: SettingsPatch) -> PageAnswer[StoredSettingAnswer]:
        """Change settings and reset others, all or none. A secret is stored and never shown."""
        await store.change(wanted.values, reset=wanted.reset)
        return await everything()

    @routes.post("/system/restart", status_code=202, responses=documented())
    async def restart_system(answer: Response) -> RestartAnswer:
        """Start again with what is stored now. Requests wait for it; tasks under way are given back and go on."""
        restart()
        # The next request of this client waits at the door, and not on a connection that ends.
        answer.headers["Connection"] = "close"
        return RestartAnswer()

    return routes
