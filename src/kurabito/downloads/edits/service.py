"""What a program asks of edits: give several series a wish, a library or a profile, and take it back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from kurabito.catalog import series
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.series import SeriesFilter
from kurabito.db import Connection, Database
from kurabito.downloads.edits import store
from kurabito.downloads.edits.model import SeriesChoices, SeriesEdit, StoredEdit
from kurabito.downloads.profiles import store as profiles
from kurabito.errors import InvalidInput
from kurabito.library import libraries
from kurabito.reasons import InputReason, refused


class SeriesEdits:
    """Edits series together. What was begun because of an edit goes on when it is undone: no download is cancelled."""

    def __init__(self, database: Database, catalog: Catalog) -> None:
        self._database = database
        self._catalog = catalog

    async def edit(self, series_ids: Iterable[int], edit: SeriesEdit) -> StoredEdit:
        """Give these series what the edit names; raises SeriesNotFound, LibraryNotFound, ProfileNotFound or InvalidInput."""
        listed = list(dict.fromkeys(series_ids))
        if not listed:
            raise InvalidInput("series_id", "must be one series at least", refused(InputReason.NONE_CHOSEN))
        if not edit:
            problem = "must name a wish, a library or a profile"
            raise InvalidInput("wanted", problem, refused(InputReason.NONE_CHOSEN))

        def begin(conn: Connection) -> StoredEdit:
            lock_catalog(conn)
            if (library_id := edit.get("library_id")) is not None:
                libraries.find(conn, library_id)
            made = store.add(conn, edit, store.choices(conn, listed))
            if "profile_id" in edit:
                profiles.use(conn, listed, edit["profile_id"])
            return made

        made = await self._database.write(begin)
        # One transaction for each: the links of a series go on with it, and a long list must not hold up other writers.
        changes: dict[str, Any] = {name: value for name, value in edit.items() if name != "profile_id"}
        for one in made.before:
            if any(not one.has(edit, name) for name in changes):
                await self._catalog.change(one.id, changes)
        return made

    async def edit_listed(self, edit: SeriesEdit, **listed: Unpack[SeriesFilter]) -> StoredEdit:
        """The same for every series that a list has."""
        return await self.edit(await self._database.read(lambda conn: series.ids(conn, **listed)), edit)

    async def get(self, edit_id: int) -> StoredEdit:
        """An edit that was made; raises SeriesEditNotFound."""
        return await self._database.read(lambda conn: store.find(conn, edit_id))

    async def undo(self, edit_id: int) -> int:
        """Give series back what they had before an edit, where it still stands; how many. Raises SeriesEditNotFound or
        SeriesEditUndone."""

        def take_back(conn: Connection) -> list[SeriesChoices]:
            lock_catalog(conn)
            made = store.find(conn, edit_id)
            store.note_undone(conn, edit_id)
            present = series.several(conn, [one.id for one in made.before])
            staying = [one.id for one in present if one.merged_into is None]
            return store.restore(conn, made, store.choices(conn, staying))

        restored = await self._database.write(take_back)
        current = await self._catalog.several(one.id for one in restored)
        for one in current.values():
            # Its links are held back, or go on, as before.
            await self._catalog.change(one.id, {"state": one.state})
        return len(restored)
