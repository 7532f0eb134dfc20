"""The pages over the product, each with the parts that it shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from kurabito.app.compose.downloads import download_root
from kurabito.app.compose.fixes import PollOnSight, open_fixes
from kurabito.app.product import Product
from kurabito.downloads.search.live_searches import RunningSearches
from kurabito.downloads.summaries import DownloadSummaries
from kurabito.library.duplicates.reclaimable import Reclaimable
from kurabito.library.folders import Folders
from kurabito.maintenance.disk_space import DiskReport
from kurabito.maintenance.notices import NoticeBoard
from kurabito.placements.file_story import FileStories
from kurabito.settings import Settings
from kurabito.site.routing import Router
from kurabito.web.downloads import (
    blocklist,
    conflicts,
    downloaders,
    downloads,
    file_questions,
    history,
    placements,
    rule_moves,
    rules,
    shared_addresses,
)
from kurabito.web.downloads.scopes import Scopes
from kurabito.web.duplicates import duplicates, plans, trash
from kurabito.web.finding import groups, indexers, profiles, search, wanted
from kurabito.web.following import follow, following, title_rules
from kurabito.web.home import home
from kurabito.web.library import adoption, file, folders, library, media_servers, naming, renames
from kurabito.web.pages import Pages
from kurabito.web.shows import agenda, calendar, choose, corrections, find, matches, questions, record, series, wall
from kurabito.web.system import notifications

PageRoutes = Callable[[Pages], Router]


def pages(product: Product, sight: PollOnSight) -> list[PageRoutes]:
    """Every page but those that only the queue is behind."""
    return [
        *_library_pages(product),
        *_feed_pages(product),
        *_metadata_pages(product),
        *_download_pages(product, sight),
        partial(notifications.router, notifications=product.notifications),
    ]


def home_page(
    settings: Settings,
    product: Product,
    board: NoticeBoard,
    sight: PollOnSight,
    is_setting_up: Callable[[], Awaitable[bool]],
) -> PageRoutes:
    """The first page."""
    parts = home.HomeParts(
        board,
        product.catalog,
        product.catalog_summaries,
        product.metadata.service,
        product.downloads.downloads,
        product.library.libraries,
        DiskReport(),
        (download_root(settings), settings.state),
        open_fixes(product),
        sight.look,
        is_setting_up,
    )
    return partial(home.router, parts=parts)


def _library_pages(product: Product) -> Iterator[PageRoutes]:
    libraries = product.library.libraries
    yield partial(
        library.router,
        libraries=libraries,
        removal=product.library.removal,
        scans=product.library.scans,
        reports=product.library.reports,
    )
    yield partial(
        folders.router,
        parts=folders.FolderParts(
            libraries,
            Folders(product.database),
            product.catalog,
            product.catalog_summaries,
            product.metadata.service,
        ),
    )
    yield partial(
        file.router,
        parts=file.FileParts(
            FileStories(product.database),
            libraries,
            product.catalog,
            product.metadata.service,
            product.duplicates,
            product.media,
            product.discards,
        ),
    )
    yield partial(naming.router, libraries=libraries, naming=product.naming)
    yield partial(renames.router, libraries=libraries, renames=product.renames)
    yield partial(media_servers.router, servers=product.media_servers)
    yield partial(
        adoption.router,
        adoptions=product.adoptions,
        imports=product.imports,
        catalog=product.catalog,
        summaries=product.catalog_summaries,
        libraries=libraries,
    )
    yield partial(
        duplicates.router,
        libraries=libraries,
        duplicates=product.duplicates,
        reclaimable=Reclaimable(product.database),
        plans=product.plans,
    )
    yield partial(plans.router, libraries=libraries, plans=product.plans, trash=product.trash)
    yield partial(trash.router, libraries=libraries, trash=product.trash)


def _feed_pages(product: Product) -> Iterator[PageRoutes]:
    feeds, catalog = product.feeds, product.catalog
    yield partial(indexers.router, indexers=feeds.indexers)
    running = RunningSearches(product.search)
    yield partial(search.router, search=product.search, running=running, grabs=product.grabs)
    yield partial(groups.router, search=product.search, running=running, follower=product.follower)
    yield partial(
        wanted.router,
        wanted=product.wanted,
        wanting=product.downloads.wanting,
        catalog=catalog,
        metadata=product.metadata.service,
        grabs=product.grabs,
    )
    yield partial(title_rules.router, rules=product.title_rules)
    yield partial(follow.router, subscriptions=feeds.subscriptions, previews=feeds.previews, catalog=catalog)
    # After those whose addresses begin like its own.
    yield partial(
        following.router,
        subscriptions=feeds.subscriptions,
        catalog=catalog,
        summaries=product.catalog_summaries,
        metadata=product.metadata.service,
    )
    yield partial(
        wall.router,
        catalog=catalog,
        parts=wall.WallParts(
            product.catalog_summaries,
            product.metadata.service,
            product.library.libraries,
            product.profiles,
            product.series_edits,
        ),
    )
    yield partial(
        series.router,
        catalog=catalog,
        parts=series.ShowParts(
            product.catalog_summaries,
            product.metadata.service,
            product.metadata.stories,
            DownloadSummaries(product.database),
            product.corrections,
            product.library.libraries,
            product.media_servers,
            product.media,
            product.discards,
            product.downloads.conflicts,
        ),
    )
    yield partial(find.router, catalog=catalog, metadata=product.metadata.service, libraries=product.library.libraries)
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
        agenda.router, catalog=product.catalog, summaries=product.catalog_summaries, metadata=metadata.service
    )
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
    yield partial(
        choose.router,
        parts=choose.ChoiceParts(
            metadata.matches,
            metadata.search,
            product.catalog,
            product.catalog_summaries,
            metadata.service,
            metadata.calendar,
        ),
    )
    yield partial(
        matches.router,
        matches=metadata.matches,
        metadata=metadata.service,
        calendar=metadata.calendar,
        libraries=product.library.libraries,
        catalog=product.catalog,
        questions=product.questions,
        wanted=product.wanted,
        queue=queue,
    )


def _download_pages(product: Product, sight: PollOnSight) -> Iterator[PageRoutes]:
    parts, feeds, metadata = product.downloads, product.feeds, product.metadata.service
    yield partial(profiles.router, profiles=product.profiles, catalog=product.catalog, metadata=metadata)
    yield partial(
        rules.router,
        filters=parts.filters,
        scopes=Scopes(product.catalog, product.catalog_summaries, feeds.subscriptions, feeds.services),
    )
    yield partial(rule_moves.router, filters=parts.filters)
    yield partial(conflicts.router, conflicts=parts.conflicts)
    yield partial(blocklist.router, blocklist=parts.blocklist)
    yield partial(
        history.router,
        history=product.history,
        catalog=product.catalog,
        metadata=metadata,
        downloaders=product.downloaders,
    )
    yield partial(shared_addresses.router, addresses=product.shared_addresses)
    yield partial(placements.router, placements=product.placements)
    yield partial(file_questions.router, questions=product.file_questions)
    yield partial(
        downloaders.router,
        downloaders=product.downloaders,
        paths=parts.paths,
        connections=product.connections,
    )
    # After those whose addresses begin like its own.
    yield partial(
        downloads.router,
        downloads=parts.downloads,
        wanting=parts.wanting,
        conflicts=parts.conflicts,
        downloaders=product.downloaders,
        catalog=product.catalog,
        metadata=metadata,
        placements=product.placements,
        poll=sight.look,
        search=product.search,
    )
