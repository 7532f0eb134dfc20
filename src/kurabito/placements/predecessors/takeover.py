"""What would become of another program's shows and feeds here, and doing so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from kurabito.catalog import follow, series
from kurabito.catalog.identity import aliases
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.decision import decide
from kurabito.catalog.matching.knowledge import Knowledge
from kurabito.catalog.matching.verdict import weigh
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries
from kurabito.feeds import subscription_store
from kurabito.feeds.errors import SubscriptionConflict
from kurabito.feeds.subscriptions import StartWith, SubscriptionSettings
from kurabito.metadata import records
from kurabito.metadata.search import details_of_entry
from kurabito.metadata.sources import offline
from kurabito.placements.predecessors.model import TheirCollection, TheirFeed, TheirShow

_SQL: Final = Queries("kurabito.placements.predecessors", "takeover.sql")
_FIRST_SEASON: Final = 1
_LONGEST_NAME: Final = 200


class TakeoverFate(StrEnum):
    """What becomes of a show."""

    KNOWN = "known"
    """A series of it is here already, and stays as it is."""
    MATCHED = "matched"
    """It becomes a series with the record that it was matched to."""
    UNMATCHED = "unmatched"
    """It becomes a series without a record; which one it is can be said later."""


@dataclass(frozen=True, slots=True)
class TakenShow:
    """A show of theirs, and what becomes of it."""

    show: TheirShow
    fate: TakeoverFate
    title: str
    """What it is called here."""
    series_id: int | None = None


def plan(conn: Connection, theirs: TheirCollection) -> list[TakenShow]:
    """What would become of each show. Nothing is stored."""
    readings = [_reading(show) for show in theirs.shows]
    if not readings:
        return []
    known = Knowledge(conn, readings)
    found: list[TakenShow] = []
    for show, reading in zip(theirs.shows, readings, strict=True):
        thing = weigh(reading, known).thing
        metadata_id = None if thing is None else thing.metadata_id
        title = show.titles[0] if thing is None or not thing.details.titles else thing.details.titles[0]
        if (by_id := _by_tmdb(conn, show)) is not None and thing is None:
            title = by_id.titles[0]
        there = _there(conn, show, metadata_id)
        if there is not None:
            found.append(TakenShow(show, TakeoverFate.KNOWN, series.find(conn, there).title, there))
        else:
            matched = thing is not None or by_id is not None
            found.append(TakenShow(show, TakeoverFate.MATCHED if matched else TakeoverFate.UNMATCHED, title))
    return found


def take_over(conn: Connection, theirs: TheirCollection) -> list[TakenShow]:
    """Make a series of each show that has none here; none of them is followed."""
    lock_catalog(conn)
    decisions = decide(conn, [_reading(show) for show in theirs.shows])
    return [_take(conn, show, decision.metadata_id) for show, decision in zip(theirs.shows, decisions, strict=True)]


def add_feeds(conn: Connection, feeds: Sequence[TheirFeed]) -> int:
    """Add the feeds that are not here yet, switched off; how many there were."""
    added = 0
    for feed in feeds:
        if urlsplit(feed.url).scheme not in ("http", "https"):
            continue
        wanted = SubscriptionSettings(name=feed.name[:_LONGEST_NAME], url=feed.url, is_enabled=False)
        try:
            subscription_store.add(conn, wanted, StartWith.NOW, frozenset())
        except SubscriptionConflict:
            continue
        added += 1
    return added


def _take(conn: Connection, show: TheirShow, metadata_id: int | None) -> TakenShow:
    if metadata_id is None and (details := _by_tmdb(conn, show)) is not None:
        known = None if details.bgm_id is None else records.of_bgm(conn, details.bgm_id)
        metadata_id = known.id if known is not None else records.add(conn, details).id
    if (there := _there(conn, show, metadata_id)) is not None:
        return TakenShow(show, TakeoverFate.KNOWN, series.find(conn, there).title, there)
    if metadata_id is not None:
        made = follow.series_of_record(conn, records.find(conn, metadata_id), SeriesState.IGNORED)
        fate = TakeoverFate.MATCHED
    else:
        made, fate = _add(conn, show), TakeoverFate.UNMATCHED
    if show.episode_offset and not series.find(conn, made).episode_offset:
        series.change(conn, made, {"episode_offset": show.episode_offset})
    return TakenShow(show, fate, series.find(conn, made).title, made)


def _there(conn: Connection, show: TheirShow, metadata_id: int | None) -> int | None:
    """The series that is here already, by its record or by one of its names."""
    if metadata_id is not None:
        found = conn.value(_SQL.of_record, {"metadata_id": metadata_id})
        return None if found is None else int(found)
    rows = [{"folded": Name.of(title).folded, "season": show.season} for title in show.titles]
    found = conn.value(_SQL.by_name, {"rows": json.dumps(rows, ensure_ascii=False)})
    return None if found is None else int(found)


def _add(conn: Connection, show: TheirShow) -> int:
    names = {name.folded: name for name in map(Name.of, show.titles) if name.folded}
    values = {
        "title": show.titles[0],
        "season": show.season,
        "kind": _kind(show),
        "year": show.year,
        "country": None,
        "state": SeriesState.IGNORED,
    }
    made = int(conn.value(aliases.SQL.add_series, values))
    rows = [{**alias_row(name, _kind(show), show.season), "series_id": made} for name in names.values()]
    aliases.add(conn, rows, AliasSource.KEEPER)
    return made


def _by_tmdb(conn: Connection, show: TheirShow) -> records.Details | None:
    """The entry of the index that has their id and season."""
    if show.tmdb_id is None:
        return None
    entries = [details_of_entry(entry) for entry in offline.of_shows(conn, [show.tmdb_id])]
    fitting = [one for one in entries if (one.tmdb_season or one.season or _FIRST_SEASON) == show.season]
    return min(fitting, key=lambda one: str(one.air_date or "9999"), default=None)


def _reading(show: TheirShow) -> FolderReading:
    names = {name.folded: name for name in map(Name.of, show.titles) if name.folded}
    season = show.season if show.season > _FIRST_SEASON else None
    year = show.year if season is None else None
    return FolderReading(tuple(names.values()), season, year, _kind(show))


def _kind(show: TheirShow) -> SeriesKind:
    return SeriesKind.MOVIE if show.is_film else SeriesKind.TV
