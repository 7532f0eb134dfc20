"""The copies of our own database, from the page."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kurabito.access.sessions import LIFETIME
from kurabito.access.tokens import digest
from kurabito.app.database import BACKUPS, prepare_database, sqlite_file
from kurabito.clock import SECOND, SystemClock
from kurabito.db.errors import NotADatabase
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.maintenance import backups
from kurabito.maintenance.backups import BackupFile
from kurabito.settings import Settings
from kurabito.settings.store import stored_settings

_TRIAL: Final = "trial-"
_SESSION: Final = "INSERT OR REPLACE INTO sessions (token_hash, created_at, seen_at, expires_at) VALUES (?, ?, ?, ?)"

_log = get_logger(__name__)


class OwnBackups:
    """Copies, and the way back through a restart."""

    def __init__(self, settings: Settings, restart: Callable[[Callable[[], object]], None]) -> None:
        self._settings = settings
        self._file = sqlite_file(settings)
        self._folder = settings.state / BACKUPS
        self._restart = restart
        self._trying = asyncio.Lock()
        self.has_copies = self._file is not None

    @property
    def last_problem(self) -> str | None:
        """Why the last restore of this process did not come about."""
        return _problems.get(str(self._folder))

    async def everything(self) -> list[BackupFile]:
        """The copies, the youngest first."""
        return await asyncio.to_thread(backups.described, self._folder)

    async def make(self) -> None:
        """Copy the database as it is now."""
        if self._file is not None:
            await asyncio.to_thread(backups.back_up, self._file, backups.fresh_name(self._folder, SystemClock().now()))

    async def restore(self, copy: BackupFile, session: str) -> None:
        """Begin again with this copy; raises KurabitoError if it cannot be used, before anything is changed."""
        # One after the other: they would try on the same file.
        async with self._trying:
            await asyncio.to_thread(self._try, copy.path)
        self._restart(lambda: self._replace(copy.path, session))

    def _try(self, copy: Path) -> None:
        """Do with a copy of the copy what the next start will do, and see whether it could go on."""
        for left in self._folder.glob(f"{_TRIAL}*"):
            # Of a process that was killed while it tried.
            shutil.rmtree(left)
        with TemporaryDirectory(prefix=_TRIAL, dir=self._folder) as name:
            folder = Path(name)
            trial, new = folder / "trial.db", folder / "new.db"
            backups.check_copy(copy)
            backups.back_up(copy, trial)
            try:
                for file in (trial, new):
                    prepare_database(self._at(file))
                backups.check_tables(copy, trial, new)
                stored_settings(self._at(trial))
            except ValueError as problem:
                raise NotADatabase(f"{copy} has settings that cannot be read: {problem}") from None

    def _at(self, file: Path) -> Settings:
        return self._settings.model_copy(update={"state": file.parent, "database": f"sqlite:///{file}"})

    def _replace(self, copy: Path, session: str) -> None:
        """Put the copy in the place of the database, and let the keeper who asked for it stay logged in."""
        assert self._file is not None
        _problems.pop(str(self._folder), None)
        now = SystemClock().now()
        try:
            # What is replaced can be restored in the same way.
            backups.back_up(self._file, backups.fresh_name(self._folder, now))
            backups.restore(copy, self._file, now)
            with closing(sqlite3.connect(self._file)) as restored, restored:
                restored.execute(_SESSION, (digest(session), now, now, now + LIFETIME * SECOND))
        except (KurabitoError, sqlite3.Error) as problem:
            _problems[str(self._folder)] = str(problem)
            _log.warning("the backup was not restored", backup=copy.name, problem=str(problem))
        else:
            _log.info("backup restored", backup=copy.name)


_problems: dict[str, str] = {}
"""Why the last restore in a folder did not come about: it outlives the restart in which that happened."""
