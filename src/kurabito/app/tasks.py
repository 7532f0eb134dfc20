"""Every task of the product, and what follows what."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from kurabito.access import Sessions
from kurabito.catalog.matching.service import MATCH
from kurabito.downloads.wanted.search import EXPECT
from kurabito.feeds.tasks import FETCH
from kurabito.library.deletion.trash import Trash
from kurabito.library.media.readings import READ as READ_MEDIA
from kurabito.library.tasks import HASH, SCAN, hash_key
from kurabito.maintenance.retention import Retention
from kurabito.metadata.sources.index import UPDATE
from kurabito.metadata.stories.refresh import STORIES
from kurabito.runtime import Queue, Registry
from kurabito.runtime.tasks.followups import FollowUp, declare

FOLLOW_UPS: Final = (
    FollowUp(
        after=SCAN,
        then=HASH,
        why="only what a scan found can be read and compared",
        payloads=lambda result: [{"library_id": result["library_id"]}],
        unique_key=hash_key,
    ),
    FollowUp(
        after=SCAN,
        then=MATCH,
        why="what is not known here may be known elsewhere, and no task should wait for that",
        payloads=lambda result: [None] if result["failed_scrape_count"] else [],
        unique_key=lambda _payload: MATCH,
    ),
    FollowUp(
        after=SCAN,
        then=READ_MEDIA,
        why="what is in a new film is read once it is known, and nothing waits for that",
        payloads=lambda _result: [None],
        unique_key=lambda _payload: READ_MEDIA,
    ),
    FollowUp(
        after=FETCH,
        then=MATCH,
        why="a series that came with a feed has its record before its first file is named by it",
        payloads=lambda result: [None] if result.new else [],
        unique_key=lambda _payload: MATCH,
    ),
    FollowUp(
        after=UPDATE,
        then=MATCH,
        why="a new index knows folders that were scanned before it came",
        payloads=lambda _result: [None],
        unique_key=lambda _payload: MATCH,
    ),
    FollowUp(
        after=STORIES,
        then=EXPECT,
        why="a list of episodes says which of them were shown, and are wanted",
        payloads=lambda _result: [None],
        unique_key=lambda _payload: EXPECT,
    ),
)
"""What follows what in the product, and why."""


class TaskSource(Protocol):
    """Something that has tasks to run."""

    def join(self, registry: Registry) -> None:
        """Register them."""
        ...


def product_registry(queue: Queue, sessions: Sessions, backups: Path, trash: Trash, *others: TaskSource) -> Registry:
    """The handlers and schedules that the control plane runs."""
    registry = Registry()
    parts: tuple[TaskSource, ...] = (Retention(queue, sessions, backups), trash, *others)
    for part in parts:
        part.join(registry)
    # What follows the tasks of a library is for the reconciler to ask for: no handler here runs those.
    declare(registry, (link for link in FOLLOW_UPS if registry.handler(link.after) is not None))
    return registry
