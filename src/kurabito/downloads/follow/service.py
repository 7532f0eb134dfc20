"""Follows a show by one of its releases: the show, what is preferred of it, and where new episodes come from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from kurabito.catalog import links, series
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.linker import link_found, lock_catalog
from kurabito.catalog.matching.decision import decide_series
from kurabito.catalog.series import Series
from kurabito.catalog.states import SeriesState
from kurabito.db import Connection, Database
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.errors import GrabRefused
from kurabito.downloads.follow import standby
from kurabito.downloads.profiles import store as profiles
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import store as wanted
from kurabito.feeds import subscription_store
from kurabito.feeds.errors import SubscriptionConflict
from kurabito.feeds.preferences import Preferences
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.subscriptions import StartWith, Subscription, SubscriptionSettings
from kurabito.indexers.service import Indexers
from kurabito.metadata import records

_WAIT_MINUTES: Final = 24 * 60
"""The feed of a show has every group: others wait so long for the one that was chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedShow:
    """What following a show made."""

    series: Series
    subscription: Subscription | None
    """None where its source has no feed: what is wanted of it is searched for automatically then."""
    standby: Subscription | None = None


class ShowFollower:
    """The way from a result of a search to a show that is followed."""

    def __init__(
        self,
        database: Database,
        catalog: Catalog,
        search: ReleaseSearch,
        grabs: ReleaseGrabs,
        indexers: Indexers,
        subscriptions: Subscriptions,
        fill_in: Callable[[], Awaitable[object]],
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._search = search
        self._grabs = grabs
        self._indexers = indexers
        self._subscriptions = subscriptions
        self._fill_in = fill_in

    async def follow(
        self, key: str, standby_key: str | None = None, silent_days: int = standby.SILENT_DAYS
    ) -> FollowedShow:
        """Follow the show of a release that was found, as its group releases it; another release names a feed that stands by.

        The release itself is taken with it. Raises FoundReleaseNotFound, GrabRefused, or what asking for its link raises.
        """
        found = self._search.find(key)
        other = None if standby_key is None else self._search.find(standby_key)
        show = await self._series_of(found)
        liked = _liked(found, other)
        await self._database.write(lambda conn: profiles.set_own(conn, show.id, liked))
        followed = await self._catalog.change(show.id, {"state": SeriesState.FOLLOWED})
        followed = await self._with_record(followed)
        first = await self._subscribe(found, followed)
        if first is None:
            await self._database.write(lambda conn: wanted.set_series_automatic(conn, show.id, True))
            return FollowedShow(series=followed, subscription=None)
        second = None if other is None else await self._subscribe(other, followed, is_enabled=False)
        if second is not None and second.id != first.id:
            known, own = first.id, second.id
            await self._database.write(lambda conn: standby.stand_by(conn, own, known, silent_days))
        return FollowedShow(series=followed, subscription=first, standby=second)

    async def _with_record(self, show: Series) -> Series:
        """Give the show its record, where it is clear which, and have its episodes known: they are wanted from now on."""

        def write(conn: Connection) -> Series:
            lock_catalog(conn)
            if show.metadata_id is None:
                decide_series(conn, after=show.id - 1, limit=1)
            wanted.expect(conn)
            return series.find(conn, show.id)

        known = await self._database.write(write)
        if known.metadata_id is not None:
            await self._fill_in()
        return known

    async def _series_of(self, found: FoundRelease) -> Series:
        if found.series is not None:
            return found.series
        release = await self._grabs.readable(found)

        def write(conn: Connection) -> Series:
            lock_catalog(conn)
            link_ids = link_found(conn, release, found.indexer_id)
            link = links.find(conn, link_ids[0])
            if link.question_id is not None:
                raise GrabRefused(
                    "it is not sure which show this release is of; answer the question on the page Matches"
                )
            return series.find(conn, link.series_id)

        return await self._database.write(write)

    async def _subscribe(self, found: FoundRelease, show: Series, *, is_enabled: bool = True) -> Subscription | None:
        if found.indexer_id is None or found.release is None or found.release.group is None:
            return None
        mikan_id = await self._database.read(lambda conn: _mikan_id(conn, show))
        group = found.release.group.shown
        feed = await self._indexers.feed_of(found.indexer_id, f"{found.release.names[0].shown} {group}", mikan_id)
        if feed is None:
            return None
        settings = SubscriptionSettings(
            name=f"{show.title} · {group}"[:200],
            url=feed.url,
            # What a search finds may be of another season: which, its title says.
            series_id=show.id if feed.is_of_show else None,
            is_enabled=is_enabled,
            allows_private=(await self._indexers.get(found.indexer_id)).settings.allows_private,
        )
        try:
            made = await self._subscriptions.create(settings, StartWith.MISSING)
            await self._database.write(lambda conn: subscription_store.follow_for(conn, made.id, show.id))
            return made
        except SubscriptionConflict:
            # Its feed is followed already, which is all that was asked for.
            return await self._subscriptions.by_url(feed.url)


def _liked(found: FoundRelease, other: FoundRelease | None) -> ReleasePreferences:
    """What is preferred: the group that was chosen, then the one that stands by; the same language and resolution."""
    releases = [one.release for one in (found, other) if one is not None and one.release is not None]
    groups = tuple(dict.fromkeys(one.group.shown for one in releases if one.group is not None))
    resolutions = tuple(dict.fromkeys(one.resolution for one in releases if one.resolution is not None))
    languages = tuple(dict.fromkeys(language for one in releases for language in one.languages))
    preferred = Preferences(groups=groups, languages=languages, resolutions=resolutions)
    return ReleasePreferences(preferred=preferred, wait_minutes=_WAIT_MINUTES)


def _mikan_id(conn: Connection, show: Series) -> int | None:
    return None if show.metadata_id is None else records.find(conn, show.metadata_id).details.mikan_id
