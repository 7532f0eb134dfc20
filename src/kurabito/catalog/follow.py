"""Following what the calendar shows: an entry becomes a series, before any feed brought a release of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Final

from kurabito.catalog import series
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.identity import aliases
from kurabito.catalog.identity.aliases import AliasSource, alias_row, names_of_record
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.series import Series
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Database, Queries
from kurabito.metadata import records
from kurabito.metadata.errors import MetadataNotFound
from kurabito.metadata.records import Details, Metadata, RecordKind
from kurabito.metadata.search import details_of_entry
from kurabito.metadata.sources import offline

_SQL: Final = Queries("kurabito.catalog", "follow.sql")


class FollowFromMetadata:
    """Records and entries of the offline index, as something to follow."""

    def __init__(self, database: Database, catalog: Catalog, fill_in: Callable[[], Awaitable[object]]) -> None:
        self._database = database
        self._catalog = catalog
        self._fill_in = fill_in

    async def follow_record(self, metadata_id: int) -> Series:
        """Follow what a record is about: releases of it are taken as soon as a feed brings them; raises MetadataNotFound."""
        series_id = await self._database.write(lambda conn: series_of_record(conn, records.find(conn, metadata_id)))
        return await self._catalog.change(series_id, {"state": SeriesState.FOLLOWED})

    async def follow_entry(self, bgm_id: int) -> Series:
        """Follow an entry of the offline index, which gets a record; raises MetadataNotFound."""

        def record(conn: Connection) -> int:
            known = records.of_bgm(conn, bgm_id)
            return known.id if known is not None else add_record(conn, bgm_id)

        followed = await self.follow_record(await self._database.write(record))
        await self._fill_in()
        return followed


def add_record(conn: Connection, bgm_id: int) -> int:
    """Make the record of an entry of the offline index; raises MetadataNotFound."""
    (entry,) = offline.find_entries(conn, [Details(bgm_id=bgm_id)])
    if entry is None:
        raise MetadataNotFound(
            f"neither a record nor the offline index has the id {bgm_id} of bgm.tv; import the index again"
        )
    return records.add(conn, details_of_entry(entry)).id


def series_of_record(conn: Connection, record: Metadata, new_state: SeriesState = SeriesState.FOLLOWED) -> int:
    """The series that a record fills in: the one that has it, the one that has its name, or a new one in this state."""
    lock_catalog(conn)
    details = record.details
    if (known := conn.value(_SQL.of_record, {"metadata_id": record.id})) is not None:
        return series.find_current(conn, int(known)).id
    kind = SeriesKind.MOVIE if details.kind is RecordKind.MOVIE else SeriesKind.TV
    names, season_in_titles = names_of_record(details)
    rows = [alias_row(name, kind, season_in_titles) for name in names]
    given = {"rows": json.dumps(rows, ensure_ascii=False), "kind": kind, "year": details.year}
    if (named := conn.value(_SQL.by_name, given)) is not None:
        series_id = int(named)
    else:
        values = {
            "title": names[0].shown,
            "season": details.season or season_in_titles,
            "kind": kind,
            "year": details.year,
            "country": None,
            "state": new_state,
        }
        series_id = int(conn.value(aliases.SQL.add_series, values))
        aliases.add(conn, ({**row, "series_id": series_id} for row in rows), AliasSource.RECORD)
        if details.year and not series.find(conn, series_id).aliases:
            # An original has the bare names already.
            dated = [alias_row(name, kind, season_in_titles, details.year) for name in names]
            aliases.add(conn, ({**row, "series_id": series_id} for row in dated), AliasSource.RECORD)
    conn.run(_SQL.set_record, {"id": series_id, "metadata_id": record.id})
    return series.find(conn, series_id).id
