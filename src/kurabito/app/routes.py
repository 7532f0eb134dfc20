"""The routes of the HTTP interface, each with the parts that it asks."""

from __future__ import annotations

from kurabito.access import Keys
from kurabito.api.downloads import blocklist, conflicts, downloads, filters, history, services
from kurabito.api.duplicates import duplicates, trash
from kurabito.api.finding import follow, indexers, profiles, releases, wanted
from kurabito.api.following import (
    catalog,
    corrections,
    fetcher_results,
    previews,
    questions,
    relinks,
    subscriptions,
    title_rules,
    wishes,
)
from kurabito.api.library import jobs, libraries, scan_tasks, thumbs
from kurabito.api.metadata import calendar, matches, posters, records, search, sources, stories
from kurabito.api.placements import adoption, imports, media_servers, naming, placements, renames
from kurabito.api.placements import questions as file_questions
from kurabito.api.shared import addresses, feeds
from kurabito.api.system import keys, notifications, wal
from kurabito.app.product import Product
from kurabito.site.routing import Router


def routes(product: Product, keys_of_programs: Keys) -> list[Router]:
    """Every route but those that only the queue answers."""
    return [
        *_library_routes(product),
        keys.router(keys_of_programs),
        *_feed_routes(product),
        *_metadata_routes(product),
        *_download_routes(product),
        naming.router(product.naming),
        adoption.router(product.adoptions),
        imports.router(product.imports),
        wal.router(product.checkpoints),
        notifications.router(product.notifications),
        addresses.router(product.shared_addresses),
        feeds.router(product.shared_addresses, product.airings, product.history),
    ]


def _library_routes(product: Product) -> list[Router]:
    library, thumbnails = product.library, product.thumbnails
    return [
        libraries.router(library.libraries, library.removal, library.scans, library.reports),
        scan_tasks.router(library.scans),
        jobs.router(library.jobs),
        duplicates.router(product.duplicates, product.plans, product.trash),
        trash.router(product.trash),
        thumbs.router(thumbnails.thumbnails, thumbnails.pictures, thumbnails.cleanups, thumbnails.measure),
    ]


def _feed_routes(product: Product) -> list[Router]:
    feeds = product.feeds
    return [
        previews.router(feeds.previews),
        subscriptions.router(feeds.subscriptions),
        services.router(feeds.services, product.downloads.paths, product.downloaders),
        fetcher_results.router(feeds.intake, feeds.services, feeds.subscriptions),
        wishes.router(product.catalog, product.series_edits),
        catalog.router(product.catalog),
        corrections.router(product.corrections, product.relinker),
        questions.router(product.questions, product.catalog),
        relinks.router(product.relinker),
        title_rules.router(product.title_rules),
        indexers.router(feeds.indexers),
        releases.router(product.search, product.grabs),
        profiles.router(product.profiles),
        wanted.router(product.wanted),
        follow.router(product.search, product.follower),
    ]


def _metadata_routes(product: Product) -> list[Router]:
    metadata = product.metadata
    return [
        # Before the records: their paths end in an id.
        sources.router(metadata.sources, metadata.index),
        search.router(metadata.search, metadata.matches),
        records.router(metadata.service, metadata.actor.handle, metadata.sources, metadata.posters),
        stories.router(metadata.stories),
        calendar.router(metadata.calendar, metadata.entries),
        posters.router(metadata.posters),
        matches.router(metadata.matches),
    ]


def _download_routes(product: Product) -> list[Router]:
    parts = product.downloads
    return [
        downloads.router(parts.downloads, parts.wanting),
        downloads.episodes_router(parts.wanting),
        filters.router(parts.filters),
        conflicts.router(parts.conflicts),
        blocklist.router(parts.blocklist),
        history.router(product.history),
        placements.router(product.placements),
        file_questions.router(product.file_questions),
        renames.router(product.renames),
        media_servers.router(product.media_servers),
    ]
