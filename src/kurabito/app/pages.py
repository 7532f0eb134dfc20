"""The pages over the product, each with the parts that it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fastapi import APIRouter

from kurabito.app.product import Product
from kurabito.downloads.search.running import RunningSearches
from kurabito.downloads.summaries import DownloadSummaries
from kurabito.library.duplicates.reclaimable import Reclaimable
from kurabito.library.folders import Folders
from kurabito.web.downloads import (
    blocklist,
    conflicts,
    downloaders,
    downloads,
    file_questions,
    placements,
    rule_moves,
    rules,
)
from kurabito.web.downloads.scopes import Scopes
from kurabito.web.duplicates import duplicates, plans, trash
from kurabito.web.finding import groups, indexers, profiles, search, wanted
from kurabito.web.following import follow, following, title_rules
from kurabito.web.library import adoption, folders, library, naming, renames
from kurabito.web.pages import Pages
from kurabito.web.shows import calendar, choose, corrections, matches, questions, record, series

PageRoutes = Callable[[Pages], APIRouter]


def pages(product: Product) -> list[PageRoutes]:
    """Every page but those that only the queue is behind."""
    return [
        *_library_pages(product),
        *_feed_pages(product),
        *_metadata_pages(product),
        *_download_pages(product),
    ]


def _library_pages(product: Product) -> Iterator[PageRoutes]:
    libraries = product.library.libraries
    yield partial(
        library.router,
        libraries=libraries,
        removal=product.library.removal,
        scans=product.library.scans,
        reports=product.library.reports,
    )
    yield partial(folders.router, libraries=libraries, folders=Folders(product.database))
    yield partial(naming.router, libraries=libraries, naming=product.naming)
    yield partial(renames.router, libraries=libraries, renames=product.renames)
    yield partial(adoption.router, adoptions=product.adoptions, imports=product.imports, catalog=product.catalog)
    yield partial(
        duplicates.router,
        libraries=libraries,
        duplicates=product.duplicates,
        reclaimable=Reclaimable(product.database),
        plans=product.plans,
    )
    yield partial(plans.router, libraries=libraries, plans=product.plans)
    yield partial(trash.router, libraries=libraries, trash=product.trash)


def _feed_pages(product: Product) -> Iterator[PageRoutes]:
    feeds, catalog = product.feeds, product.catalog
    yield partial(indexers.router, indexers=feeds.indexers)
    running = RunningSearches(product.search)
    yield partial(search.router, search=product.search, running=running, grabs=product.grabs)
    yield partial(groups.router, search=product.search, running=running, follower=product.follower)
    yield partial(wanted.router, wanted=product.wanted, catalog=catalog, grabs=product.grabs)
    yield partial(title_rules.router, rules=product.title_rules)
    yield partial(follow.router, subscriptions=feeds.subscriptions, previews=feeds.previews, catalog=catalog)
    # After those whose addresses begin like its own.
    yield partial(
        following.router, subscriptions=feeds.subscriptions, catalog=catalog, summaries=product.catalog_summaries
    )
    yield partial(
        series.router,
        catalog=catalog,
        summaries=product.catalog_summaries,
        metadata=product.metadata.service,
        downloads=DownloadSummaries(product.database),
        corrections=product.corrections,
        libraries=product.library.libraries,
    )
    yield partial(corrections.router, catalog=catalog, corrections=product.corrections)
    yield partial(
        questions.router,
        questions=product.questions,
        relinker=product.relinker,
        catalog=catalog,
        placements=product.placements,
    )


def _metadata_pages(product: Product) -> Iterator[PageRoutes]:
    metadata, queue = product.metadata, product.queue
    yield partial(
        calendar.router,
        calendar=metadata.calendar,
        entries=metadata.entries,
        sources=metadata.sources,
        index=metadata.index,
        summaries=product.catalog_summaries,
        queue=queue,
    )
    yield partial(
        record.router,
        metadata=metadata.service,
        stories=metadata.stories,
        sources=metadata.sources,
        handle=metadata.actor.handle,
        queue=queue,
    )
    yield partial(choose.router, matches=metadata.matches, search=metadata.search, catalog=product.catalog)
    yield partial(
        matches.router,
        matches=metadata.matches,
        metadata=metadata.service,
        calendar=metadata.calendar,
        libraries=product.library.libraries,
        catalog=product.catalog,
        questions=product.questions,
        queue=queue,
    )


def _download_pages(product: Product) -> Iterator[PageRoutes]:
    parts, feeds = product.downloads, product.feeds
    yield partial(profiles.router, profiles=product.profiles, catalog=product.catalog)
    yield partial(
        rules.router,
        filters=parts.filters,
        scopes=Scopes(product.catalog, product.catalog_summaries, feeds.subscriptions, feeds.services),
    )
    yield partial(rule_moves.router, filters=parts.filters)
    yield partial(conflicts.router, conflicts=parts.conflicts)
    yield partial(blocklist.router, blocklist=parts.blocklist)
    yield partial(placements.router, placements=product.placements)
    yield partial(file_questions.router, questions=product.file_questions)
    yield partial(downloaders.router, downloaders=product.downloaders, paths=parts.paths)
    # After those whose addresses begin like its own.
    yield partial(
        downloads.router,
        downloads=parts.downloads,
        wanting=parts.wanting,
        conflicts=parts.conflicts,
        downloaders=product.downloaders,
        catalog=product.catalog,
        placements=product.placements,
    )
