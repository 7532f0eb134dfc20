"""The routes of the HTTP interface, each with the parts that it asks."""

from __future__ import annotations

from fastapi import APIRouter

from kurabito.access import Keys
from kurabito.api.downloads import conflicts, downloads, filters, services
from kurabito.api.duplicates import duplicates, trash
from kurabito.api.following import catalog, fetcher_results, previews, subscriptions, title_rules
from kurabito.api.library import jobs, libraries, scan_tasks, thumbs
from kurabito.api.metadata import calendar, matches, posters, records
from kurabito.api.system import keys, wal
from kurabito.app.product import Product


def routes(parts: Product, keys_of_programs: Keys) -> list[APIRouter]:
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
        records.router(about.service, about.actor.handle),
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
