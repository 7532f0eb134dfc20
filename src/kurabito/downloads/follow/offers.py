"""Which groups release a show: in which language and resolution, and how often. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Final

from kurabito.downloads.search.decisions import FoundRelease

_DAY: Final = timedelta(days=1)
_SILENT: Final = timedelta(days=15).total_seconds()
"""A group that is so long behind another one of the season seems to have stopped: two weeks, and a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffer:
    """How one group releases a show."""

    group: str
    languages: tuple[str, ...]
    resolution: int | None
    indexers: tuple[str, ...]
    releases: int
    last_at: datetime | None
    every_days: float | None
    """Days from one release to the next, as a rule; None where that cannot be told."""
    key: str
    """The newest release, by which it is followed."""
    title: str
    """Of the newest release."""
    series: str
    """The show, as that release names it."""
    season: int
    """Each season is followed for itself."""


def offers(found: Iterable[FoundRelease]) -> list[GroupOffer]:
    """The groups, those of the newest season first, and of a season the one that released most of those that still release.

    Those that release in several ways are listed for each.
    """
    ways: dict[tuple[str, int, str, int | None, tuple[str, ...]], list[FoundRelease]] = defaultdict(list)
    for one in found:
        release = one.release
        if release is None or release.group is None or not release.episodes:
            continue
        show = one.series.title if one.series else release.names[0].shown
        season = one.series.season if one.series else release.season or 1
        ways[show, season, release.group.folded, release.resolution, release.languages].append(one)
    listed = [_offer(show, season, releases) for (show, season, *_), releases in ways.items()]
    newest: dict[tuple[str, int], float] = defaultdict(float)
    for offer in listed:
        newest[offer.series, offer.season] = max(newest[offer.series, offer.season], _last(offer))

    def order(offer: GroupOffer) -> tuple[float, str, bool, int, float]:
        latest = newest[offer.series, offer.season]
        return -latest, offer.series, latest - _last(offer) > _SILENT, -offer.releases, -_last(offer)

    return sorted(listed, key=order)


def _last(offer: GroupOffer) -> float:
    return offer.last_at.timestamp() if offer.last_at else 0.0


def _offer(show: str, season: int, releases: list[FoundRelease]) -> GroupOffer:
    days = sorted(one.item.pub_date for one in releases if one.item.pub_date is not None)
    newest = max(releases, key=lambda one: one.item.pub_date.timestamp() if one.item.pub_date else 0.0)
    release = newest.release
    assert release is not None, "only releases that were read are offered"
    assert release.group is not None, "and those of a group"
    return GroupOffer(
        group=release.group.shown,
        languages=release.languages,
        resolution=release.resolution,
        indexers=tuple(dict.fromkeys(name for one in releases for name in one.indexers)),
        releases=len(releases),
        last_at=days[-1] if days else None,
        every_days=_rhythm(days),
        key=newest.key,
        title=newest.item.title,
        series=show,
        season=season,
    )


def _rhythm(days: list[datetime]) -> float | None:
    """The usual gap; several releases of one day, such as a batch of old ones, tell nothing."""
    gaps = [(later - earlier) / _DAY for earlier, later in pairwise(days) if later - earlier >= _DAY / 2]
    return round(median(gaps), 1) if len(gaps) > 1 else None
