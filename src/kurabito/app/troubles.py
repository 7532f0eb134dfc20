"""Which parts of this process do not work at the moment, and why: for `/health`, the System page and the doctor."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kurabito.logs import get_logger
from kurabito.runtime import Worker
from kurabito.runtime.tasks.retry import Exponential
from kurabito.runtime.worker.failures import describe

FILE_NAME: Final = "troubles.json"
_EVERY: Final = 1.0
_BACKOFF: Final = Exponential(base=0.5, cap=30.0)
_HEALTHY_AFTER: Final = 60.0
_log = get_logger(__name__)

Trouble = Callable[[], str | None]
"""Says why a part does not work; None while it does."""


class Troubles:
    """The parts of one process that can say how they are.

    The doctor is another process and may not reach the database, so what there is to say also stands in a file.
    """

    def __init__(self, parts: Mapping[str, Trouble], file: Path) -> None:
        self._parts = dict(parts)
        self._file = file

    def now(self) -> dict[str, str]:
        """Why each part that does not work does not, by its name."""
        return {name: why for name, trouble in self._parts.items() if (why := trouble()) is not None}

    async def run(self) -> None:
        """Keep the file true until this is cancelled."""
        written: dict[str, str] | None = None
        try:
            while True:
                found = self.now()
                if found != written and await asyncio.to_thread(self._write, found):
                    written = found
                await asyncio.sleep(_EVERY)
        finally:
            self._file.unlink(missing_ok=True)

    def _write(self, found: dict[str, str]) -> bool:
        whole = self._file.with_suffix(".new")
        try:
            whole.write_text(json.dumps(found), encoding="utf-8")
            whole.replace(self._file)
        except OSError as problem:
            # A full disk, perhaps: then it is tried again.
            _log.warning("troubles cannot be written", file=str(self._file), problem=problem.strerror)
            return False
        return True


def read_troubles(state: Path) -> dict[str, str]:
    """What the process that serves this state wrote last; nothing when all is well, or was never written."""
    try:
        stored = json.loads((state / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(why) for name, why in stored.items()} if isinstance(stored, dict) else {}


class KeptWorker:
    """The worker of this process. One that fails is replaced, later and later: the site goes on meanwhile and says why."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._make = make
        self._worker: Worker | None = None
        self._failed: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why no tasks are run at the moment."""
        return self._worker.trouble if self._worker is not None else self._failed

    async def run(self) -> None:
        """Have a worker work until this is cancelled, then stop it in good order."""
        failures = 0
        while True:
            began = time.monotonic()
            self._worker = self._make()
            try:
                await self._worker.run()
                self._failed = "the worker has stopped"
            except Exception as problem:  # noqa: BLE001 - whatever ended it, another one may be able to work
                failures = 1 if time.monotonic() - began >= _HEALTHY_AFTER else failures + 1
                self._failed = describe(problem)
            self._worker = None
            wait = _BACKOFF(max(1, failures), RuntimeError(self._failed))
            _log.error("worker failed", why=self._failed, again_in=round(wait, 2))
            await asyncio.sleep(wait)
