"""What a program asks of profiles."""

from __future__ import annotations

from kurabito.catalog import series
from kurabito.db import Connection, Database
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.profiles import store
from kurabito.downloads.profiles.model import ReleaseProfile


class ReleaseProfiles:
    """The profiles of one database. A change counts for what is chosen from then on; nothing is fetched because of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def everything(self) -> list[ReleaseProfile]:
        """Every profile that has a name."""
        return await self._database.read(store.named)

    async def get(self, profile_id: int) -> ReleaseProfile:
        """The profile; raises ProfileNotFound."""
        return await self._database.read(lambda conn: store.find(conn, profile_id))

    async def add(self, name: str, preferences: ReleasePreferences) -> ReleaseProfile:
        """Add a profile; raises InvalidInput or ProfileConflict."""
        return await self._database.write(lambda conn: store.add(conn, name, preferences))

    async def change(self, profile_id: int, name: str, preferences: ReleasePreferences) -> ReleaseProfile:
        """Change a profile; raises ProfileNotFound, InvalidInput or ProfileConflict."""
        return await self._database.write(lambda conn: store.change(conn, profile_id, name, preferences))

    async def remove(self, profile_id: int) -> None:
        """Forget a profile; raises ProfileNotFound."""
        await self._database.write(lambda conn: store.remove(conn, profile_id))

    async def make_default(self, profile_id: int | None) -> None:
        """Have a profile, or none, hold for every show that has no other; raises ProfileNotFound."""
        await self._database.write(lambda conn: store.make_default(conn, profile_id))

    async def of_series(self, series_id: int) -> ReleaseProfile | None:
        """The profile that a show uses, or that all shows use; raises SeriesNotFound."""

        def look(conn: Connection) -> ReleaseProfile | None:
            series.find(conn, series_id)
            return store.of_series(conn, series_id) or store.default(conn)

        return await self._database.read(look)

    async def use(self, series_id: int, profile_id: int | None) -> ReleaseProfile | None:
        """Have a show use a profile, or none; raises SeriesNotFound or ProfileNotFound."""

        def write(conn: Connection) -> ReleaseProfile | None:
            series.find(conn, series_id)
            store.use(conn, [series_id], profile_id)
            return store.of_series(conn, series_id) or store.default(conn)

        return await self._database.write(write)

    async def set_own(self, series_id: int, preferences: ReleasePreferences) -> ReleaseProfile:
        """Give a show preferences of its own; raises SeriesNotFound or InvalidInput."""

        def write(conn: Connection) -> ReleaseProfile:
            series.find(conn, series_id)
            return store.set_own(conn, series_id, preferences)

        return await self._database.write(write)
