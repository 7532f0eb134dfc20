"""The tone of a status: what its colour means to the reader. The style sheet has one colour for each tone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kurabito.attention import Severity
from kurabito.catalog.states import SeriesState
from kurabito.contact import ContactHealth
from kurabito.downloads.health.downloaders import DownloaderHealth
from kurabito.downloads.health.progress import DownloadProgressState
from kurabito.downloads.history.entry import HistoryKind
from kurabito.feeds.health import FeedHealth
from kurabito.feeds.raw_items import RawStatus
from kurabito.indexers.model import IndexerHealth
from kurabito.library.status import LibraryStatus
from kurabito.notifications.model import DeliveryStatus
from kurabito.protocol.deletion import LogState
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.runtime import TaskState


class Tone(StrEnum):
    """The value is the name of the colour's variable in the style sheet."""

    GOOD = "good"
    ACTIVE = "active"
    WAITING = "waiting"
    WARNING = "warning"
    """It goes on, and the reader may want to look."""
    BAD = "bad"
    OFF = "off"
    """Ended or switched off on purpose."""


# By type: words of different types may be equal, and mean different things.
TONES: Final[Mapping[type[StrEnum], Mapping[str, Tone]]] = {
    TaskState: {
        TaskState.QUEUED: Tone.WAITING,
        TaskState.RUNNING: Tone.ACTIVE,
        TaskState.RETRY_SCHEDULED: Tone.WARNING,
        TaskState.SUCCEEDED: Tone.GOOD,
        TaskState.DEAD: Tone.BAD,
        TaskState.CANCELLED: Tone.OFF,
    },
    Severity: {
        Severity.OK: Tone.GOOD,
        Severity.NOTICE: Tone.ACTIVE,
        Severity.WARNING: Tone.WARNING,
        Severity.BROKEN: Tone.BAD,
    },
    LibraryStatus: {
        LibraryStatus.REMOVING: Tone.ACTIVE,
        LibraryStatus.REMOVAL_STOPPED: Tone.BAD,
        LibraryStatus.WAITING: Tone.WAITING,
        LibraryStatus.SCANNING: Tone.ACTIVE,
        LibraryStatus.HASHING: Tone.ACTIVE,
        LibraryStatus.NEVER_SCANNED: Tone.OFF,
        LibraryStatus.FAILED: Tone.BAD,
        LibraryStatus.CANCELLED: Tone.OFF,
        LibraryStatus.INCOMPLETE: Tone.WARNING,
        LibraryStatus.SCANNED: Tone.GOOD,
    },
    LogState: {
        LogState.INTENT: Tone.ACTIVE,
        LogState.DONE: Tone.GOOD,
        LogState.REFUSED: Tone.BAD,
        LogState.CHECKED: Tone.WAITING,
    },
    FilingStatus: {
        FilingStatus.PENDING: Tone.WAITING,
        FilingStatus.RUNNING: Tone.ACTIVE,
        FilingStatus.COMPLETED: Tone.GOOD,
        FilingStatus.FAILED: Tone.BAD,
        FilingStatus.CANCELLED: Tone.OFF,
    },
    IndexerHealth: {
        IndexerHealth.OFF: Tone.OFF,
        IndexerHealth.NEW: Tone.WAITING,
        IndexerHealth.HEALTHY: Tone.GOOD,
        IndexerHealth.LIMITED: Tone.WARNING,
        IndexerHealth.FAILING: Tone.BAD,
    },
    ContactHealth: {
        ContactHealth.OFF: Tone.OFF,
        ContactHealth.NEW: Tone.WAITING,
        ContactHealth.HEALTHY: Tone.GOOD,
        ContactHealth.FAILING: Tone.BAD,
    },
    DeliveryStatus: {
        DeliveryStatus.RETRYING: Tone.WARNING,
        DeliveryStatus.SENT: Tone.GOOD,
        DeliveryStatus.FAILED: Tone.BAD,
    },
    FeedHealth: {
        FeedHealth.PAUSED: Tone.OFF,
        FeedHealth.FINISHED: Tone.OFF,
        FeedHealth.FAILING: Tone.BAD,
        FeedHealth.NEW: Tone.WAITING,
        FeedHealth.INCOMPLETE: Tone.WARNING,
        FeedHealth.HEALTHY: Tone.GOOD,
    },
    RawStatus: {
        RawStatus.PARSED: Tone.GOOD,
        RawStatus.FAILED: Tone.BAD,
        RawStatus.SKIPPED: Tone.OFF,
    },
    SeriesState: {
        SeriesState.FOLLOWED: Tone.GOOD,
        SeriesState.ASKED: Tone.WARNING,
        SeriesState.IGNORED: Tone.OFF,
    },
    DownloaderHealth: {
        DownloaderHealth.HEALTHY: Tone.GOOD,
        DownloaderHealth.UNREACHABLE: Tone.BAD,
        DownloaderHealth.DISABLED: Tone.OFF,
    },
    HistoryKind: {
        HistoryKind.SEEN: Tone.WAITING,
        HistoryKind.TAKEN: Tone.ACTIVE,
        HistoryKind.SENT: Tone.ACTIVE,
        HistoryKind.COMPLETED: Tone.GOOD,
        HistoryKind.PLACED: Tone.GOOD,
        HistoryKind.UPGRADED: Tone.GOOD,
        HistoryKind.FAILED: Tone.BAD,
        HistoryKind.CANCELLED: Tone.OFF,
        HistoryKind.DELETED: Tone.OFF,
    },
    DownloadProgressState: {
        DownloadProgressState.PENDING: Tone.WAITING,
        DownloadProgressState.DOWNLOADING: Tone.ACTIVE,
        DownloadProgressState.METADATA: Tone.ACTIVE,
        DownloadProgressState.CHECKING: Tone.ACTIVE,
        DownloadProgressState.QUEUED: Tone.WAITING,
        DownloadProgressState.PAUSED: Tone.OFF,
        DownloadProgressState.STALLED: Tone.WARNING,
        DownloadProgressState.NO_ROOM: Tone.WARNING,
        DownloadProgressState.COMPLETED: Tone.GOOD,
        DownloadProgressState.FAILED: Tone.BAD,
        DownloadProgressState.CANCELLED: Tone.OFF,
        DownloadProgressState.DOWNLOADER_ERROR: Tone.BAD,
        DownloadProgressState.NO_DOWNLOADER: Tone.WARNING,
    },
}


def tone_of(status: StrEnum) -> Tone:
    """The tone of a status of any kind that pages show."""
    return TONES[type(status)][status]
