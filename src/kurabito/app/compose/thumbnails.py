"""The parts of thumbnails over one open database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kurabito.db import Database
from kurabito.protocol.leased.thumbnails import THUMBS_FOLDER
from kurabito.settings import Settings
from kurabito.thumbnails.admission import Thumbnails
from kurabito.thumbnails.cleanup import Cleanups
from kurabito.thumbnails.file_server import Pictures
from kurabito.thumbnails.metrics import ThumbnailMetrics, measure
from kurabito.thumbnails.sweep import ThumbnailSweep


@dataclass(frozen=True, slots=True)
class ThumbnailParts:
    """What there is to ask about thumbnails."""

    thumbnails: Thumbnails
    pictures: Pictures
    cleanups: Cleanups
    sweeper: ThumbnailSweep
    measure: Callable[[], Awaitable[ThumbnailMetrics]]


def open_thumbnails(settings: Settings, database: Database) -> ThumbnailParts:
    """The thumbnails in the state folder."""
    folder = settings.state / THUMBS_FOLDER
    thumbnails = Thumbnails(database, capacity=settings.thumbnail_capacity)
    cleanups = Cleanups(database, delay=settings.thumbnail_cleanup_delay)
    return ThumbnailParts(
        thumbnails,
        Pictures(thumbnails, folder),
        cleanups,
        ThumbnailSweep(database, cleanups, folder),
        lambda: measure(database, thumbnails.capacity),
    )
