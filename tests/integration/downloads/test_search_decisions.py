"""A search says what a feed would do: also about a better release of a file that its library keeps."""

from __future__ import annotations

from tests.integration.downloads.conftest import Core, StandIn, hash_of

from kurabito.db import Connection
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.profiles import store as profiles
from kurabito.downloads.search import decisions
from kurabito.downloads.search.decisions import FoundRelease, SearchReason
from kurabito.indexers.port import IndexerItem
from kurabito.modules.download_types import DownloadType

HAD = ("[Kura] Yoru no Kurabito - 01 [720p]", f"magnet:?xt=urn:btih:{1:040x}")
BETTER = FoundRelease(
    key="better",
    item=IndexerItem(
        title="[Kura] Yoru no Kurabito - 01 [1080p]",
        download_url=f"magnet:?xt=urn:btih:{2:040x}",
        download_type=DownloadType.MAGNET,
        info_hash=f"{2:040x}",
    ),
    indexer_id=None,
    indexers=(),
    least_seeders=0,
)


def adopt(conn: Connection) -> None:
    """The episode lies in a library where it was before Kurabito came."""
    conn.run("INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', '/l', 1, 1)")
    conn.run(
        "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, inode, device, created_at,"
        " updated_at) VALUES (1, 1, 'Yoru/01.mkv', 7, 1, 1, 1, 1, 1)"
    )
    conn.run("INSERT INTO episode_files (episode_id, file_id, created_at) SELECT id, 1, 1 FROM episodes")


async def test_a_file_that_its_library_keeps_is_not_said_to_be_upgraded(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(HAD)
    await core.work()
    a.say(hash_of(HAD[1]), "completed", progress=1.0)
    await core.poll()
    ((series_id,),) = await core.all("SELECT id FROM series")
    upgrading = ReleasePreferences(upgrade=True)
    await core.queue.database.write(lambda conn: profiles.set_own(conn, series_id, upgrading))

    async def reason() -> object:
        (found,) = await core.queue.database.read(lambda conn: decisions.decide(conn, [decisions.read(BETTER, ())]))
        return None if found.reason is None else found.reason.code

    assert await reason() is None
    await core.queue.database.write(adopt)
    assert await reason() is SearchReason.UPGRADES_OFF
