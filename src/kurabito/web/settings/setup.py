"""The set-up of a new installation: a few questions, each of which can be skipped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from kurabito.downloads.connections.model import CLIENTS
from kurabito.errors import InvalidInput
from kurabito.feeds.service import Subscriptions
from kurabito.library.scans.queue import ScanQueueService, TaskPriority
from kurabito.library.service import LibraryService
from kurabito.metadata.sources.index import IndexUpdates
from kurabito.settings.errors import SettingsRefused
from kurabito.settings.origins import explain, pending_restart
from kurabito.setup.folders import FolderBrowser, FolderChoice
from kurabito.setup.progress import SetupProgress, SetupStep
from kurabito.site.routing import Router
from kurabito.web.downloads.connections import ConnectionDesk, ConnectionForm
from kurabito.web.forms import CHECKED, Form, Problem, fields_of
from kurabito.web.library.library_form import LibraryForm
from kurabito.web.pages import Pages
from kurabito.web.settings.folder_choice import folders_in
from kurabito.web.settings.keeper import keeper_only
from kurabito.web.settings.security import PasswordForm, SecurityDesk, SecurityParts
from kurabito.web.settings.settings import SettingsParts, leaving
from kurabito.web.system.login import give_session

PATH: Final = "/setup"


@dataclass(frozen=True, slots=True)
class SetupParts:
    """What the set-up asks for."""

    progress: SetupProgress
    browser: Callable[[], FolderBrowser]
    settings: SettingsParts
    security: SecurityParts
    libraries: LibraryService
    scans: ScanQueueService
    index: IndexUpdates
    connections: ConnectionDesk
    feeds: Subscriptions


class SetupForm(Form):
    """What was typed in a step."""

    FIELDS = ("path", "name", "download_root", "tmdb_key")


class SetupDesk:
    """Shows the steps, and does what each of them asks for."""

    def __init__(self, pages: Pages, parts: SetupParts) -> None:
        self._pages = pages
        self._parts = parts
        self._security = SecurityDesk(pages, parts.security)

    async def show(self, request: Request, step: SetupStep, *, status: int = 200, **values: Any) -> Response:
        """The page of a step."""
        parts, asked = self._parts, request.query_params
        kept = await parts.libraries.list(limit=50)
        origins = {one.name: one for one in explain(await parts.settings.store.refresh())}
        shown: dict[str, Any] = {
            "step": step,
            "steps": list(SetupStep),
            "has_password": await parts.security.passwords.is_set(),
            "password": PasswordForm(),
            "form": SetupForm(),
            "chosen": asked.get("path", ""),
            "listing": await self.listing(asked.get("path") or asked.get("in", "")) if step in _WITH_FOLDERS else None,
            "libraries": [summary.library for summary in kept.items],
            "origins": origins,
            "verdicts": {},
            "index": await parts.index.last_import(),
            "is_fetching": "fetching" in request.query_params,
            "connection": ConnectionForm(),
            "connected": await parts.connections.everything(),
            "followed": (await parts.feeds.page(limit=10)).items if step is SetupStep.SHOW else (),
            "clients": CLIENTS,
            "tested": None,
        }
        return self._pages.show(request, "setup.html", status=status, **(shown | values))

    async def listing(self, path: str) -> FolderChoice:
        """The folders to choose from."""
        return await folders_in(self._parts.browser(), path)

    async def go_on(self, step: SetupStep) -> Response:
        """The next step, or the end."""
        if (following := step.following) is None:
            return await self.finish()
        await self._parts.progress.reach(following)
        return self._pages.go(f"{PATH}/{following}")

    async def in_effect(self, answer: Response) -> Response:
        """The answer, and what was chosen taking effect before the next request is heard."""
        settings = self._parts.settings
        if not pending_restart(settings.started, await settings.store.refresh()):
            return answer
        settings.restart()
        return leaving(answer)

    async def finish(self) -> Response:
        """Never ask again, and have everything that was chosen take effect."""
        await self._parts.progress.finish()
        return await self.in_effect(self._pages.go("/"))

    async def welcome(self, request: Request) -> Response:
        """The password, for those who want one."""
        form = await PasswordForm.sent(request)
        if not form.value("password") and not form.value("repeated"):
            return await self.go_on(SetupStep.WELCOME)
        keeper_only(request)
        refused = await form.submit(lambda typed: self._security.change_password(request, typed))
        if refused is not None:
            return await self.show(request, SetupStep.WELCOME, status=refused.status, password=refused)
        await self._parts.progress.reach(SetupStep.LIBRARY)
        token = await self._parts.security.sessions.open()
        return give_session(self._pages, request, f"{PATH}/{SetupStep.LIBRARY}", token)

    async def library(self, request: Request) -> Response:
        """Add a folder: it is watched, and scanned at once."""
        typed = await fields_of(request)
        path = typed.get("path", "").strip()
        if not path:
            return await self.go_on(SetupStep.LIBRARY)
        form = LibraryForm({**LibraryForm.new(path).typed, "name": typed.get("name", "")}).named()

        async def store(wanted: LibraryForm) -> None:
            summary = await self._parts.libraries.create(path, wanted.settings())
            await self._parts.scans.submit_task(summary.library.id, TaskPriority.HIGH)

        refused = await form.submit(store)
        if refused is not None:
            listing = await self.listing(path)
            return await self.show(request, SetupStep.LIBRARY, status=refused.status, form=refused, listing=listing)
        # The next folder lies beside it, more often than not.
        beside = urlencode({"in": PurePath(path).parent})
        return self._pages.go(f"{PATH}/{SetupStep.LIBRARY}?{beside}")

    async def downloads(self, request: Request) -> Response:
        """The folder for downloads: tested first, and taken if its keeper knows what another disk costs."""
        typed = await fields_of(request)
        path = typed.get("path", "").strip()
        if not path:
            return await self.go_on(SetupStep.DOWNLOADS)
        form = SetupForm({"path": path})
        verdict = await self._parts.settings.trials["download_root"](path)
        is_accepted = verdict.is_good or typed.get("anyway") == CHECKED
        if is_accepted:
            try:
                await self._parts.settings.store.set("download_root", path)
            except SettingsRefused as error:
                problem = error.problems["download_root"]
                form = SetupForm({"path": path}, Problem("path", problem.text, problem.reason))
            else:
                # Before a feed is followed: its releases would go into the other folder.
                return await self.in_effect(await self.go_on(SetupStep.DOWNLOADS))
        listing = await self.listing(path)
        verdicts = {} if is_accepted else {"download_root": verdict}
        return await self.show(request, SetupStep.DOWNLOADS, status=422, form=form, listing=listing, verdicts=verdicts)

    async def metadata(self, request: Request) -> Response:
        """The index, fetched now and every week; and the key of TMDB, tested first."""
        typed = await fields_of(request)
        values: dict[str, object] = {"offline_ids_refresh": typed.get("index") == CHECKED}
        if key := typed.get("tmdb_key", "").strip():
            verdict = await self._parts.settings.trials["tmdb_key"](key)
            if not verdict.is_good and typed.get("anyway") != CHECKED:
                return await self.show(request, SetupStep.METADATA, status=422, verdicts={"tmdb_key": verdict})
            values["tmdb_key"] = key
        locked = {one.name for one in explain(self._parts.settings.store.current) if one.is_locked}
        await self._parts.settings.store.change({name: value for name, value in values.items() if name not in locked})
        if values["offline_ids_refresh"] and await self._parts.index.last_import() is None:
            await self._parts.index.begin_update()
        return await self.go_on(SetupStep.METADATA)

    async def downloader(self, request: Request) -> Response:
        """A client that runs already; without one, the built-in downloader does it."""
        form = await ConnectionForm.sent(request)
        if not form.value("url").strip():
            return await self.go_on(SetupStep.DOWNLOADER)
        try:
            await self._parts.connections.add(form)
        except InvalidInput as problem:
            refused = form.refused(problem)
            return await self.show(request, SetupStep.DOWNLOADER, status=refused.status, connection=refused)
        return await self.go_on(SetupStep.DOWNLOADER)

    async def first_show(self, _request: Request) -> Response:
        """The end."""
        return await self.go_on(SetupStep.SHOW)


_WITH_FOLDERS: Final = (SetupStep.LIBRARY, SetupStep.DOWNLOADS)


def router(pages: Pages, parts: SetupParts) -> Router:
    """The steps."""
    routes, desk = Router(), SetupDesk(pages, parts)
    answers: dict[SetupStep, Callable[[Request], Awaitable[Response]]] = {
        SetupStep.WELCOME: desk.welcome,
        SetupStep.LIBRARY: desk.library,
        SetupStep.DOWNLOADS: desk.downloads,
        SetupStep.METADATA: desk.metadata,
        SetupStep.DOWNLOADER: desk.downloader,
        SetupStep.SHOW: desk.first_show,
    }

    @routes.get(PATH)
    async def begin() -> Response:
        return pages.go(f"{PATH}/{await parts.progress.step()}")

    @routes.post(f"{PATH}/leave")
    async def leave() -> Response:
        return await desk.finish()

    @routes.get(f"{PATH}/{{name}}")
    async def ask(request: Request, name: str) -> Response:
        return await desk.show(request, _step(name))

    @routes.post(f"{PATH}/{{name}}")
    async def answer(request: Request, name: str) -> Response:
        return await answers[_step(name)](request)

    @routes.post(f"{PATH}/{{name}}/skip")
    async def skip(name: str) -> Response:
        return await desk.go_on(_step(name))

    return routes


def _step(name: str) -> SetupStep:
    try:
        return SetupStep(name)
    except ValueError:
        raise HTTPException(404) from None
