"""How far the set-up of a new installation is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.db import Connection, Database, Queries

_SQL: Final = Queries("kurabito.setup", "progress.sql")


class SetupStep(StrEnum):
    """What is asked, in this order. Each step can be skipped."""

    WELCOME = "welcome"
    """The language and the password."""
    LIBRARY = "library"
    DOWNLOADS = "downloads"
    METADATA = "metadata"
    DOWNLOADER = "downloader"
    SHOW = "show"

    @property
    def following(self) -> SetupStep | None:
        """The step after this one; None after the last."""
        steps = list(SetupStep)
        place = steps.index(self) + 1
        return steps[place] if place < len(steps) else None


class SetupProgress:
    """The set-up of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_over = False

    async def is_due(self) -> bool:
        """Whether it is offered: it was not finished, and nothing is there that a set-up would make."""
        if self._is_over:
            return False

        def look(conn: Connection) -> bool:
            row = conn.one(_SQL.progress)
            if row is None:
                return conn.one(_SQL.is_used) is None
            _, finished_at = row
            return finished_at is None

        is_due = await self._database.read(look)
        self._is_over = not is_due
        return is_due

    async def step(self) -> SetupStep:
        """Where to go on."""
        step, _ = await self._database.read(lambda conn: conn.one(_SQL.progress)) or (None, None)
        return SetupStep(step) if step in set(SetupStep) else SetupStep.WELCOME

    async def reach(self, step: SetupStep) -> None:
        """Go on here the next time."""
        await self._database.write(lambda conn: conn.run(_SQL.reach, {"step": step.value}))

    async def finish(self) -> None:
        """Never offer it again."""
        await self._database.write(lambda conn: conn.run(_SQL.finish, {"step": SetupStep.SHOW.value}))
        self._is_over = True
