"""What a filter rule can be about, by name: for the one who chooses, and for the one who reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.downloads.filters.model import RuleScope, Target
from kurabito.feeds.errors import SubscriptionNotFound
from kurabito.feeds.service import Subscriptions
from kurabito.modules.errors import ModuleNotFound
from kurabito.modules.registration import Services
from kurabito.modules.services import ServiceType
from kurabito.runtime.paging import MAX_PAGE

Names = Mapping[RuleScope, str]
"""What is meant by each scope. One about everything, or the built-in fetcher, needs no name."""
UNKNOWN: Final = "?"


class Scopes:
    """Knows the names of what rules are about."""

    def __init__(
        self, catalog: Catalog, summaries: CatalogSummaries, subscriptions: Subscriptions, services: Services
    ) -> None:
        self._catalog = catalog
        self._summaries = summaries
        self._subscriptions = subscriptions
        self._services = services

    async def choices(self, *also: RuleScope) -> Mapping[Target, Names]:
        """What can be chosen of each kind, by name, with those that are chosen already."""
        series, groups, feeds, services, chosen = await asyncio.gather(
            self._catalog.series(limit=MAX_PAGE),
            self._summaries.groups(limit=MAX_PAGE),
            self._subscriptions.page(limit=MAX_PAGE),
            self._services.page(limit=MAX_PAGE),
            self.names(also),
        )
        known: dict[Target, dict[RuleScope, str]] = {
            Target.SERIES: {RuleScope(Target.SERIES, one.id): _season(one.title, one.season) for one in series.items},
            Target.SUBSCRIPTION: {RuleScope(Target.SUBSCRIPTION, one.id): one.settings.name for one in feeds},
            Target.GROUP: {RuleScope(Target.GROUP, group_id): name for group_id, name in groups.items()},
            Target.FETCHER: {
                RuleScope(Target.FETCHER, one.id): one.registration.service_name
                for one in services
                if one.registration.service_type is ServiceType.FETCHER
            },
        }
        for scope, name in chosen.items():
            known[scope.target_type].setdefault(scope, name)
        return {kind: dict(sorted(names.items(), key=lambda pair: pair[1].casefold())) for kind, names in known.items()}

    async def names(self, scopes: Iterable[RuleScope]) -> Names:
        """The names of these, but for those that need none; of what is gone, a question mark."""
        wanted = [scope for scope in dict.fromkeys(scopes) if scope.target_id is not None]
        return dict(zip(wanted, await asyncio.gather(*map(self._name, wanted)), strict=True))

    async def _name(self, scope: RuleScope) -> str:
        kind, target_id = scope
        assert target_id is not None
        try:
            match kind:
                case Target.SERIES:
                    series = await self._catalog.get(target_id)
                    return _season(series.title, series.season)
                case Target.SUBSCRIPTION:
                    return (await self._subscriptions.get(target_id)).settings.name
                case Target.FETCHER:
                    return (await self._services.get(target_id)).registration.service_name
                case _:
                    return await self._summaries.group(target_id) or UNKNOWN
        except (SeriesNotFound, SubscriptionNotFound, ModuleNotFound):
            return UNKNOWN


def _season(title: str, season: int) -> str:
    return title if season <= 1 else f"{title} ({season})"
