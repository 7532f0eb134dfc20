"""Metadata: posters, ids and the calendar, filled in in the background.

    handle ──► mailbox ──► actor ──► runner ──► sync ─┬─► sources   the offline index, TMDB, bgm.tv
                            │                         ├─► posters   pictures, kept here
                     every hour: a sync               └─► records   the database

A sync is a task of the queue like any other: it has progress and a history, can be cancelled, and goes on after a crash.
`health` says how the sources are, `missing` what a record lacks and why, `lookup` which title of TMDB is the one.

sources/        TMDB, bgm.tv, and the offline index
dumps/          files of other projects that a user imports into the index: names, franchises, episodes
posters/        pictures, kept here
stories/        what follows a sync: episodes, summaries, backdrops
franchises.py   which entries of the index are one story, and where each begins; episodes.py has lists of episodes
search.py       a title by its name, wherever it is known
messages.py     the messages of the actor, and its mailbox
pending.py      the records that a sync takes, and how it stores what it found
service.py      metadata records for the API and the pages: read, search and change them
single_flight.py work that several want at the same time is done once
"""

from kurabito.metadata.actor import MetadataActor
from kurabito.metadata.calendar import CalendarService
from kurabito.metadata.messages import (
    DownloadPoster,
    DownloadPosterBatch,
    MetadataHandle,
    MetadataMessage,
    Shutdown,
    TriggerSync,
)
from kurabito.metadata.pending import get_metadata_to_sync, needs_poster_sync, needs_tmdb_sync
from kurabito.metadata.posters.service import PosterService
from kurabito.metadata.runner import MetadataRunner
from kurabito.metadata.service import MetadataService

__all__ = [
    "CalendarService",
    "DownloadPoster",
    "DownloadPosterBatch",
    "MetadataActor",
    "MetadataHandle",
    "MetadataMessage",
    "MetadataRunner",
    "MetadataService",
    "PosterService",
    "Shutdown",
    "TriggerSync",
    "get_metadata_to_sync",
    "needs_poster_sync",
    "needs_tmdb_sync",
]
