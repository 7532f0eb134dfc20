"""Feeds, services and the way out, over one open queue."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import httpcore2

from kurabito.catalog.intake import CatalogIntake
from kurabito.catalog.previews import Previews
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.feeds.fetcher import PACE, FeedReader
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.tasks import FeedTasks
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.service import Indexers
from kurabito.modules.registration import Services
from kurabito.modules.service_client import ServiceCalls
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings

RESULTS_PATH: Final = "/fetcher-results"
# As many as posters are fetched at a time, and those of one site come from one host.
_AT_ONE_HOST: Final = 5


@dataclass(frozen=True, slots=True)
class FeedParts:
    """What there is to ask about feeds and services."""

    intake: CatalogIntake
    subscriptions: Subscriptions
    previews: Previews
    services: Services
    tasks: FeedTasks
    indexers: Indexers
    pasted: PastedLinks


def open_outbound(settings: Settings) -> Outbound:
    """The one client for everything that leaves, as the settings want it."""
    return Outbound(
        private_hosts=settings.allow_private_hosts, proxy=settings.proxy, tls=_certificates(), at_once=_AT_ONE_HOST
    )


def open_feeds(
    queue: DelegatedTasks,
    outbound: Outbound,
    *,
    grabber: Grabber | None = None,
    url: str = "",
    pace: float = PACE,
    module_hosts: Iterable[str] = (),
    sites: Path | None = None,
) -> FeedParts:
    """Feeds and services over one queue; `grabber` decides what becomes of links.

    `url` is where this site is found, for fetchers that send what they read; `module_hosts` are those at which modules may be
    beside where they register from; `sites` is the folder where the user describes sites to search.
    """
    intake = CatalogIntake(queue.database, grabber)
    reader, calls = FeedReader(outbound, pace=pace), ServiceCalls(outbound)
    return FeedParts(
        intake,
        Subscriptions(queue),
        Previews(reader, queue.database),
        Services(queue.database, calls, grabber, hosts=module_hosts),
        FeedTasks(queue, reader, calls, intake, callback_url=url + RESULTS_PATH),
        Indexers(queue.database, outbound, SiteDefinitions(sites)),
        PastedLinks(outbound),
    )


@cache
def _certificates() -> ssl.SSLContext:
    # Reading the machine's certificates takes a tenth of a second.
    return httpcore2.default_ssl_context()
