"""The pages over the product's parts, each with those that it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from fastapi import APIRouter

from kurabito.app.product import Product
from kurabito.downloads.summaries import DownloadSummaries
from kurabito.library.duplicates.reclaimable import Reclaimable
from kurabito.library.folders import Folders
from kurabito.settings import Settings
from kurabito.web.downloads import conflicts, downloaders, downloads, rule_moves, rules
from kurabito.web.downloads.presence import DownloaderHealths, Habits
from kurabito.web.downloads.scopes import Scopes
from kurabito.web.duplicates import duplicates, plans, trash
from kurabito.web.following import follow, following, title_rules
from kurabito.web.library import folders, library
from kurabito.web.library.standing import Standings
from kurabito.web.pages import Pages
from kurabito.web.shows import calendar, matches, record, series

Page = Callable[[Pages], APIRouter]


def pages(parts: Product, settings: Settings) -> list[Page]:
    """Every page but those that only the queue is behind."""
    return [*_kept(parts), *_followed(parts), *_known(parts), *_downloaded(parts, settings)]


def _kept(parts: Product) -> Iterator[Page]:
    shelves = parts.shelves
    yield partial(
        library.router,
        libraries=shelves.libraries,
        removal=shelves.removal,
        scans=shelves.scans,
        standings=Standings(shelves.libraries, shelves.removal, shelves.scans, shelves.jobs, parts.planes),
    )
    yield partial(folders.router, libraries=shelves.libraries, folders=Folders(parts.database))
    yield partial(
        duplicates.router,
        libraries=shelves.libraries,
        duplicates=parts.duplicates,
        waste=Reclaimable(parts.database),
        plans=parts.plans,
    )
    yield partial(plans.router, libraries=shelves.libraries, plans=parts.plans)
    yield partial(trash.router, libraries=shelves.libraries, trash=parts.trash)


def _followed(parts: Product) -> Iterator[Page]:
    subscriptions, known = parts.following.subscriptions, parts.catalog
    yield partial(title_rules.router, rules=parts.title_rules)
    yield partial(follow.router, subscriptions=subscriptions, previews=parts.following.previews, catalog=known)
    # After those whose addresses begin like its own.
    yield partial(following.router, subscriptions=subscriptions, catalog=known, glances=parts.glances)
    yield partial(
        series.router,
        catalog=known,
        glances=parts.glances,
        metadata=parts.about.service,
        downloads=DownloadSummaries(parts.database),
    )


def _known(parts: Product) -> Iterator[Page]:
    about, queue = parts.about, parts.queue
    yield partial(calendar.router, calendar=about.calendar, entries=about.entries, glances=parts.glances, queue=queue)
    yield partial(record.router, metadata=about.service, handle=about.actor.handle, queue=queue)
    yield partial(
        matches.router,
        matches=about.matches,
        metadata=about.service,
        calendar=about.calendar,
        libraries=parts.shelves.libraries,
        catalog=parts.catalog,
        queue=queue,
    )


def _downloaded(parts: Product, settings: Settings) -> Iterator[Page]:
    downloading, services = parts.downloading, parts.following.services
    present = DownloaderHealths(parts.database, services, downloading.downloads, _habits(settings))
    yield partial(
        rules.router,
        filters=downloading.filters,
        scopes=Scopes(parts.catalog, parts.glances, parts.following.subscriptions, services),
    )
    yield partial(rule_moves.router, filters=downloading.filters)
    yield partial(conflicts.router, conflicts=downloading.conflicts)
    yield partial(downloaders.router, downloaders=present, paths=downloading.paths)
    # After those whose addresses begin like its own.
    yield partial(
        downloads.router,
        downloads=downloading.downloads,
        wanting=downloading.wanting,
        conflicts=downloading.conflicts,
        downloaders=present,
        catalog=parts.catalog,
    )


def _habits(settings: Settings) -> Habits:
    elsewhere = settings.elsewhere_minutes
    return Habits(
        timedelta(seconds=settings.download_poll_interval),
        None if elsewhere is None else timedelta(minutes=elsewhere),
    )
