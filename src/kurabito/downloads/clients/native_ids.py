"""What a program calls the downloads that we know by their hash, kept on disk. Of others there is no note."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from kurabito.db.port import Connection
from kurabito.db.sqlite.database import SqliteDatabase

_TABLE: Final = "CREATE TABLE IF NOT EXISTS native_ids (hash TEXT PRIMARY KEY, native_id TEXT NOT NULL) WITHOUT ROWID"
_GET: Final = "SELECT native_id FROM native_ids WHERE hash = :hash"
_PUT: Final = (
    "INSERT INTO native_ids (hash, native_id) VALUES (:hash, :native_id) "
    "ON CONFLICT (hash) DO UPDATE SET native_id = excluded.native_id"
)
_DROP: Final = "DELETE FROM native_ids WHERE hash = :hash"


class NativeIds:
    """The ids of one program's downloads, by hash. What was put is there after a crash."""

    def __init__(self, path: Path) -> None:
        self._database = SqliteDatabase(path)

    async def __aenter__(self) -> Self:
        self._database.open()
        await self._database.write(lambda conn: conn.script(_TABLE))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._database.close()

    async def of(self, hashes: Sequence[str]) -> dict[str, str]:
        """The ids of those that have one."""

        def read(conn: Connection) -> dict[str, str]:
            ids = {hash: conn.value(_GET, {"hash": hash}) for hash in hashes}
            return {hash: native_id for hash, native_id in ids.items() if native_id is not None}

        return await self._database.read(read)

    async def put(self, hash: str, native_id: str) -> None:
        """Keep an id, in place of the one before."""
        await self._database.write(lambda conn: conn.run(_PUT, {"hash": hash, "native_id": native_id}))

    async def drop(self, hash: str) -> None:
        """Forget an id."""
        await self._database.write(lambda conn: conn.run(_DROP, {"hash": hash}))
