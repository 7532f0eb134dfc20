"""Judges a range of links: reads their titles again, and says which of them belong elsewhere. Nothing is written.

Reading a title is what takes long. Where there are many, processes beside this one do it, one for each core and at a low
priority, so that requests are answered meanwhile as fast as ever; a few are judged by a thread.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection as Pipe
from typing import Any, Final, NamedTuple, Protocol

from kurabito.catalog import rules
from kurabito.catalog.errors import RelinkFailed
from kurabito.catalog.releases import Release, read_title_again
from kurabito.catalog.relinks import judge_process
from kurabito.catalog.relinks.places import LinkMove, moves_of
from kurabito.catalog.relinks.scope import LinkRange, touched
from kurabito.db import Connection, Database, open_database
from kurabito.titles import TitleRule

_ENDING_TAKES: Final = 5.0
_IN_A_MESSAGE: Final = 100


class JudgedLinks(NamedTuple):
    """What came of it."""

    read: int
    moves: list[LinkMove]

    def parts(self) -> Iterator[JudgedLinks]:
        """The same in small messages: the threads of a process stand still while one of them unpacks a message."""
        yield JudgedLinks(self.read, self.moves[:_IN_A_MESSAGE])
        for start in range(_IN_A_MESSAGE, len(self.moves), _IN_A_MESSAGE):
            yield JudgedLinks(0, self.moves[start : start + _IN_A_MESSAGE])


class LinkJudge(Protocol):
    """Judges one range after the other."""

    async def judge(self, links: LinkRange) -> JudgedLinks: ...


def judge_range(conn: Connection, links: LinkRange) -> JudgedLinks:
    """Which links of a range belong elsewhere."""
    found = touched(conn, links)
    read = _read({link.title for link in found}, rules.enabled(conn))
    return JudgedLinks(len(found), moves_of(conn, found, read))


def _read(titles: set[str], title_rules: Sequence[TitleRule]) -> dict[str, Release]:
    """What titles say now; a batch has many links and one title."""
    read = ((title, read_title_again(title, title_rules)) for title in titles)
    return {title: release for title, release in read if release is not None}


class ThreadJudge:
    """Judges in a thread of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def judge(self, links: LinkRange) -> JudgedLinks:
        return await self._database.read(partial(judge_range, links=links))


class ProcessJudge:
    """Judges in another process, which is asked through a pipe."""

    def __init__(self, pipe: Pipe[Any, Any]) -> None:
        self._pipe = pipe

    async def judge(self, links: LinkRange) -> JudgedLinks:
        """Raises RelinkFailed when the process could not, or ended in the middle of it."""
        return await asyncio.to_thread(self._ask, links)

    def _ask(self, links: LinkRange) -> JudgedLinks:
        try:
            self._pipe.send(links)
            read, moves = 0, list[LinkMove]()
            while isinstance(said := self._pipe.recv(), JudgedLinks):
                read += said.read
                moves += said.moves
        except (EOFError, OSError) as lost:
            raise RelinkFailed(
                "the process that reads links again ended in the middle of its work; was the machine out of memory?"
            ) from lost
        if said is not None:
            raise RelinkFailed(f"{len(links.ids):,} links could not be read again: {said}")
        return JudgedLinks(read, moves)

    def close(self) -> None:
        """Ask for nothing more; its process ends then."""
        self._pipe.close()


class JudgeProcesses:
    """Processes that judge, and end with this one: the first loads what they judge by, and the others are copies of it."""

    def __init__(self, url: str, count: int) -> None:
        # Not a fork of this process, whose threads it would lack.
        context = multiprocessing.get_context("forkserver")
        pipes = [context.Pipe() for _ in range(count)]
        self.judges = [ProcessJudge(ours) for ours, _ in pipes]
        self._process = context.Process(
            target=judge_process.main, args=([theirs for _, theirs in pipes], url), name="kurabito-relink", daemon=True
        )
        self._process.start()
        for _, theirs in pipes:
            theirs.close()

    @property
    def first_pid(self) -> int:
        """Of the first of them."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    def end(self) -> None:
        """End them, also in the middle of their work: they only read."""
        self._process.terminate()
        self._process.join(_ENDING_TAKES)
        if self._process.exitcode is None:
            # Before it has a group of its own it has no copies either.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.first_pid, signal.SIGKILL)
            self._process.kill()
            self._process.join(_ENDING_TAKES)
        for judge in self.judges:
            judge.close()


@asynccontextmanager
async def open_judges(database: Database, url: str | None, ranges: int) -> AsyncIterator[Sequence[LinkJudge]]:
    """As many judges as are worth their start for so many ranges; without the URL of the database, a thread."""
    if url is None or ranges == 1:
        yield [ThreadJudge(database)]
        return
    processes = await asyncio.to_thread(JudgeProcesses, url, min(ranges, _cores()))
    try:
        yield processes.judges
    finally:
        await asyncio.to_thread(processes.end)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answer(pipe: Pipe[Any, Any], url: str) -> None:
    """Judge what is asked for, until the pipe ends: with the one who asks. What came of it ends with None, or with what went wrong."""
    database = open_database(url, create=False)
    database.open()
    with suppress(EOFError, OSError):
        while True:
            asked = pipe.recv()
            try:
                judged = database.read_blocking(partial(judge_range, links=asked))
            except Exception as problem:  # noqa: BLE001 - told to the one who asked
                pipe.send(f"{type(problem).__name__}: {problem}")
            else:
                for part in judged.parts():
                    pipe.send(part)
                pipe.send(None)
    database.close()
