"""Whether a downloader puts things where the core finds them: one side writes a file, the other has to see it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from kurabito.db import Database
from kurabito.downloads.dispatch.in_process import FindOurs
from kurabito.downloads.paths.probes import is_there, leave, new_probe, take_away
from kurabito.http.errors import BadAnswer, BadStatus
from kurabito.modules import services
from kurabito.modules.path_maps import mapped
from kurabito.modules.service_client import ServiceCalls
from kurabito.modules.services import Service
from kurabito.reasons import Reason

_PATH: Final = "/paths/test"
PROBLEM: Final = "problem"
"""The fact that has the error of either side; null where there was none."""


class PathReason(StrEnum):
    """What a test found; the value is the message's key below `path_reason`.

    The facts are `downloader`, the folder as both sides see it (`core_folder`, `downloader_folder`), and the `problem`, if any.
    """

    SAME_FOLDER = "same_folder"
    OTHER_FOLDER = "other_folder"
    READ_ONLY_THERE = "read_only_there"
    READ_ONLY_HERE = "read_only_here"
    UNTRIED = "untried"
    NO_TEST = "no_test"
    """The downloader does not know the test, and answered with `status`."""


@dataclass(frozen=True, slots=True)
class PathReport:
    """What came of a test. None is what could not be tried."""

    core_folder: str
    downloader_folder: str
    is_seen_by_downloader: bool | None
    is_seen_by_core: bool | None
    reason: Reason[PathReason]

    @property
    def is_good(self) -> bool:
        """Whether downloads are found."""
        return self.is_seen_by_core is True and self.is_seen_by_downloader is not False


class PathTests:
    """Tests the paths of downloaders; `root` is the folder for downloads, as the core sees it."""

    def __init__(self, database: Database, calls: ServiceCalls, root: Path, ours: FindOurs = lambda _: None) -> None:
        self._database = database
        self._calls = calls
        self._root = root
        self._ours = ours

    async def run(self, module_id: int) -> PathReport:
        """Test one downloader; raises ModuleNotFound, or OutboundError when it does not answer."""
        service = await self._database.read(lambda conn: services.find(conn, module_id))
        there = mapped(self._root, service.path_maps)
        ours, theirs = new_probe(), new_probe()
        problem = await asyncio.to_thread(self._leave, ours)
        try:
            answer = await self._ask(service, {"folder": there, "sees": None if problem else ours, "writes": theirs})
            seen = (
                None if answer.get("is_written") is not True else await asyncio.to_thread(is_there, self._root, theirs)
            )
            await self._ask(service, {"folder": there, "removes": theirs})
        except BadStatus as refused:
            if refused.answered not in (401, 403, 404, 405):
                raise
            return self._report(service, there, None, None, status=refused.answered)
        finally:
            await asyncio.to_thread(take_away, self._root, ours)
        noticed = None if problem else answer.get("is_seen") is True
        written = answer.get("problem")
        known = problem or (written if isinstance(written, str) else None)
        return self._report(service, there, noticed, seen, **{PROBLEM: known})

    def _leave(self, name: str) -> str | None:
        with suppress(OSError):
            self._root.mkdir(parents=True, exist_ok=True)
        return leave(self._root, name)

    async def _ask(self, service: Service, question: dict[str, Any]) -> dict[str, Any]:
        if self._ours(service.registration.instance_id) is not None:
            return await asyncio.to_thread(_seen_here, question)
        answer = await self._calls.post(service, _PATH, question)
        if not isinstance(answer, dict):
            raise BadAnswer(f"{service.registration.service_name} did not say what it sees")
        return answer

    def _report(
        self, service: Service, there: str, by_downloader: bool | None, by_core: bool | None, **known: Any
    ) -> PathReport:
        name, here = service.registration.service_name, str(self._root)
        code = _code_of(by_downloader, by_core) if "status" not in known else PathReason.NO_TEST
        reason = Reason(code, {"downloader": name, "core_folder": here, "downloader_folder": there, **known})
        return PathReport(here, there, by_downloader, by_core, reason)


def _seen_here(question: dict[str, Any]) -> dict[str, Any]:
    """The answer for a program that this process speaks to: what can be seen of its folder from here.

    One on another machine has folders that are not here, so nothing can be said about them.
    """
    folder = Path(question["folder"])
    if not folder.is_dir():
        raise BadStatus("the folder is not on this machine", HTTPStatus.NOT_FOUND)
    if (gone := question.get("removes")) is not None:
        take_away(folder, gone)
        return {}
    problem = leave(folder, question["writes"])
    sees = question["sees"]
    return {
        "is_seen": None if sees is None else is_there(folder, sees),
        "is_written": problem is None,
        "problem": problem,
    }


def _code_of(by_downloader: bool | None, by_core: bool | None) -> PathReason:
    match by_downloader, by_core:
        case True, True:
            return PathReason.SAME_FOLDER
        case True, None:
            return PathReason.READ_ONLY_THERE
        case None, True:
            return PathReason.READ_ONLY_HERE
        case None, None:
            return PathReason.UNTRIED
        case _:
            return PathReason.OTHER_FOLDER
