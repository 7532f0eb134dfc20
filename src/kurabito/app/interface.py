"""The routes of the HTTP interface, each with the parts that it asks."""

from __future__ import annotations

from fastapi import APIRouter

from kurabito.access import Keys
from kurabito.api import (
    calendar,
    catalog,
    conflicts,
    downloads,
    duplicates,
    fetcher_results,
    filters,
    jobs,
    keys,
    libraries,
    matches,
    metadata,
    posters,
    previews,
    scan_tasks,
    services,
    subscriptions,
    thumbs,
    title_rules,
    trash,
    wal,
)
from kurabito.app.parts import Parts


def interface(parts: Parts, keys_of_programs: Keys) -> list[APIRouter]:
    """Every route but those that only the queue answers."""
    shelves, following, downloading, about, drawn = (
        parts.shelves,
        parts.following,
        parts.downloading,
        parts.about,
        parts.drawn,
    )
    return [
        libraries.router(shelves.libraries, shelves.removal, shelves.scans),
        scan_tasks.router(shelves.scans),
        jobs.router(shelves.jobs),
        keys.router(keys_of_programs),
        duplicates.router(parts.duplicates, parts.plans),
        trash.router(parts.trash),
        previews.router(following.previews),
        subscriptions.router(following.subscriptions),
        services.router(following.services, downloading.paths),
        fetcher_results.router(following.intake, following.services, following.subscriptions),
        catalog.router(parts.catalog),
        title_rules.router(parts.title_rules),
        metadata.router(about.service, about.actor.handle),
        calendar.router(about.calendar, about.entries),
        posters.router(about.posters),
        matches.router(about.matches),
        downloads.router(downloading.downloads, downloading.wanting),
        downloads.episodes_router(downloading.wanting),
        filters.router(downloading.filters),
        conflicts.router(downloading.conflicts),
        thumbs.router(drawn.thumbnails, drawn.pictures, drawn.cleanups, drawn.measure),
        wal.router(parts.checkpoints),
    ]
