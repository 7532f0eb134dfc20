"""What would become of each result of a search, and why: the same rules that feeds pass."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from typing import Any, Final

from kurabito.catalog import series
from kurabito.catalog.identity.resolution import Likely, SeriesMatch, foresee
from kurabito.catalog.linker import EpisodeKey, held_by
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.series import Series
from kurabito.catalog.states import EpisodeState, FilterReason, SeriesState
from kurabito.db import Connection, Queries
from kurabito.downloads.blocklist import store as blocklist
from kurabito.downloads.choice import DEFAULT, ChoiceReason, CurrentDownload, ReleaseOption, ReleasePreferences, choose
from kurabito.downloads.filters import store as filter_rules
from kurabito.downloads.filters.engine import FilterEngine, Links
from kurabito.downloads.profiles.score import Score, UnwantedReason, score
from kurabito.downloads.release_options import current_downloads, kept_files, preferences_of
from kurabito.downloads.states import Status
from kurabito.feeds.raw_items import RawReason, clean
from kurabito.indexers.port import IndexerItem
from kurabito.protocol.enums import LibraryUpgrades
from kurabito.reasons import Reason
from kurabito.titles import TitleRule

_SQL: Final = Queries("kurabito.downloads.search", "decisions.sql")


class SearchReason(StrEnum):
    """Why a result would not be downloaded automatically; the value is the message's key below `search_reason`."""

    USENET = "usenet"
    UNREADABLE = "unreadable"
    """No series could be read from its title, or it has no link."""
    FEW_SEEDERS = "few_seeders"
    """It has `seeders`, and its indexer wants `least`."""
    NO_EPISODE = "no_episode"
    IN_DOUBT = "in_doubt"
    DOUBTFUL_READING = "doubtful_reading"
    SERIES_NEW = "series_new"
    """The series is not known yet."""
    SERIES_ASKED = "series_asked"
    SERIES_IGNORED = "series_ignored"
    HAVE = "have"
    UNDER_WAY = "under_way"
    EXCLUDED = "excluded"
    """`rule` excludes it."""
    NOT_INCLUDED = "not_included"
    """`rule` includes others."""
    BLOCKED = "blocked"
    """It failed, and is not taken before `until`; null is for good."""
    WORSE = "worse"
    """It is worth `score`, and what is in the library or under way `has`."""
    UPGRADES_OFF = "upgrades_off"
    """It is better than the file in a library, which stays there all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelease:
    """A release that indexers have, and what would be decided about it."""

    key: str
    """The same whichever indexer it comes from, where its hash is known; it has no URL in it."""
    item: IndexerItem = field(repr=False)
    """Its URL may have the indexer's key in it, and is never shown."""
    indexer_id: int | None
    """None for what was pasted."""
    indexers: tuple[str, ...]
    """The names of those that have it."""
    least_seeders: int
    release: Release | None = field(default=None, repr=False)
    series: Series | None = None
    reason: Reason[SearchReason] | Reason[UnwantedReason] | None = None
    score: Score | None = None
    """What it is worth by the preferences of its show."""


def read(found: FoundRelease, title_rules: Sequence[TitleRule]) -> FoundRelease:
    """The result with what its title says."""
    item = found.item
    if item.is_usenet:
        return replace(found, reason=Reason(SearchReason.USENET))
    release = read_release(clean(item), title_rules)
    if isinstance(release, RawReason):
        return replace(found, reason=Reason(SearchReason.UNREADABLE))
    return replace(found, release=release)


def decide(conn: Connection, found: Sequence[FoundRelease]) -> list[FoundRelease]:
    """The results that were read, each with its series and its reason."""
    readable = [(place, one.release) for place, one in enumerate(found) if one.release is not None]
    likely = foresee(conn, [release for _, release in readable])
    known = cache(partial(series.find, conn))
    matched = {
        place: (own.read(release), own, None if own.series_id is None else known(own.series_id))
        for (place, release), own in zip(readable, likely, strict=True)
    }
    releases = {place: (release, of) for place, (release, _, of) in matched.items()}
    episodes = KnownEpisodes.of(conn, {key for one, of in releases.values() if of for key in _episode_keys(one, of)})
    liked = preferences_of(conn, {of.id for _, of in releases.values() if of is not None})
    refused = _blocked(conn, releases) | _refused(conn, releases)
    decided = list(found)
    for place, (release, own, of) in matched.items():
        preferences = liked.get(of.id, DEFAULT) if of is not None else DEFAULT
        options = _options(release, of, episodes, preferences)
        reason = (
            _held(release, own) or refused.get(place) or _not_chosen(options, episodes) or _few_seeders(found[place])
        )
        worth = score(options[0], preferences.preferred)
        decided[place] = replace(found[place], series=of, reason=reason, score=worth)
    return decided


def _held(release: Release, own: Likely) -> Reason[SearchReason] | None:
    if own.is_in_doubt:
        return Reason(SearchReason.IN_DOUBT)
    held = held_by(release, own.state or SeriesState.FOLLOWED)
    if held is not None:
        return Reason(SearchReason(held.value))
    return Reason(SearchReason.SERIES_NEW) if own.state is None else None


def _few_seeders(found: FoundRelease) -> Reason[SearchReason] | None:
    seeders, least = found.item.seeders, found.least_seeders
    if seeders is None or seeders >= least:
        return None
    return Reason(SearchReason.FEW_SEEDERS, {"seeders": seeders, "least": least})


@dataclass(frozen=True, slots=True)
class KnownEpisodes:
    """What there is of the episodes that results are of."""

    ids: Mapping[EpisodeKey, int]
    have: frozenset[int]
    current: Mapping[int, Sequence[CurrentDownload]]
    kept: Mapping[int, LibraryUpgrades]
    """What may take the place of those that lie in a library."""

    @classmethod
    def of(cls, conn: Connection, keys: Collection[EpisodeKey]) -> KnownEpisodes:
        rows = [{"series_id": series_id, "kind": kind, "number": number} for series_id, kind, number in sorted(keys)]
        found = conn.all(_SQL.states, {"rows": json.dumps(rows)}) if rows else []
        ids = {(series_id, kind, number): known for series_id, kind, number, _, known in found}
        current: dict[int, list[CurrentDownload]] = defaultdict(list)
        for download in current_downloads(conn, *ids.values()):
            if download.option.episode_id is not None:
                current[download.option.episode_id].append(download)
        have = frozenset(known for *_, state, known in found if state == EpisodeState.HAVE)
        return cls(ids, have, current, kept_files(conn, have))


def _options(
    release: Release, of: Series | None, episodes: KnownEpisodes, preferences: ReleasePreferences
) -> list[ReleaseOption]:
    """The release as one that a feed brought: a link for each episode. Episodes that are not known yet get a number of ours."""
    keys = [] if of is None else _episode_keys(release, of)
    numbers = {key: episodes.ids.get(key, -place) for place, key in enumerate(keys, 1)}
    count = max(len(numbers), len(release.episodes), 1)
    one = ReleaseOption(
        0,
        release.identity.release_key,
        None,
        release.group.folded if release.group else None,
        release.version or 1,
        release.resolution,
        release.source,
        release.languages,
        preferences,
        release.title,
        release.size_bytes,
        release.kind,
        release.episodes[0] if count == 1 and release.episodes else None,
    )
    known: list[int | None] = [*numbers.values()] or [None] * count
    return [one._replace(link_id=place, episode_id=episode_id) for place, episode_id in enumerate(known)]


def _not_chosen(
    options: Sequence[ReleaseOption], episodes: KnownEpisodes
) -> Reason[SearchReason] | Reason[UnwantedReason] | None:
    """Why the release would not be chosen; the same function chooses for feeds."""
    own = {one.episode_id for one in options if one.episode_id is not None}
    current = {known: downloads for known, downloads in episodes.current.items() if known in own}
    statuses = {
        one.status for each in current.values() for one in each if one.option.release_key == options[0].release_key
    }
    if statuses:
        return Reason(SearchReason.HAVE if statuses == {Status.COMPLETED} else SearchReason.UNDER_WAY)
    choice = choose(options, current, episodes.have, kept=episodes.kept, waits=False)
    if choice.unwanted:
        return next(iter(choice.unwanted.values()))
    if choice.dispatch or choice.ask or not own:
        return None
    if ChoiceReason.UPGRADES_OFF in choice.reasons.values():
        return Reason(SearchReason.UPGRADES_OFF)
    preferences = options[0].preferences
    if current and preferences.upgrade:
        has = max(one.option.rank(preferences.preferred) for each in current.values() for one in each)
        return Reason(SearchReason.WORSE, {"score": options[0].rank(preferences.preferred), "has": has})
    return Reason(SearchReason.HAVE if own <= episodes.have else SearchReason.UNDER_WAY)


def _episode_keys(release: Release, of: Series) -> list[EpisodeKey]:
    match = SeriesMatch(of.id, of.episode_offset, of.state)
    return [(of.id, release.kind.value, float(match.number(number))) for number in release.episodes]


def _blocked(
    conn: Connection, releases: Mapping[int, tuple[Release, Series | None]]
) -> dict[int, Reason[SearchReason]]:
    keys = {place: release.identity.release_key for place, (release, _) in releases.items()}
    until = blocklist.blocked(conn, set(keys.values()))
    return {
        place: Reason(
            SearchReason.BLOCKED, {"until": None if (when := until[key]) is None else when.date().isoformat()}
        )
        for place, key in keys.items()
        if key in until
    }


def _refused(
    conn: Connection, releases: Mapping[int, tuple[Release, Series | None]]
) -> dict[int, Reason[SearchReason]]:
    """What filter rules would say, as if the releases were links of no subscription."""
    engine = FilterEngine(filter_rules.everything(conn))
    groups = _groups(conn, releases) if "group_id" in engine.reads else {}
    columns = [_columns(release, of, groups) for release, of in releases.values()]
    if not columns:
        return {}
    links = Links(list(columns[0]), [tuple(column.values()) for column in columns])
    places = list(releases)
    return {
        places[place]: Reason(SearchReason(decision.reason.code.value), decision.reason.facts)
        for place, decision in engine.refuse(links).items()
        if decision.reason is not None and decision.reason.code is not FilterReason.OTHER
    }


def _columns(release: Release, of: Series | None, groups: Mapping[str, int]) -> dict[str, Any]:
    group = release.group.folded if release.group else None
    return {
        "title": release.title,
        "group_name": group,
        "resolution": release.resolution,
        "languages": json.dumps(release.languages),
        "source": release.source,
        "size_bytes": release.size_bytes,
        "series_id": None if of is None else of.id,
        "group_id": None if group is None else groups.get(group),
        "subscription_id": None,
        "module_id": None,
    }


def _groups(conn: Connection, releases: Mapping[int, tuple[Release, Series | None]]) -> dict[str, int]:
    names = {release.group.folded for release, _ in releases.values() if release.group is not None}
    rows = [{"folded": name} for name in sorted(names)]
    return dict(conn.all(_SQL.groups, {"rows": json.dumps(rows)})) if rows else {}
