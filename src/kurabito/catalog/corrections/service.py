"""What can be asked of corrections: each with a preview, and with what follows for downloads in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from kurabito.catalog import rules
from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.merge import merge
from kurabito.catalog.corrections.model import Correction, CorrectionEffect
from kurabito.catalog.corrections.moves import SQL, EpisodePlace, find_links, move, release, whole_releases
from kurabito.catalog.corrections.split import split
from kurabito.catalog.corrections.undo import Undone, undo
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.relink import RelinkTask, Wake
from kurabito.catalog.identity.report import SeriesEvidence, evidence_of
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.releases import Name, read_title_again
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.db import Connection, Database
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before
from kurabito.titles import TitleRule

T = TypeVar("T")


class _Foreseen(Exception):
    """Ends a transaction without its changes, and carries what they would have been."""

    def __init__(self, effect: object) -> None:
        super().__init__()
        self.effect = effect


async def foreseen(database: Database, make: Callable[[Connection], T]) -> T:
    """What a change would do: it is made, and taken back before anything sees it."""

    def look(conn: Connection) -> None:
        raise _Foreseen(make(conn))

    try:
        await database.write(look)
    except _Foreseen as seen:
        return seen.effect  # type: ignore[return-value]
    raise AssertionError("a look always ends without its changes")


class Corrections:
    """Corrects which series, episode and names releases have."""

    def __init__(self, database: Database, sink: LinkSink | None = None, wake: Wake | None = None) -> None:
        self._database = database
        self._sink = sink
        self._wake = wake

    async def merge(self, series_id: int, into: int, *, is_preview: bool = False) -> CorrectionEffect:
        """Merge a series into another; raises SeriesNotFound or CorrectionConflict."""
        return await self._make(lambda conn: merge(conn, into=into, other_id=series_id), is_preview)

    async def split(
        self,
        series_id: int,
        *,
        names: Collection[str] = (),
        link_ids: Collection[int] = (),
        title: str | None = None,
        is_preview: bool = False,
    ) -> CorrectionEffect:
        """Make a series of some names of another, of the links whose titles have them, and of some links more."""
        folded = {Name.of(name).folded for name in names}

        def store(conn: Connection) -> CorrectionEffect:
            links = _read_links(conn, series_id, folded, link_ids)
            return split(conn, series_id, names=folded, links=links, title=title)

        return await self._make(store, is_preview)

    async def move(
        self, link_id: int, *, series_id: int | None = None, place: EpisodePlace | None = None, is_preview: bool = False
    ) -> CorrectionEffect:
        """Say of a link which series or episode it is of; raises LinkNotFound, SeriesNotFound or CorrectionConflict."""

        def store(conn: Connection) -> CorrectionEffect:
            (link,) = find_links(conn, [link_id])
            reading = _readings([(link_id, link.title)], rules.enabled(conn))[link_id]
            return move(conn, link_id, reading, series_id=series_id, place=place)

        return await self._make(store, is_preview)

    async def reject(self, link_id: int, *, is_preview: bool = False) -> CorrectionEffect:
        """Say that a link is not of its series: its release becomes a series of its own, which is asked about."""

        def store(conn: Connection) -> CorrectionEffect:
            (link,) = find_links(conn, [link_id])
            links = _readings([(one, link.title) for one in whole_releases(conn, [link_id])], rules.enabled(conn))
            return split(conn, link.series_id, names=(), links=links, is_wanted=False)

        return await self._make(store, is_preview)

    async def release(self, link_id: int) -> CorrectionEffect:
        """Let a held link be downloaded; raises LinkNotFound or CorrectionConflict."""
        return await self._make(lambda conn: release(conn, link_id), is_preview=False)

    async def undo(self, series_id: int) -> Correction:
        """Undo the last correction of a series; raises CorrectionConflict."""

        def store(conn: Connection) -> Undone:
            lock_catalog(conn)
            undone = undo(conn, series_id)
            if self._sink is not None:
                self._sink.restate(conn, undone.changes.episodes())
            return undone

        undone = await self._database.write(store)
        if self._wake is not None:
            # What names, a person's word or an offset brought here since, or took away, is read again.
            if undone.names:
                await self._wake(RelinkTask(names=undone.names, cause=RelinkCause.NAMES))
            for recounted in undone.changes.recounted():
                await self._wake(RelinkTask(series_id=recounted, cause=RelinkCause.OFFSET))
        return undone.correction

    async def evidence(self, series_id: int) -> SeriesEvidence:
        """What made a series what it is; raises SeriesNotFound."""
        return await self._database.read(lambda conn: evidence_of(conn, series_id))

    async def page(self, series_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[Correction]:
        """The corrections that touched a series, the newest first."""
        before = id_before(cursor)
        found = await self._database.read(lambda conn: journal.page(conn, series_id, before=before, limit=limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def _make(self, correct: Callable[[Connection], CorrectionEffect], is_preview: bool) -> CorrectionEffect:
        def store(conn: Connection) -> CorrectionEffect:
            lock_catalog(conn)
            effect = correct(conn)
            if self._sink is not None and not is_preview:
                self._sink.restate(conn, effect.episodes)
                if effect.freed:
                    self._sink.accept(conn, sorted(effect.freed))
            return effect

        return await (foreseen(self._database, store) if is_preview else self._database.write(store))


def _read_links(
    conn: Connection, series_id: int, names: Collection[str], link_ids: Collection[int]
) -> dict[int, Reading]:
    """The links of a series that are named, and those whose titles have one of these names."""
    read = _readings(conn.all(SQL.of_series, {"id": series_id}), rules.enabled(conn))
    wanted = set(link_ids)
    if strangers := wanted - read.keys():
        # They are not of this series, or are no links: the correction says which.
        read |= _readings([(link.id, link.title) for link in find_links(conn, strangers)], rules.enabled(conn))
    return {
        link_id: reading
        for link_id, reading in read.items()
        if link_id in wanted or any(name.folded in names for name in reading.names)
    }


def _readings(rows: Sequence[tuple[int, str]], title_rules: Sequence[TitleRule]) -> dict[int, Reading]:
    """What the titles of links say."""
    read = ((link_id, read_title_again(title, title_rules)) for link_id, title in rows)
    return {link_id: Reading.of(release) for link_id, release in read if release is not None}
