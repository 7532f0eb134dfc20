"""What answers HTTP: the one place where interface, pages and doors are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from fastapi import APIRouter
from starlette.types import ASGIApp

from kurabito.access import Keys, LoginLimit, Passwords, Sessions
from kurabito.api import (
    Live,
    TaskMeter,
    calendar,
    catalog,
    conflicts,
    create_api,
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
    scan_tasks,
    services,
    subscriptions,
    thumbs,
    title_rules,
    trash,
    wal,
)
from kurabito.api.doors import BodyLimit, Doors
from kurabito.app.database import sqlite_file
from kurabito.app.downloading import Downloading, open_downloading
from kurabito.app.drawn import open_drawn
from kurabito.app.following import Following, open_following, open_outbound
from kurabito.app.metadata import MetadataParts, open_metadata
from kurabito.app.shelves import Shelves, open_shelves
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.glances import Glances
from kurabito.catalog.title_rules import TitleRules
from kurabito.db import Database
from kurabito.downloads.glances import DownloadGlances
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.trash import Trash
from kurabito.library.duplicates import Duplicates
from kurabito.library.waste import Waste
from kurabito.maintenance.wal import WalMaintenance
from kurabito.protocol.planes import DataPlanes
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Origin, Settings, explain
from kurabito.web import calendar as calendar_page
from kurabito.web import conflicts as conflicts_page
from kurabito.web import create_web
from kurabito.web import downloaders as downloaders_page
from kurabito.web import downloads as downloads_page
from kurabito.web import duplicates as duplicates_page
from kurabito.web import follow as follow_page
from kurabito.web import following as following_page
from kurabito.web import library as library_page
from kurabito.web import matches as matches_page
from kurabito.web import record as record_page
from kurabito.web import rule_moves as rule_moves_page
from kurabito.web import rules as rules_page
from kurabito.web import series as series_page
from kurabito.web import title_rules as title_rules_page
from kurabito.web import trash as trash_page
from kurabito.web.presence import Downloaders, Habits
from kurabito.web.scopes import Scopes
from kurabito.web.standing import Standings


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, over one database."""

    keys: Keys
    passwords: Passwords
    sessions: Sessions
    login_limit: LoginLimit


def open_access(settings: Settings, database: Database) -> Access:
    """The keys, password and sessions in the product's database."""
    fixed = settings.api_key.get_secret_value() if settings.api_key else None
    return Access(
        Keys(database, fixed=fixed),
        Passwords(database, file=settings.password_file),
        Sessions(database),
        LoginLimit(),
    )


def open_trash(settings: Settings, database: Database) -> Trash:
    """The trash, as long as the settings want it kept."""
    return Trash(database, days=settings.trash_days, may_purge=settings.allow_delete)


def open_wal(settings: Settings, database: Database) -> WalMaintenance:
    """The checkpoints of the database, as far as it has a log of that kind."""
    return WalMaintenance(
        database,
        sqlite_file(settings),
        interval=settings.wal_interval,
        limit=settings.wal_limit_mb * 2**20,
        may_truncate=settings.wal_truncate,
    )


def build_site(
    settings: Settings,
    queue: SqlQueue,
    access: Access,
    live: Live,
    meter: TaskMeter,
    *,
    started: datetime,
    shelves: Shelves | None = None,
    following: Following | None = None,
    about: MetadataParts | None = None,
    downloading: Downloading | None = None,
) -> ASGIApp:
    """The whole site over one open queue: interface and pages, and the doors in front of both.

    Metadata is filled in where `about` is given, and its actor runs; else it is only shown.
    """
    shelves = shelves or open_shelves(settings, queue)
    if downloading is None or following is None or about is None:
        outbound = open_outbound(settings)
        downloading = downloading or open_downloading(queue, outbound, settings)
        following = following or open_following(queue, outbound, taking=downloading.taking)
        about = about or open_metadata(settings, queue, outbound)

    def explained() -> Sequence[Origin]:
        return explain(settings)

    planes = DataPlanes(queue.database)
    checkpoints, drawn = open_wal(settings, queue.database), open_drawn(settings, queue.database)
    groups, rubbish = Duplicates(queue.database), open_trash(settings, queue.database)
    known, glances, own_rules = (
        Catalog(queue.database, downloading.taking),
        Glances(queue.database),
        TitleRules(queue.database, following.intake),
    )
    downloaders = Downloaders(queue.database, following.services, downloading.downloads, _habits(settings))
    plans = DeletionPlans(queue.database, allowed=settings.allow_delete)
    api = create_api(
        queue=queue,
        planes=planes,
        live=live,
        meter=meter,
        database=settings.database.partition("://")[0],
        started=started,
        settings=explained,
        lease=settings.lease_seconds,
        further=[
            libraries.router(shelves.libraries, shelves.scans),
            scan_tasks.router(shelves.scans),
            jobs.router(shelves.jobs),
            keys.router(access.keys),
            duplicates.router(groups, plans),
            trash.router(rubbish),
            subscriptions.router(following.subscriptions, following.previews),
            services.router(following.services, downloading.paths),
            fetcher_results.router(following.intake),
            catalog.router(known),
            title_rules.router(own_rules),
            *_about(about),
            downloads.router(downloading.downloads),
            filters.router(downloading.filters),
            conflicts.router(downloading.conflicts),
            thumbs.router(drawn.thumbnails, drawn.pictures, drawn.cleanups, drawn.measure),
            wal.router(checkpoints),
        ],
    )
    pages = create_web(
        queue=queue,
        planes=planes,
        sessions=access.sessions,
        passwords=access.passwords,
        login_limit=access.login_limit,
        settings=explained,
        openapi=api.openapi,
        log=checkpoints,
        thumbnails=drawn.measure,
        further=[
            partial(
                library_page.router,
                libraries=shelves.libraries,
                scans=shelves.scans,
                standings=Standings(shelves.libraries, shelves.scans, shelves.jobs, planes),
            ),
            partial(
                duplicates_page.router,
                libraries=shelves.libraries,
                duplicates=groups,
                waste=Waste(queue.database),
                plans=plans,
            ),
            partial(trash_page.router, libraries=shelves.libraries, trash=rubbish),
            partial(title_rules_page.router, rules=own_rules),
            partial(
                follow_page.router, subscriptions=following.subscriptions, previews=following.previews, catalog=known
            ),
            # After those whose addresses begin like its own.
            partial(following_page.router, subscriptions=following.subscriptions, catalog=known, glances=glances),
            partial(
                series_page.router,
                catalog=known,
                glances=glances,
                metadata=about.service,
                downloads=DownloadGlances(queue.database),
            ),
            partial(calendar_page.router, calendar=about.calendar, entries=about.entries, glances=glances, queue=queue),
            partial(record_page.router, metadata=about.service, handle=about.actor.handle, queue=queue),
            partial(
                matches_page.router,
                matches=about.matches,
                metadata=about.service,
                calendar=about.calendar,
                libraries=shelves.libraries,
                catalog=known,
                queue=queue,
            ),
            partial(
                rules_page.router,
                filters=downloading.filters,
                scopes=Scopes(known, glances, following.subscriptions, following.services),
            ),
            partial(rule_moves_page.router, filters=downloading.filters),
            partial(conflicts_page.router, conflicts=downloading.conflicts),
            partial(downloaders_page.router, downloaders=downloaders, paths=downloading.paths),
            # After those whose addresses begin like its own.
            partial(
                downloads_page.router,
                downloads=downloading.downloads,
                conflicts=downloading.conflicts,
                downloaders=downloaders,
                catalog=known,
            ),
        ],
        waiting=about.matches.count_open,
        base_path=settings.base_path,
    )
    # After the routes of the interface, which are so found first.
    api.mount("/", pages)
    return Doors(
        api,
        keys=access.keys,
        sessions=access.sessions,
        listens_on=settings.host,
        allowed_hosts=settings.allowed_hosts,
        trusted_proxies=settings.trusted_proxies,
        base_path=settings.base_path,
        bodies=dict.fromkeys(fetcher_results.PATHS, BodyLimit(fetcher_results.LARGEST_BODY)),
    )


def _habits(settings: Settings) -> Habits:
    elsewhere = settings.elsewhere_minutes
    return Habits(
        timedelta(seconds=settings.download_poll_interval),
        None if elsewhere is None else timedelta(minutes=elsewhere),
    )


def _about(parts: MetadataParts) -> list[APIRouter]:
    return [
        metadata.router(parts.service, parts.actor.handle),
        calendar.router(parts.calendar, parts.entries),
        posters.router(parts.posters),
        matches.router(parts.matches),
    ]
