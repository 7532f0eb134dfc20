"""What needs a person: one list, which each part of the program adds to.

A part says a code, facts, and an action that helps. Words are made where the list is shown, in the reader's language.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from kurabito.errors import KurabitoError
from kurabito.logs import get_logger, mask_text

_PATIENCE: Final = 5.0
# What changes while the trouble stays the same.
_DRIFTING: Final = frozenset({"free", "failures", "waiting", "has_more", "held_back"})
_KEY_LENGTH: Final = 16

_log = get_logger(__name__)


class Severity(StrEnum):
    """How grave it is."""

    OK = "ok"
    NOTICE = "notice"
    """Everything works; a decision waits for its keeper."""
    WARNING = "warning"
    """It works, and may not always."""
    BROKEN = "broken"


_GRAVEST_FIRST: Final = (Severity.BROKEN, Severity.WARNING, Severity.NOTICE, Severity.OK)


class AttentionPart(StrEnum):
    """What is asked how it is."""

    PROCESS = "process"
    DISK = "disk"
    DOWNLOADERS = "downloaders"
    DOWNLOADS = "downloads"
    FEEDS = "feeds"
    LIBRARIES = "libraries"
    METADATA = "metadata"
    MATCHES = "matches"
    CONFLICTS = "conflicts"
    PLACEMENTS = "placements"
    QUESTIONS = "questions"
    OFFSETS = "offsets"
    RELINKS = "relinks"
    INDEXERS = "indexers"
    WANTED = "wanted"
    NOTIFICATIONS = "notifications"
    SCHEMA = "schema"


class AttentionCode(StrEnum):
    """What is the matter. Stable: an interface translates it."""

    PART_FAILED = "part_failed"
    DATA_PLANE_MISSING = "data_plane_missing"
    DISK_FULL = "disk_full"
    DOWNLOADER_UNREACHABLE = "downloader_unreachable"
    DOWNLOADS_FAILED = "downloads_failed"
    DOWNLOADS_STALLED = "downloads_stalled"
    FEED_FAILING = "feed_failing"
    SCAN_FAILED = "scan_failed"
    SCAN_INCOMPLETE = "scan_incomplete"
    REMOVAL_STOPPED = "removal_stopped"
    INDEXER_FAILING = "indexer_failing"
    METADATA_SOURCE_FAILING = "metadata_source_failing"
    INDEX_MISSING = "index_missing"
    """Folders wait for a match, and most names are known once the ID index is there."""
    KEY_MISSING = "key_missing"
    """Shows are there, and TMDB cannot be asked for their posters."""
    SCHEMA_CHANGED = "schema_changed"
    """A newer version has updated the database while this one runs."""
    MATCHES_OPEN = "matches_open"
    CONFLICTS_OPEN = "conflicts_open"
    PLACEMENTS_FAILED = "placements_failed"
    FILING_WAITS = "filing_waits"
    """Downloads are complete, and a disk or a path that cannot be used keeps their files out of the libraries."""
    FILES_UNCLEAR = "files_unclear"
    QUESTIONS_OPEN = "questions_open"
    RELINKS_WAITING = "relinks_waiting"
    OFFSETS_MISSING = "offsets_missing"
    NOTIFICATIONS_FAILING = "notifications_failing"
    RELEASES_ASK = "releases_ask"
    """The best release of an episode is very large, or there is no room for it."""
    CHECK_FAILED = "check_failed"
    """A part could not say how it is."""


class ActionId(StrEnum):
    """What helps. Stable: an interface offers it."""

    READ_LOG = "read_log"
    START_DATA_PLANE = "start_data_plane"
    FREE_SPACE = "free_space"
    ASK_DOWNLOADERS = "ask_downloaders"
    FETCH_FEED = "fetch_feed"
    ALLOW_HOST = "allow_host"
    """The feed is in the keeper's own network, and its host is not allowed yet."""
    RETRY_DOWNLOADS = "retry_downloads"
    RETRY_FILING = "retry_filing"
    SCAN_LIBRARY = "scan_library"
    REMOVE_LIBRARY = "remove_library"
    TEST_INDEXER = "test_indexer"
    SYNC_METADATA = "sync_metadata"
    ENTER_KEY = "enter_key"
    RESTART = "restart"
    OPEN_MATCHES = "open_matches"
    OPEN_CONFLICTS = "open_conflicts"
    OPEN_DOWNLOADS = "open_downloads"
    FETCH_INDEX = "fetch_index"
    OPEN_QUESTIONS = "open_questions"
    CONFIRM_RELINKS = "confirm_relinks"
    OPEN_WANTED = "open_wanted"
    TEST_DESTINATION = "test_destination"


@dataclass(frozen=True, slots=True)
class AttentionAction:
    """What helps, and on what."""

    id: ActionId
    target: int | str | None = None
    """The id of the row, or the path, that it is about."""


Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionItem:
    """One thing that needs a person."""

    code: AttentionCode
    severity: Severity
    facts: Mapping[str, Fact] = field(default_factory=dict)
    since: datetime | None = None
    action: AttentionAction | None = None

    @property
    def part(self) -> str:
        """What it is about, in one word: the part that it names, else its own code."""
        return str(self.facts.get("part") or self.code)

    @property
    def key(self) -> str:
        """The same while it is the same trouble, no graver and no larger; another one once that changed."""
        facts = {name: fact for name, fact in self.facts.items() if name not in _DRIFTING}
        said = json.dumps([self.code, self.severity, facts], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:_KEY_LENGTH]


AttentionSource = Callable[[], Awaitable[Sequence[AttentionItem]]]
"""What one part has to say: nothing while all is well."""


class Attention:
    """Asks every part, and is not stopped by one that fails."""

    def __init__(self, sources: Mapping[str, AttentionSource]) -> None:
        self._sources = dict(sources)

    def of(self, *parts: str) -> Attention:
        """The same list, of these parts only."""
        return Attention({part: self._sources[part] for part in parts})

    async def list(self) -> Sequence[AttentionItem]:
        """Everything that needs a person, the gravest first."""
        found = await asyncio.gather(*(_ask(name, source) for name, source in self._sources.items()))
        return sorted((item for items in found for item in items), key=lambda item: _GRAVEST_FIRST.index(item.severity))


async def _ask(name: str, source: AttentionSource) -> Sequence[AttentionItem]:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await source()
    except Exception as problem:  # noqa: BLE001 - whatever stops one part from answering, the others are heard
        _log.warning("a part could not say how it is", part=name, exc_info=problem)
        # Our own errors are written to be read; what others say is for the log.
        why = mask_text(str(problem)) if isinstance(problem, KurabitoError) else type(problem).__name__
        return [
            AttentionItem(
                code=AttentionCode.CHECK_FAILED,
                severity=Severity.WARNING,
                facts={"part": name, "why": why},
                action=AttentionAction(ActionId.READ_LOG),
            )
        ]
