"""Whether a downloader puts things where the core finds them: one side writes a file, the other has to see it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kurabito.db import Database
from kurabito.downloads.path_probes import is_there, leave, new_probe, take_away
from kurabito.http.errors import BadAnswer, BadStatus
from kurabito.modules import services
from kurabito.modules.calling import ServiceCalls
from kurabito.modules.path_maps import mapped
from kurabito.modules.services import Service

_PATH: Final = "/paths/test"


@dataclass(frozen=True, slots=True)
class PathReport:
    """What came of a test. None is what could not be tried."""

    core_folder: str
    downloader_folder: str
    is_seen_by_downloader: bool | None
    is_seen_by_core: bool | None
    message: str

    @property
    def is_good(self) -> bool:
        """Whether downloads are found."""
        return self.is_seen_by_core is True and self.is_seen_by_downloader is not False


class PathTests:
    """Tests the paths of downloaders; `root` is the folder for downloads, as the core sees it."""

    def __init__(self, database: Database, calls: ServiceCalls, root: Path) -> None:
        self._database = database
        self._calls = calls
        self._root = root

    async def run(self, module_id: int) -> PathReport:
        """Test one downloader; raises ModuleNotFound, or OutboundError when it does not answer."""
        service = await self._database.read(lambda conn: services.find(conn, module_id))
        there = mapped(self._root, service.path_maps)
        ours, theirs = new_probe(), new_probe()
        problem = await asyncio.to_thread(self._leave, ours)
        try:
            said = await self._ask(service, {"folder": there, "sees": None if problem else ours, "writes": theirs})
            seen = None if said.get("is_written") is not True else await asyncio.to_thread(is_there, self._root, theirs)
            await self._ask(service, {"folder": there, "removes": theirs})
        except BadStatus as refused:
            if refused.answered not in (401, 403, 404, 405):
                raise
            return self._report(service, there, None, None, f"it cannot test paths ({refused.answered})")
        finally:
            await asyncio.to_thread(take_away, self._root, ours)
        noticed = None if problem else said.get("is_seen") is True
        written = said.get("problem")
        return self._report(service, there, noticed, seen, problem or (written if isinstance(written, str) else None))

    def _leave(self, name: str) -> str | None:
        with suppress(OSError):
            self._root.mkdir(parents=True, exist_ok=True)
        return leave(self._root, name)

    async def _ask(self, service: Service, question: dict[str, Any]) -> dict[str, Any]:
        answer = await self._calls.post(service, _PATH, question)
        if not isinstance(answer, dict):
            raise BadAnswer(f"{service.registration.service_name} did not say what it sees")
        return answer

    def _report(
        self, service: Service, there: str, by_downloader: bool | None, by_core: bool | None, problem: str | None
    ) -> PathReport:
        message = _in_words(service.registration.service_name, str(self._root), there, by_downloader, by_core, problem)
        return PathReport(str(self._root), there, by_downloader, by_core, message)


def _in_words(
    name: str, here: str, there: str, by_downloader: bool | None, by_core: bool | None, problem: str | None
) -> str:
    said = f" ({problem})" if problem else ""
    match by_downloader, by_core:
        case True, True:
            return f"Both see the same folder: {here} here, {there} at {name}."
        case True, None:
            return f"{name} sees {here} as {there}, but cannot write there{said}. Let it write into that folder."
        case None, True:
            return f"What {name} writes into {there} is seen here in {here}, but nothing can be written here{said}."
        case None, None:
            return f"Whether {name} sees {here} could not be tried: {problem or 'neither side can write'}."
        case _:
            return (
                f"{name} has another folder at {there} than the one that is {here} here{said}. Set a path map from {here} "
                f"to where {name} has it, or mount the same folder on both sides."
            )
