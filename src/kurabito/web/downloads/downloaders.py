"""The downloaders: how each is, which is asked first, where it sees our folders, and whether it is asked at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.downloads.health.downloaders import DownloaderHealths
from kurabito.downloads.paths.tests import PathReport, PathTests
from kurabito.errors import InvalidInput
from kurabito.modules.path_maps import PathMap
from kurabito.modules.registration import PRIORITIES
from kurabito.modules.services import Service
from kurabito.reasons import InputReason, refused
from kurabito.site.errors import status_of
from kurabito.web.forms import CHECKED, Form, id_of
from kurabito.web.pages import Pages

_PATH: Final = "/downloads/downloaders"
_ARROW: Final = "=>"


@dataclass(frozen=True, slots=True)
class DownloaderForm(Form):
    """What its keeper decides about a downloader: as it is now, or as it was filled in."""

    FIELDS = ("priority", "path_maps")

    @classmethod
    def of(cls, service: Service) -> DownloaderForm:
        maps = "\n".join(f"{one.core} {_ARROW} {one.downloader}" for one in service.path_maps)
        enabled = CHECKED if service.is_enabled else ""
        return cls({"priority": str(service.priority), "is_enabled": enabled, "path_maps": maps})

    def priority(self) -> int:
        """Raises InvalidInput."""
        text = self.value("priority")
        try:
            return int(text)
        except ValueError:
            message = f"must be a number from {PRIORITIES[0]} to {PRIORITIES[1]}, got {text[:20]!r}"
            least, most = PRIORITIES
            raise InvalidInput("priority", message, refused(InputReason.NUMBER, least=least, most=most)) from None

    def path_maps(self) -> list[PathMap] | None:
        """One a line; None when the form did not ask for them; raises InvalidInput."""
        if "path_maps" not in self.typed:
            return None
        return [_map(line) for line in self.value("path_maps").splitlines() if line.strip()]


def router(pages: Pages, downloaders: DownloaderHealths, paths: PathTests) -> APIRouter:
    """The downloaders, and what is decided about them."""
    routes = APIRouter()

    async def show(
        request: Request,
        *,
        forms: Mapping[int, DownloaderForm] | None = None,
        reports: Mapping[int, PathReport] | None = None,
        status: int = 200,
    ) -> Response:
        everyone = await downloaders.everyone()
        return pages.show(
            request,
            "downloaders.html",
            status=status,
            downloaders=everyone,
            forms={one.service.id: DownloaderForm.of(one.service) for one in everyone} | dict(forms or {}),
            reports=reports or {},
            policy=downloaders.policy,
            priorities=PRIORITIES,
        )

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        return await show(request)

    @routes.post(f"{_PATH}/{{module_id}}")
    async def change(request: Request, module_id: str) -> Response:
        form, known = await DownloaderForm.sent(request), id_of(module_id)
        try:
            await downloaders.services.change(
                known, priority=form.priority(), is_enabled=form.is_checked("is_enabled"), path_maps=form.path_maps()
            )
        except InvalidInput as problem:
            return await show(request, forms={known: form.refused(problem)}, status=status_of(problem))
        return pages.go(_PATH)

    @routes.get(f"{_PATH}/{{module_id}}/test")
    async def again() -> Response:
        # A reader who changes the language of what was tested comes by here.
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/{{module_id}}/test")
    async def test(request: Request, module_id: str) -> Response:
        known = id_of(module_id)
        return await show(request, reports={known: await paths.run(known)})

    @routes.post(f"{_PATH}/{{module_id}}/remove")
    async def remove(module_id: str) -> Response:
        await downloaders.services.remove(id_of(module_id))
        return pages.go(_PATH)

    return routes


def _map(line: str) -> PathMap:
    core, arrow, downloader = (part.strip() for part in line.partition(_ARROW))
    if not arrow:
        problem = f"must be lines like /srv/downloads {_ARROW} /downloads, got {line[:100]!r}"
        raise InvalidInput("path_maps", problem, refused(InputReason.PATH_MAP_LINE, line=line[:100]))
    return PathMap(core, downloader)
