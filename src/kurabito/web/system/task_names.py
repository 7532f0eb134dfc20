"""What tasks are called for people: "Scan of Films" rather than `library.scan`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple
from uuid import UUID

from markupsafe import Markup

from kurabito.catalog.identity.relink import KEEP as RELINK_IF_DUE
from kurabito.downloads.follow.standby import STAND_IN
from kurabito.downloads.tasks import POLL
from kurabito.downloads.wanted.search import EXPECT
from kurabito.errors import NotFound
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.tasks import CHECK, FETCH
from kurabito.library.media.readings import READ as READ_MEDIA
from kurabito.library.service import LibraryService
from kurabito.library.tasks import TASK_TYPES, library_of
from kurabito.maintenance.retention import TIDY
from kurabito.metadata.calendar import KEEP as KEEP_CALENDAR
from kurabito.metadata.sources.index import KEEP as KEEP_INDEX
from kurabito.notifications.watch import LOOK
from kurabito.placements.leftovers.tidy import TIDY as TIDY_DOWNLOADS
from kurabito.runtime import TaskRecord, TaskState
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.thumbnails.sweep import SWEEP
from kurabito.web.words import Words

ROUTINE: Final = frozenset(
    {
        POLL,
        CHECK,
        EXPECT,
        STAND_IN,
        TIDY,
        TIDY_DOWNLOADS,
        SWEEP,
        KEEP_CALENDAR,
        KEEP_INDEX,
        RELINK_IF_DUE,
        READ_MEDIA,
        LOOK,
    }
)
"""Polls and checks: they come every few minutes, and are of interest only when they fail."""

Named = Mapping[UUID, Markup]
"""What tasks are called, by their ids; a task of a type that is not ours has its type for a name."""
NameTasks = Callable[[Sequence[TaskRecord], Words], Awaitable[Named]]


class TaskRun(NamedTuple):
    """Tasks one after the other that are all of interest, or all routine."""

    is_routine: bool
    tasks: Sequence[TaskRecord]


def runs_of(tasks: Iterable[TaskRecord]) -> list[TaskRun]:
    """A list in its order, with what is routine apart, so that it can be folded away."""
    return [TaskRun(is_routine, list(run)) for is_routine, run in groupby(tasks, key=is_routine_task)]


def is_routine_task(task: TaskRecord) -> bool:
    """Whether it is a poll or a check that goes well."""
    return task.task_type in ROUTINE and task.state is not TaskState.DEAD


async def no_names(_tasks: Sequence[TaskRecord], _words: Words) -> Named:
    """Every task has its type for a name."""
    return {}


class TaskNames:
    """Names tasks, and what each is about."""

    def __init__(self, libraries: LibraryService, subscriptions: Subscriptions) -> None:
        self._libraries = libraries
        self._subscriptions = subscriptions

    async def of(self, tasks: Sequence[TaskRecord], words: Words) -> Named:
        """What these tasks are called in the reader's language."""
        ours = [task for task in tasks if words.catalogue.has(_key(task))]
        libraries, feeds = await asyncio.gather(self._names_of_libraries(ours), self._names_of_feeds(ours))
        return {task.id: _name(words, task, libraries, feeds) for task in ours}

    async def _names_of_libraries(self, tasks: Sequence[TaskRecord]) -> Mapping[int, str]:
        if all(task.task_type not in TASK_TYPES for task in tasks):
            return {}
        return {one.id: one.settings.name for one in (await self._libraries.by_id()).values()}

    async def _names_of_feeds(self, tasks: Sequence[TaskRecord]) -> Mapping[int, str]:
        found = {feed for task in tasks if (feed := _feed_of(task)) is not None}
        names = await asyncio.gather(*(self._name_of_feed(feed) for feed in found))
        return {feed: name for feed, name in zip(found, names, strict=True) if name is not None}

    async def _name_of_feed(self, subscription_id: int) -> str | None:
        try:
            return (await self._subscriptions.get(subscription_id)).settings.name
        except NotFound:
            return None


def _name(words: Words, task: TaskRecord, libraries: Mapping[int, str], feeds: Mapping[int, str]) -> Markup:
    about = libraries.get(library_of(task) or 0) if task.task_type in TASK_TYPES else feeds.get(_feed_of(task) or 0)
    if about is None or not words.catalogue.has(f"{_key(task)}_of"):
        return words.say(_key(task))
    return words.say(f"{_key(task)}_of", name=words.name(about))


def _key(task: TaskRecord) -> str:
    return f"task_name.{task.task_type.replace('.', '_')}"


def _feed_of(task: TaskRecord) -> int | None:
    """The feed that a task reads; None when its payload does not say."""
    if task.task_type != FETCH:
        return None
    try:
        found = json.loads(task.payload)["subscription_id"]
    except (ValueError, LookupError, TypeError):
        return None
    return found if type(found) is int and 0 <= found <= BIGGEST_ID else None
